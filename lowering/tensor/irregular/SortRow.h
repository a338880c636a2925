// The best of a row where they are too many for registers: a key that few more
// are no worse than is found, then those are sorted by the digits of their
// keys.
#pragma once
#include "dialects/onnx/Families.h" // generated: the classes of every family
#include "lowering/tensor/irregular/Loops.h"

namespace onnxc {

// How many lanes vectors have where rows are sorted so; zero where they are
// not.
int64_t lanesOfSort(TopKOp op, const Input &x, int64_t axis, Index k);

// Whether a bound leaves few of such rows to sort.
bool isLongToSort(const Input &x, int64_t k, int64_t lanes);

// What sorting one row after the other needs beside the results.
Tensors memoryOfSort(mlir::ImplicitLocOpBuilder &b, const Input &x, int64_t k,
                     int64_t lanes);

// Writes the best of the row that begins at `row` into values and positions,
// which the memory follows.
Tensors sortRow(mlir::ImplicitLocOpBuilder &b, const Input &x, int64_t k,
                int64_t lanes, bool largest, llvm::ArrayRef<Index> row,
                Tensors tensors);

} // namespace onnxc
