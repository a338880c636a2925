// The operands of an onnx operation as its formulas see them, now with values.
#pragma once
#include "lowering/tensor/OnnxToLinalg.h"

namespace onnxc {

// Keeps a pointer to the builder, which must outlive the inputs.
std::vector<Input> inputsOf(mlir::ImplicitLocOpBuilder &builder,
                            mlir::Operation *op, mlir::ValueRange lowered);

// A size of a result: as it was inferred, that of an operand of that name, a
// formula of the model's inputs that the name is, or as it was `computed`.
// Equal names are equal sizes; a list of sizes is known later, and often only
// in a run.
Index sizeNamed(mlir::Operation *op, Dim dim, llvm::ArrayRef<Input> inputs,
                Index computed);
// The sizes of the results; static ones as they were inferred.
llvm::FailureOr<Shapes> resultSizes(SizedOpInterface op,
                                    llvm::ArrayRef<Input> inputs);

Index sizeOf(mlir::ImplicitLocOpBuilder &builder, mlir::Value tensor,
             int64_t dim);
llvm::SmallVector<mlir::OpFoldResult>
folded(mlir::ImplicitLocOpBuilder &builder, llvm::ArrayRef<Index> sizes);
// Whether nothing is there for certain.
bool hasZero(llvm::ArrayRef<Index> sizes);

mlir::Value emptyOf(mlir::ImplicitLocOpBuilder &builder,
                    llvm::ArrayRef<Index> sizes, mlir::Type element);
// Zero of a storage type.
mlir::Value zeroOf(mlir::ImplicitLocOpBuilder &builder, mlir::Type storage);
// A part of a tensor: a view, or an empty tensor where it surely has no
// elements, which a view may not lie behind the last one of.
mlir::Value sliced(mlir::ImplicitLocOpBuilder &builder, mlir::Value tensor,
                   llvm::ArrayRef<Index> offsets, llvm::ArrayRef<Index> sizes,
                   llvm::ArrayRef<Index> steps);
mlir::Value sliced(mlir::ImplicitLocOpBuilder &builder, mlir::Value tensor,
                   llvm::ArrayRef<Index> offsets, llvm::ArrayRef<Index> sizes);
// tensor.extract; and the same as a position.
mlir::Value extract(mlir::ImplicitLocOpBuilder &builder, mlir::Value tensor,
                    llvm::ArrayRef<Index> at);

// Ends the call unless the condition holds. Reports it at once where that is
// known to fail, and emits nothing where it is known to hold.
llvm::LogicalResult require(mlir::ImplicitLocOpBuilder &builder,
                            Condition condition, Status status,
                            mlir::Operation *op, llvm::StringRef what,
                            llvm::StringRef operand);
// The same for every element of an integer tensor.
using Predicate =
    llvm::function_ref<Condition(Index element, llvm::ArrayRef<Index> at)>;
llvm::LogicalResult requireAll(mlir::ImplicitLocOpBuilder &builder,
                               const Input &input, Predicate predicate,
                               Status status, mlir::Operation *op,
                               llvm::StringRef what, llvm::StringRef operand);

// The same elements in another shape: views where the order of dimensions
// allows it.
mlir::Value reshaped(mlir::ImplicitLocOpBuilder &builder, mlir::Value value,
                     llvm::ArrayRef<Index> from, llvm::ArrayRef<Index> to);

} // namespace onnxc
