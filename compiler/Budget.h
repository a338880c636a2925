// Some analyses take time that grows faster than the graph: what is refused,
// and with exit code 4. The largest networks in use have less than half.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace onnxc {

// Operands and results of one node, and names of sizes of the model's inputs.
llvm::LogicalResult checkWidths(mlir::ModuleOp module);

// Nodes that are left after folding.
llvm::LogicalResult checkNodes(mlir::ModuleOp module);

} // namespace onnxc
