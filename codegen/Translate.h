// The LLVM dialect's module as LLVM IR for one machine and one prefix.
#pragma once
#include "codegen/Machine.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

namespace onnxc {

struct TranslateOptions {
  llvm::StringRef prefix;
  // Name of the file that holds the weights, when the object does not.
  llvm::StringRef weightsName;
};

// Names and attributes are final; only the prefix's symbols are external.
llvm::Expected<std::unique_ptr<llvm::Module>>
translate(mlir::ModuleOp module, llvm::LLVMContext &context,
          const Machine &machine, const TranslateOptions &options);

// Every function is for this machine; also those that came from elsewhere.
void setAttributes(llvm::Module &module, const llvm::TargetMachine &machine);

} // namespace onnxc
