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

// Whether the run alone knows how many rows there are; few of them are no pairs
// then, and have code of their own.
bool mayHaveFewRows(KernelOp kernel);

// Whether a run whose buffers these are has few rows.
mlir::Value hasFewRows(mlir::ImplicitLocOpBuilder &b, KernelOp kernel,
                       mlir::ValueRange buffers);

// Emits a part of what `kernel` computes; its body holds the product as it is,
// with an onnxc.quartered_matrix for a matrix. The outputs are the product's
// and the scratch. Few rows are one block.
enum class RowCount { Many, Few };
llvm::LogicalResult emitStrassen(mlir::ImplicitLocOpBuilder &b, KernelOp kernel,
                                 mlir::ValueRange arguments, TransformPart part,
                                 RowCount rows);

} // namespace onnxc
