// What operators have in common that pool regions of images.
#pragma once
#include "lowering/tensor/Inputs.h"

namespace onnxc {

// That the images have pixels, and each of the regions so many numbers.
llvm::LogicalResult requireRegions(mlir::ImplicitLocOpBuilder &builder,
                                   mlir::Operation *op, const Input &x,
                                   const Input &rois, int64_t columns);

} // namespace onnxc
