// What the function of a kernel tells code generation.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace onnxc {

// Attributes of LLVM's: its loops are unrolled as far as that pays.
inline constexpr llvm::StringLiteral rolledAttrName = "onnxc-rolled";
// How often a loop runs says more about it than how deep it lies.
inline constexpr llvm::StringLiteral countedAttrName = "onnxc-counted";

} // namespace onnxc
