// The best of rows that lie across vectors: each lane is a row of its own.
#pragma once
#include "dialects/onnx/Families.h" // generated: the classes of every family
#include "lowering/tensor/irregular/Loops.h"

namespace onnxc {

// How many lanes the vectors have where rows are taken so; zero where they are
// not.
int64_t lanesOfColumns(TopKOp op, const Input &x, int64_t axis, Index k);

// Values and positions of all rows, if the run finds as many columns as lanes.
Tensors selectColumns(mlir::ImplicitLocOpBuilder &b, const Input &x,
                      int64_t axis, int64_t k, int64_t lanes, bool largest,
                      Tensors results);

} // namespace onnxc
