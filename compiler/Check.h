// What `onnxc check` does so that one run tells of every node: where a stage
// ends with an error, the nodes that it told of leave the model, and the rest
// begins anew.
#pragma once
#include "compiler/Diagnostics.h"
#include "mlir/IR/BuiltinOps.h"

namespace onnxc {

// Takes the nodes of these problems out of the model as it was imported; inputs
// stand for what they computed. Says whether there were any.
bool leaveOutNodes(mlir::ModuleOp module, llvm::ArrayRef<Problem> problems);

} // namespace onnxc
