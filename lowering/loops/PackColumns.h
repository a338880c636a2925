// Operands whose columns lie apart, as the keys of an attention.
#pragma once
#include "lowering/loops/Contraction.h"

namespace onnxc {

// Whether it says how weights are stored. Such operations may lie anywhere
// before the kernels that read them, also outside of a loop, and come first in
// each.
bool isStored(mlir::Operation *op);

// Copies such an operand into panels once for all rows, by a kernel of its own,
// where there are enough rows.
void packColumns(mlir::linalg::GenericOp root, const LoopRoles &roles,
                 TargetAttr target);

// Whether it still has one.
bool readsColumnsApart(mlir::linalg::GenericOp root, const LoopRoles &roles);

} // namespace onnxc
