// What formulas of sizes come to.
#pragma once
#include "dialects/onnx/SizeNames.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <algorithm>

namespace onnxc {

// What the run finds where `sizeOf` says what an input's size is.
inline int64_t valueOf(llvm::StringRef name,
                       llvm::function_ref<int64_t(llvm::StringRef)> sizeOf) {
  if (std::optional<int64_t> number = asNumber(name))
    return *number;
  std::optional<Parts> parts = partsOf(name);
  if (!parts)
    return sizeOf(withoutParentheses(name));
  int64_t a = valueOf(parts->lhs, sizeOf), b = valueOf(parts->rhs, sizeOf);
  switch (parts->sign) {
  case '+':
    return a + b;
  case '-':
    return a - b;
  case '*':
    return a * b;
  case '/':
    return b ? a / b : 0;
  case '%':
    return b ? a % b : 0;
  case '<':
    return std::min(a, b);
  case '>':
    return std::max(a, b);
  default:
    return a == 1 ? b : a;
  }
}

} // namespace onnxc
