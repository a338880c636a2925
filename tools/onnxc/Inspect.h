// `onnxc inspect model.o`: what a compiled model says of itself.

#pragma once

#include "llvm/ADT/StringRef.h"

namespace onnxc {

// Prints the descriptor of an object, a shared library or an archive, of any
// machine. The program's exit code.
int inspect(llvm::StringRef path);

} // namespace onnxc
