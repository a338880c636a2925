// The order in which the uses of a value are listed.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace onnxc {

// Lists the uses of every value and block as reading the module from its text
// would: the last in the text first.
void sortUses(mlir::ModuleOp module);

} // namespace onnxc
