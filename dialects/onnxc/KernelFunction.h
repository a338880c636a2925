// What the function of a kernel tells code generation.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace onnxc {

// An attribute of LLVM's: its loops are unrolled as far as that pays.
inline constexpr llvm::StringLiteral rolledAttrName = "onnxc-rolled";

} // namespace onnxc
