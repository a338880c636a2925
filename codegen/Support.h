// The support library: C functions built to bitcode with the compiler
// (codegen/support/*.c), linked into a module where it refers to them.
#pragma once
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace onnxc {

// Links what the module declares, and what that needs, as internal functions.
llvm::Error linkSupport(llvm::Module &module);

// Declares those of `names` that the library has and keeps them alive through
// code generation; returns the others.
llvm::SmallVector<std::string>
requestSupport(llvm::Module &module, llvm::ArrayRef<std::string> names);

// The functions that instructions of the module will call on its target.
llvm::SmallVector<std::string> predictCalls(const llvm::Module &module);

} // namespace onnxc
