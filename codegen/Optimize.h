// LLVM's optimisation pipeline, and what has to be linked in after it.
#pragma once
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace onnxc {

// There is no C library: nothing may be recognised as one of its functions.
llvm::TargetLibraryInfoImpl freestandingLibrary(const llvm::Triple &triple);

void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              unsigned level);

} // namespace onnxc
