// The results of branches as buffers.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace onnxc {

// Upstream takes what branches yield for buffers of any strides. Where both
// have made theirs alike, that is what is read behind them; and what is only
// copied to an output is copied there by the branch that has made it, which
// elide-copies may let write there.
void tightenBranches(mlir::ModuleOp module);

} // namespace onnxc
