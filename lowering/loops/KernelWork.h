// How much a kernel does, for whoever decides whether to divide it.
#pragma once
#include "dialects/onnxc/Onnxc.h"

namespace onnxc {

// On a kernel's function; dropped once it has been decided.
inline constexpr llvm::StringLiteral workAttrName = "onnxc.work";

// Scalar operations, roughly; an unknown size counts as a small one.
int64_t workOf(KernelOp kernel);

} // namespace onnxc
