// Where the elements of a resized axis come from: every mode is a sum of
// neighbours with weights that depend on the position along the axis only.
#pragma once
#include "dialects/onnx/Families.h"
#include "lowering/tensor/Inputs.h"

namespace onnxc {

struct ResizedAxis {
  int64_t dim;
  Index from, to;
  mlir::Value scale;            // f64
  mlir::Value roiBegin, roiEnd; // f64
  bool unchanged = false;
};

// A size as f64, and back.
Scalar asReal(ScalarBuilder &scalars, Index index);
Index whole(ScalarBuilder &scalars, mlir::ImplicitLocOpBuilder &builder,
            Scalar x);

struct Resampling {
  explicit Resampling(ResizeOp op);
  // Elements outside of the region of interest have NaN as weight.
  bool crops() const { return coordinates == "tf_crop_and_resize"; }
  // How many neighbours have a weight, where that is known here and a few.
  std::optional<int64_t> neighbours(const ResizedAxis &axis) const;

  mutable ResizeOp op; // getters are not const
  llvm::StringRef coordinates;
  bool nearest, cubic, antialias;
};

// For each neighbour one tensor as long as the axis of its positions, and one
// of its share in the sum. Constants where sizes and scale are.
struct ResizeTables {
  llvm::SmallVector<mlir::Value> positions, shares;
  int64_t step = 0; // the most that positions advance by, if that is little
  bool isCertain = false; // that they never advance by more
};
ResizeTables tablesOf(mlir::ImplicitLocOpBuilder &builder,
                      const Resampling &how, const ResizedAxis &axis,
                      mlir::Type share);

// The same for as many neighbours as the run finds: positions and f64 weights
// of size (axis, neighbours), and the sum of each position's weights.
struct ManyNeighbours {
  mlir::Value positions, weights, sums;
};
ManyNeighbours manyNeighboursOf(mlir::ImplicitLocOpBuilder &builder,
                                const Resampling &how, const ResizedAxis &axis);

} // namespace onnxc
