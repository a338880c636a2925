// Names of sizes. What a model does not call by a name of its own is named
// after the formula that gives it: equal formulas of equal names are equal
// sizes. Names in formulas are sizes of tensors, and so at least 0.
#pragma once
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace onnxc {

// What a model calls a size as a name in formulas, and back: names that could
// be taken for a formula or a number stand in quotes, 'past+1'. Not empty.
std::string quotedName(llvm::StringRef given);
llvm::StringRef unquotedName(llvm::StringRef name);

// The last operation of a formula, and what it is done to: one of + - * / %,
// '<' for min(), '>' for max() and '|' for the size that two are broadcast to.
struct Parts {
  char sign;
  llvm::StringRef lhs, rhs;
};
// Nothing for a number or a name of the model's.
std::optional<Parts> partsOf(llvm::StringRef name);
std::optional<int64_t> asNumber(llvm::StringRef name);

llvm::StringRef withoutParentheses(llvm::StringRef name);
// As an operand: in parentheses if it has parts of its own.
std::string asOperand(llvm::StringRef name);
// "N+3" is N and 3, so that constants add up: N+3-1 is N+2.
std::pair<llvm::StringRef, int64_t> splitOffset(llvm::StringRef name);

// A product, as a number and names in their order.
struct Factors {
  int64_t number = 1;
  llvm::SmallVector<std::string> names;
};
Factors factorsOf(llvm::StringRef name);
std::string productName(const Factors &factors);

// What it is at least, whatever the sizes of the inputs are.
std::optional<int64_t> lowestOf(llvm::StringRef name);
// At most: of a number, or of a remainder of what is not negative.
std::optional<int64_t> greatestOf(llvm::StringRef name);
// Sizes of 1 are repeated where others are not 1.
bool isNeverOne(llvm::StringRef name);
// The size that two are broadcast to, if they fit: after both, N|M, unless one
// of them is never 1 and so the one to fit.
std::string broadcastName(llvm::StringRef a, llvm::StringRef b);

// Sums with a number, and quotients of a positive one, towards zero.
std::string plusNumber(llvm::StringRef name, int64_t number);
std::string dividedName(llvm::StringRef name, int64_t divisor);

// A name that is longer is none.
constexpr size_t longestName = 1000;

} // namespace onnxc
