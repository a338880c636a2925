// The best of a row in vectors: as many elements as there are lanes are
// compared with the last of the best at once.
#pragma once
#include "dialects/onnx/Families.h" // generated: the classes of every family
#include "lowering/tensor/irregular/Loops.h"

namespace onnxc {

// How many lanes the vectors have where a row's best are held in some; zero
// where they are not.
int64_t lanesOfSelection(TopKOp op, const Input &x, int64_t axis, Index k);

// Writes the best of the row that begins at `row` into values and positions.
Tensors selectRow(mlir::ImplicitLocOpBuilder &b, const Input &x, int64_t k,
                  int64_t lanes, bool largest, llvm::ArrayRef<Index> row,
                  Tensors results);

} // namespace onnxc
