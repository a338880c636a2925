// Constants that are looked at through reshapes and slices.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

namespace onnxc {

// What `value` is at compile time: a constant, or a reshape or static slice of
// one. Null where it is none.
mlir::ElementsAttr constantBehind(mlir::Value value);

} // namespace onnxc
