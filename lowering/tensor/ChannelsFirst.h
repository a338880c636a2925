// Loops over windows turned from NHWC to NCHW.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace onnxc {

// (N, image..., C) to (N, C, image...).
llvm::SmallVector<int64_t> channelsFirst(int64_t rank);

// Lets `root`, which starts with a fill, read `image` and write its result in
// NCHW, between two transposes.
void runChannelsFirst(mlir::linalg::GenericOp root, mlir::OpOperand *image);

} // namespace onnxc
