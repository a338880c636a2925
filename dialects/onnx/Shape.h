// Shapes with named unknowns, and the type inference of the families.
#pragma once
#include "dialects/onnx/Constants.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/ValueRange.h"

namespace onnxc {

// A size, a named unknown size, or an unknown size without a name.
struct Dim {
  int64_t size = mlir::ShapedType::kDynamic;
  mlir::StringAttr symbol;
  bool isStatic() const { return !mlir::ShapedType::isDynamic(size); }
  bool isOne() const { return size == 1; }
  bool surelyEquals(Dim other) const {
    return size == other.size &&
           (isStatic() || (symbol && symbol == other.symbol));
  }
};
using Shape = llvm::SmallVector<Dim>;
// The broadcast of two unknown sizes, by both names.
Dim joinedDim(Dim a, Dim b);

// Names are the type's encoding: tensor<?x3xf32, ["N", ""]>.
Shape shapeOf(mlir::Type type);
mlir::RankedTensorType tensorOf(llvm::ArrayRef<Dim> shape, mlir::Type element);
llvm::SmallVector<mlir::Type> elementTypes(mlir::ValueRange values);
bool areCompatible(mlir::TypeRange inferred, mlir::TypeRange actual);

bool isRanked(mlir::Value value);
int64_t rankOf(mlir::Value value); // of a ranked one
// Results whose rank nobody knows yet: stage `graph` infers again.
llvm::LogicalResult unknownRank(llvm::ArrayRef<mlir::Type> elements,
                                llvm::SmallVectorImpl<mlir::Type> &types);
// The same for `count` of them; the last element type stands for the rest.
llvm::LogicalResult unknownRanks(llvm::ArrayRef<mlir::Type> elements,
                                 unsigned count,
                                 llvm::SmallVectorImpl<mlir::Type> &types);

using FirstDim = llvm::function_ref<int64_t(int64_t operand,
                                            int64_t operandRank, int64_t rank)>;
using SharedBy =
    llvm::function_ref<int64_t(int64_t operand, int64_t dim, int64_t rank)>;
llvm::LogicalResult inferBroadcast(std::optional<mlir::Location> loc,
                                   mlir::ValueRange values, FirstDim firstDim,
                                   SharedBy block,
                                   llvm::ArrayRef<mlir::Type> elements,
                                   llvm::SmallVectorImpl<mlir::Type> &types);
// `values` are the data and, optionally, the axes; `axes` fails where these are
// known at run time only.
llvm::LogicalResult
inferReduction(std::optional<mlir::Location> loc, mlir::ValueRange values,
               llvm::FailureOr<llvm::SmallVector<int64_t>> axes, bool keepdims,
               mlir::Type element, llvm::SmallVectorImpl<mlir::Type> &types);

llvm::LogicalResult inferRange(std::optional<mlir::Location> loc,
                               mlir::ValueRange values,
                               llvm::SmallVectorImpl<mlir::Type> &types);

// Words of the records' expressions.
mlir::Type
dataType(mlir::MLIRContext *context,
         int64_t number); // TensorProto.DataType; null if there is none
int64_t dataNumber(mlir::Type element);
int64_t
dataNumber(llvm::StringRef name); // float, in any case; 0 if there is none
llvm::StringRef dataName(int64_t number);
std::string describeType(mlir::Type type); // float[2,N,?], for messages
mlir::Type boolean(mlir::MLIRContext *context);
mlir::Type int64(mlir::MLIRContext *context);
inline int64_t wrap(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}
llvm::SmallVector<int64_t> range(int64_t begin, int64_t end);
llvm::FailureOr<llvm::SmallVector<int64_t>>
constantAxes(mlir::Value axes, int64_t rank, bool noneIfEmpty);

} // namespace onnxc
