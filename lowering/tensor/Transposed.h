// Tensors with their dimensions in another order: dimension i of what is
// returned is dimension permutation[i] of what was given.
#pragma once
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace onnxc {

mlir::Value transposed(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value value, llvm::ArrayRef<int64_t> permutation);

// Pads `source`, which is transposed unlike the source of `pad`, as `pad` does.
mlir::Value paddedTransposed(mlir::OpBuilder &builder, mlir::tensor::PadOp pad,
                             mlir::Value source,
                             llvm::ArrayRef<int64_t> permutation);

// Patterns that transpose behind padding, slices, concatenations, reshapes and
// branches what is transposed before them.
void addSinkBelowViews(mlir::RewritePatternSet &patterns);

} // namespace onnxc
