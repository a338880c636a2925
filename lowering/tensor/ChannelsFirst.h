// Loops over windows turned from NHWC to NCHW.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace onnxc {

// (N, image..., C) to (N, C, image...).
llvm::SmallVector<int64_t> channelsFirst(int64_t rank);

bool isTranspose(mlir::Operation *op, llvm::ArrayRef<int64_t> permutation);

// Whether the image comes from NCHW, perhaps padded.
bool comesChannelsFirst(mlir::Value image);

// Whether the result goes to NCHW and nowhere else, through elementwise
// operations that read nothing of its size beside it, and through padding.
bool goesChannelsFirst(mlir::Value result);

// The same of a result whose channels are split and become phases of the rows
// and columns of a larger image, as a transposed convolution's: they are moved
// whatever their order is, unless the innermost ones stay there.
bool goesToPhases(mlir::Value result);

// The input of a convolution that has the batch and the image in the dimensions
// in which the result has them, and what is summed, its channels, in
// `channelDim`; null if `root` is none.
mlir::OpOperand *imageOf(mlir::linalg::GenericOp root, int64_t channelDim);

// Lets `root`, which starts with a fill, write its result in NCHW, before a
// transpose, and read `image` so, behind one. Null where it does already.
void runChannelsFirst(mlir::linalg::GenericOp root, mlir::OpOperand *image);

} // namespace onnxc
