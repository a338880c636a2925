// What decides whether an operation walks tensors row by row.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"

namespace onnxc {

llvm::SetVector<mlir::Value> capturedBy(mlir::Operation *op);

// Whether the body looks up elements of a tensor by itself.
bool readsTensors(mlir::linalg::GenericOp op);

bool isContraction(mlir::linalg::GenericOp op);

// Whether the tensor is walked row by row: its first indices are the outer
// loops, and only they are.
bool isByRows(mlir::AffineMap map, unsigned outer);

// Whether the first loops are those outside of the rows, of these sizes.
bool hasOuterLoops(mlir::linalg::GenericOp op, llvm::ArrayRef<int64_t> outer);

// Whether elements of a row lie side by side in all tensors that have rows. If
// the rows do instead, vectors should run across them.
bool hasDenseRows(mlir::linalg::GenericOp op, llvm::ArrayRef<int64_t> outer);

// Whether a kernel makes all start values anew.
bool startsAnew(mlir::linalg::GenericOp op);

// What nobody wrote, as what is left of a sum of nothing, has no buffer.
bool readsNothing(mlir::linalg::GenericOp op);

// A row buffer lies on the stack.
constexpr int64_t mostRowBytes = 16 * 1024;
// More in one function costs registers, and time to compile.
constexpr size_t mostRowOperations = 24;

// Of what is behind the `outer` loops around rows; the greatest number where a
// size is not known.
int64_t rowBytes(mlir::Value value, unsigned outer);

} // namespace onnxc
