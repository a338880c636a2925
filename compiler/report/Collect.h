// Reads the report off a module as it leaves stage memory.
#pragma once
#include "compiler/report/Remarks.h"
#include "compiler/report/Report.h"
#include "mlir/IR/BuiltinOps.h"

namespace onnxc {

// The nodes that operations come from, without those of constants.
std::vector<ReportNode> nodesIn(mlir::ModuleOp module);

// Symbolic dimensions count as `hints` say. `nodes` are all of the model.
// `remarks` is what was heard so far, and hears of the loops that this writes
// to see what becomes of the regions. The module stays as it is.
ModelReport collectReport(mlir::ModuleOp module, llvm::StringRef model,
                          const std::map<std::string, int64_t> &hints,
                          const std::vector<ReportNode> &nodes,
                          std::vector<MissedRemark> &remarks);

} // namespace onnxc
