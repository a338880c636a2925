// Tensors with their dimensions in another order: dimension i of what is
// returned is dimension permutation[i] of what was given.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace onnxc {

mlir::Value transposed(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value value, llvm::ArrayRef<int64_t> permutation);

// Pads `source`, which is transposed unlike the source of `pad`, as `pad` does.
mlir::Value paddedTransposed(mlir::OpBuilder &builder, mlir::tensor::PadOp pad,
                             mlir::Value source,
                             llvm::ArrayRef<int64_t> permutation);

// What `init`, which holds nothing or one value everywhere, is in another
// order; null for others.
mlir::Value permutedInit(mlir::OpBuilder &builder, mlir::Value init,
                         llvm::ArrayRef<int64_t> permutation);

// A copy of `producer`, whose body moves there, that writes its only result in
// that order; null where it starts with what cannot be had so.
mlir::linalg::GenericOp writtenTransposed(mlir::RewriterBase &rewriter,
                                          mlir::linalg::GenericOp producer,
                                          llvm::ArrayRef<int64_t> permutation);

// Lets the only producer of what `op` transposes write its result in that
// order. Fails where it starts with what cannot be had so.
llvm::LogicalResult writeTransposed(mlir::PatternRewriter &rewriter,
                                    mlir::linalg::TransposeOp op,
                                    mlir::linalg::GenericOp producer);

// Patterns that transpose behind padding, slices, concatenations, reshapes and
// branches what is transposed before them.
void addSinkBelowViews(mlir::RewritePatternSet &patterns);

} // namespace onnxc
