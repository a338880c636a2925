// What formulas for shapes and source positions see of an operator, and the
// inference that runs them.
#pragma once
#include "dialects/onnx/Index.h"
#include <functional>

namespace onnxc {

// An operand: its sizes, and its elements where it holds sizes or positions.
struct Input {
  Sizes sizes;
  mlir::Type element; // as the model has it; null where the operand is absent
  std::function<Index(llvm::ArrayRef<Index>)> at;
  mlir::Value original; // an operand of the onnx operation
  mlir::Value lowered;  // where values are being built

  bool given() const { return bool(element); }
  int64_t rank() const { return sizes.size(); }
  // Of an operand with a known number of elements; some may be unknown.
  llvm::FailureOr<Sizes> elements() const;
};

// Where an element of a result comes from: an element of an operand. Outside,
// the only element of operand `otherwise`, or 0; then there may be no element
// at `index`, unless it is `readable`.
struct Source {
  int64_t operand;
  Sizes index;
  Condition inside = true;
  int64_t otherwise = -1;
  bool readable = false;
};

// What Slice and Pad do along each dimension.
struct SliceRange {
  Sizes starts, steps, sizes;
};
struct Padding {
  Sizes before, after;
};

struct Report {
  std::optional<mlir::Location> loc;
  template <typename... Text>
  llvm::LogicalResult operator()(Text &&...text) const {
    return mlir::emitOptionalError(loc, std::forward<Text>(text)...);
  }
};

// Gives no shapes at all where a rank cannot be known yet. Results beyond the
// list of element types have the last one.
using ShapeFormula =
    llvm::function_ref<llvm::FailureOr<Shapes>(Report, llvm::ArrayRef<Input>)>;
llvm::LogicalResult inferSizes(std::optional<mlir::Location> loc,
                               mlir::ValueRange values, ShapeFormula formula,
                               llvm::ArrayRef<mlir::Type> elements,
                               size_t results,
                               llvm::SmallVectorImpl<mlir::Type> &types);

// The elements of a small integer tensor, as far as they follow from sizes and
// constants. Nothing where none can be known.
std::optional<Sizes> knownElements(mlir::Value value);

// Words of the formulas.
llvm::FailureOr<int64_t> axisOf(Report report, int64_t axis, int64_t rank);
llvm::FailureOr<Index> broadcast(Report report, Index a, Index b);
// Axes, as far as they are known; all of them where none are given. `length` is
// how many there have to be where the operand's type does not say.
llvm::FailureOr<Sizes> axesOf(Report report, const Input &axes, int64_t rank,
                              std::optional<int64_t> length = {});
// An element for each dimension, from elements for each of the axes.
Sizes alongAxes(llvm::ArrayRef<Index> axes, llvm::ArrayRef<Index> elements,
                llvm::ArrayRef<Index> otherwise);
llvm::FailureOr<Sizes> reshapedSizes(Report report, llvm::ArrayRef<Index> from,
                                     llvm::ArrayRef<Index> wanted,
                                     bool zeroIsZero);
inline Sizes sizesOf(llvm::ArrayRef<int64_t> numbers) {
  return llvm::map_to_vector(numbers, [](int64_t n) { return Index(n); });
}

struct RecurrentOperands { // of RNN, GRU and LSTM
  Input x, w, r, b, lengths, initialH, initialC, peephole;
  int64_t gates, layout;
  llvm::StringRef direction;
  std::optional<mlir::ArrayAttr> activations;
  std::optional<int64_t> hidden;
};
struct ExpectedSizes {
  llvm::StringRef name;
  Input operand;
  Sizes sizes;
};
// What the operands' sizes have to be, in the order of RecurrentOperands. A
// number where any of them says it.
llvm::SmallVector<ExpectedSizes> expectedSizes(const RecurrentOperands &net);
// All outputs, then the last states.
llvm::FailureOr<Shapes>
recurrentShapes(Report report, const RecurrentOperands &net, int64_t results);

} // namespace onnxc
