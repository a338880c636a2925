// What arith operations on positions come to.
#pragma once
#include "lowering/graph/LinearElements.h"

namespace onnxc {

// The first arguments of the block that `value` is in are positions, each below
// the size of its dimension; `sizes` says which others are sizes.
std::optional<Linear>
readLinear(mlir::Value value, llvm::ArrayRef<Index> dims,
           const llvm::DenseMap<mlir::Value, Index> &sizes);

} // namespace onnxc
