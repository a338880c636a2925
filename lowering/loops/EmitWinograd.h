// Vector code of a convolution by Winograd's filtering.
#pragma once
#include "lowering/loops/PointProducts.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxc {

// The buffers that such a kernel needs beside its output: transformed inputs
// and products, as types of tensors.
llvm::SmallVector<mlir::RankedTensorType>
winogradScratch(mlir::linalg::GenericOp root, WinogradAttr schedule);

// Whether all tiles go through each step together, in one block.
bool isOneBlock(mlir::linalg::GenericOp root, WinogradAttr schedule);

// Emits a part of what `kernel` computes; its body holds the convolution as it
// is, with an onnxc.winograd_filter for a filter. The outputs are the
// convolution's and the scratch.
llvm::LogicalResult emitWinograd(mlir::ImplicitLocOpBuilder &b, KernelOp kernel,
                                 mlir::ValueRange arguments,
                                 TransformPart part);

} // namespace onnxc
