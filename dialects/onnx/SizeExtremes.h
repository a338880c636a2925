// Formulas of sizes with min() and max(), as slices make them: what is left of
// H behind its first two is H-min(2,H) to one slice and max(H-2,0) to another.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace onnxc {

// The formula of min(a,b), max(a,b) or a+factor*b in one form for all that are
// surely equal, without the operands that surely don't matter. Nothing for sums
// of which no size cancels, nor for formulas that would grow.
std::optional<std::string> leastName(llvm::StringRef a, llvm::StringRef b);
std::optional<std::string> greatestName(llvm::StringRef a, llvm::StringRef b);
std::optional<std::string> sumName(llvm::StringRef a, llvm::StringRef b,
                                   int64_t factor);

// Whether `a` is `b`, or 1 where that is 0: a row that lost its first or last
// element, if it had one, and was padded by one.
bool isSameUnlessEmpty(llvm::StringRef a, llvm::StringRef b);

// What a-b is at least, whatever the sizes of the inputs are.
std::optional<int64_t> lowestDifference(llvm::StringRef a, llvm::StringRef b);

} // namespace onnxc
