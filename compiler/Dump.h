// The IR as text: to look at, and to continue from.
#pragma once
#include "compiler/Output.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBuffer.h"

namespace onnxc {

// For reading: weights are left out.
void dump(mlir::ModuleOp module, llvm::raw_ostream &stream);

// For continuing: locations are kept, and weights above 1 MiB go to a file
// beside, `path`.weights, unless `path` is "-", standard output.
std::vector<OutputFile> printModule(mlir::ModuleOp module,
                                    const std::string &path);

// Connects a module that was read from `path` with the weights beside it. The
// returned memory must outlive the module.
llvm::FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
attachWeights(mlir::ModuleOp module, const std::string &path);

} // namespace onnxc
