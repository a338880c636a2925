// Reads the report off a module as it leaves stage memory.
#pragma once
#include "compiler/report/Remarks.h"
#include "compiler/report/Report.h"
#include "mlir/IR/BuiltinOps.h"

namespace onnxc {

// Symbolic dimensions count as `hints` say. `remarks` is what was heard so far,
// and hears of the loops that this writes to see what becomes of the regions.
// The module stays as it is.
ModelReport collectReport(mlir::ModuleOp module, llvm::StringRef model,
                          const std::map<std::string, int64_t> &hints,
                          std::vector<MissedRemark> &remarks);

} // namespace onnxc
