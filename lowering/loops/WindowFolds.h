// Pools whose windows lie side by side, and folds of whole rows: a tile of a
// convolution folds what it has of them while it holds it.
#pragma once
#include "lowering/loops/Contraction.h"

namespace onnxc {

// The loops of the pool are its own.
struct WindowFold {
  mlir::linalg::GenericOp op;
  mlir::OpOperand *image;
  unsigned batch, row, column, channel;
  int64_t rows, columns; // of a window; no columns where it is a whole row
};

// Fails unless `op` folds windows of a two-dimensional image in NHWC, each of
// which begins where the one before it ends.
mlir::FailureOr<WindowFold> matchWindowFold(mlir::linalg::GenericOp op);

// Fails unless `op` folds each row of such an image.
mlir::FailureOr<WindowFold> matchRowFold(mlir::linalg::GenericOp op);

} // namespace onnxc
