// lld as a library: an object becomes a shared one without a tool of the
// user's.
#pragma once
#include "llvm/Support/Error.h"

namespace onnxc {

llvm::Error linkSharedObject(llvm::StringRef object, llvm::StringRef path);

} // namespace onnxc
