// Gives the users of a buffer another layout of the same shape.
#pragma once
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace onnxc {

// Whether every user, and every user of a view of it, takes a buffer of any
// strides and would keep its own meaning.
bool takesAnyLayout(mlir::Value buffer, mlir::MemRefType type);

// Replaces `buffer` by `replacement`; the types of views follow.
void replaceBuffer(mlir::Value buffer, mlir::Value replacement);

} // namespace onnxc
