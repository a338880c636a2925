// What is put around the input of a window.
#pragma once
#include "lowering/loops/Contraction.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace onnxc {

// Whether what is put around the input changes nothing: zeros in a sum of
// products, the smallest value in a maximum.
bool ignoresPadding(mlir::linalg::GenericOp root, mlir::OpOperand *input,
                    mlir::tensor::PadOp pad);

// Whether what is put in front of the image has to be known or filled in: tiles
// of Winograd's method are cut there, and of a window that reaches far any row
// of a tile might lack taps.
bool needsKnownFront(mlir::linalg::GenericOp root, const LoopRoles &roles,
                     llvm::ArrayRef<Border> borders);

// Fills in what is around the image along the rows of tiles; windows are still
// cut off along other dimensions. Returns what is left for the kernel to do.
mlir::tensor::PadOp fillLongBorders(mlir::tensor::PadOp pad,
                                    mlir::linalg::GenericOp root,
                                    const LoopRoles &roles,
                                    llvm::ArrayRef<Border> borders,
                                    int64_t rows);

// Sizes that turned out to be numbers are known where the padding says so.
void foldPadding(mlir::tensor::PadOp pad);

} // namespace onnxc
