// Pools whose windows lie side by side: a tile of a convolution that is made of
// whole windows folds them while it holds them.
#pragma once
#include "lowering/loops/Contraction.h"

namespace onnxc {

// The loops of the pool are its own.
struct WindowFold {
  mlir::linalg::GenericOp op;
  mlir::OpOperand *image;
  unsigned batch, row, column, channel;
  int64_t rows, columns; // of a window
};

// Fails unless `op` folds windows of a two-dimensional image in NHWC, each of
// which begins where the one before it ends.
mlir::FailureOr<WindowFold> matchWindowFold(mlir::linalg::GenericOp op);

} // namespace onnxc
