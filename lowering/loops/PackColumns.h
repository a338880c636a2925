// Operands whose columns or sums lie apart, as the keys of an attention and an
// image with channels first.
#pragma once
#include "lowering/loops/Contraction.h"

namespace onnxc {

// Whether it says how weights are stored. Such operations may lie anywhere
// before the kernels that read them, also outside of a loop, and come first in
// each.
bool isStored(mlir::Operation *op);

// Such an operand, if there are enough rows to copy it into panels; null where
// there is none. Dimensions of one element that operands are read by go.
mlir::OpOperand *operandToPack(mlir::linalg::GenericOp root,
                               const LoopRoles &roles, TargetAttr target);

// Copies such an operand into panels once for all rows, by a kernel of its own.
void packColumns(mlir::linalg::GenericOp root, const LoopRoles &roles,
                 TargetAttr target);

// Copies an operand that all columns are multiplied with and whose sums walk
// across its rows, as an image with channels first, so that they walk along
// them: where the rows share so few sets of the cache that every tile would
// fetch each line again.
void turnCollidingRows(mlir::linalg::GenericOp root, const LoopRoles &roles,
                       TargetAttr target);

// Copies operands whose elements side by side belong to several products, as
// heads that lie innermost, so that those of each do.
void turnInnermostBatches(mlir::linalg::GenericOp root, const LoopRoles &roles,
                          TargetAttr target);

// Whether it still has one.
bool readsColumnsApart(mlir::linalg::GenericOp root, const LoopRoles &roles);

} // namespace onnxc
