// Sizes and positions. A formula for a shape or a source position is written
// once: inference runs it on numbers and names, lowering on numbers and values.
#pragma once
#include "dialects/onnx/Shape.h"
#include "dialects/onnx/SizeNames.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <concepts>

namespace onnxc {

// A number, a value of type `index`, a size known by name only, or nothing.
// Operations on numbers are done at once.
class Index {
public:
  Index() = default;
  Index(std::integral auto number) : number(int64_t(number)) {}
  Index(Dim dim);
  Index(mlir::ImplicitLocOpBuilder &builder, mlir::Value value);

  bool isKnown() const { return number.has_value(); }
  bool is(int64_t other) const { return number == other; }
  int64_t get() const { return *number; }
  Dim dim() const;
  void nameAfter(Dim dim);
  // An index-typed value or attribute. Only where values are being built.
  mlir::Value in(mlir::ImplicitLocOpBuilder &builder) const;
  mlir::OpFoldResult fold() const;

  std::optional<int64_t> number;
  mlir::Value value;
  mlir::ImplicitLocOpBuilder *builder = nullptr;
  mlir::StringAttr name;
  bool isSize = false; // of a tensor, and so at least 0; with a name only
};

// The same for a truth value; without either member it is not known.
class Condition {
public:
  Condition() = default;
  Condition(bool known) : known(known) {}
  Condition(mlir::ImplicitLocOpBuilder &builder, mlir::Value value);
  bool isTrue() const { return known == true; }
  bool isFalse() const { return known == false; }
  mlir::Value in(mlir::ImplicitLocOpBuilder &builder) const;

  std::optional<bool> known;
  mlir::Value value;
  mlir::ImplicitLocOpBuilder *builder = nullptr;
};

Index operator+(Index a, Index b);
Index operator-(Index a, Index b);
Index operator*(Index a, Index b);
Index operator/(Index a, Index b); // towards zero, as in C; x / 0 = 0
Index operator%(Index a, Index b); // x % 0 = 0
Index ceilDiv(Index a, Index b);   // of two that are not negative
Index least(Index a, Index b);
Index greatest(Index a, Index b);
Index clamp(Index x, Index low, Index high);
Index select(Condition condition, Index yes, Index no);
Condition operator<(Index a, Index b);
Condition operator<=(Index a, Index b);
Condition operator==(Index a, Index b);
inline Condition operator>(Index a, Index b) { return b < a; }
inline Condition operator>=(Index a, Index b) { return b <= a; }
Condition operator&&(Condition a, Condition b);
Condition operator||(Condition a, Condition b);
Condition operator!(Condition a);

// A position that counts from the end where it is negative.
inline Index fromEnd(Index position, Index size) {
  return select(position < 0, position + size, position);
}

using Sizes = llvm::SmallVector<Index>;
using Shapes = llvm::SmallVector<Sizes>;

Index product(llvm::ArrayRef<Index> sizes);
Sizes delinearize(Index linear, llvm::ArrayRef<Index> sizes);
Index linearize(llvm::ArrayRef<Index> at, llvm::ArrayRef<Index> sizes);
// Surely the same, by number or by name.
bool surelyEqual(Index a, Index b);
// Known by a name, and at least 0: differences have names too.
bool isNamedSize(Index x);

// As far as its name tells.
bool isNeverOne(Index x);

// What a name stands for, with what `sizeOf` says of the names that are in it;
// nothing where that does not know one of them.
std::optional<Index>
evaluate(llvm::StringRef name,
         llvm::function_ref<std::optional<Index>(llvm::StringRef)> sizeOf);

// Of their product. A value without a name stands for itself.
Factors factorsOf(llvm::ArrayRef<Index> sizes);
// Whether `a` is less than 0, equal to 0 or greater than `b` in that it lacks
// factors; nothing where either has some that the other one lacks.
std::optional<int> compare(const Factors &a, const Factors &b);

} // namespace onnxc
