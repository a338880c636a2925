// Vector code of a product by Strassen's method.
#pragma once
#include "lowering/loops/PointProducts.h"

namespace onnxc {

// The buffers that such a kernel needs beside its output: sums of rows and
// products, as types of tensors.
llvm::SmallVector<mlir::RankedTensorType>
strassenScratch(mlir::linalg::GenericOp root, StrassenAttr schedule);

// Whether all rows go through each step together, in one block.
bool isOneBlock(mlir::linalg::GenericOp root, StrassenAttr schedule);

// Whether the run alone knows how many rows there are; there is code for one
// block then, and for several.
bool mayBeOneBlock(KernelOp kernel);

// Whether a run whose buffers these are has rows of one block.
mlir::Value areOneBlock(mlir::ImplicitLocOpBuilder &b, KernelOp kernel,
                        mlir::ValueRange buffers);

// Emits a part of what `kernel` computes; its body holds the product as it is,
// with an onnxc.quartered_matrix for a matrix. The outputs are the product's
// and the scratch.
enum class BlockCount { Any, One };
llvm::LogicalResult emitStrassen(mlir::ImplicitLocOpBuilder &b, KernelOp kernel,
                                 mlir::ValueRange arguments, TransformPart part,
                                 BlockCount blocks);

} // namespace onnxc
