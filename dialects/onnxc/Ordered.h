// An attribute of functions that goes through to LLVM IR.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace onnxc {

// Instructions stand in the order that suits the registers; none is to be moved
// before registers are allocated.
constexpr llvm::StringLiteral orderedAttrName = "onnxc-ordered";

} // namespace onnxc
