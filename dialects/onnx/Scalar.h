// The words of `scalar`, `combine` and `finish` expressions: arithmetic on one
// element, typed by the onnx element type. The type, not the value, knows
// signedness: `uiN` picks unsigned operations although the value is signless.
#pragma once
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <cmath>
#include <concepts>

namespace onnxc {

// Where the operations of an expression go, and the type of its first result.
struct ScalarBuilder : mlir::ImplicitLocOpBuilder {
  ScalarBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type result)
      : ImplicitLocOpBuilder(loc, builder), result(result) {
    setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
  }
  mlir::Type result;
};

// An element, a literal that takes the type of what it meets, or nothing: an
// optional operand that is absent.
class Scalar {
public:
  Scalar() = default;
  Scalar(double number) : literal(number) {}
  Scalar(std::integral auto number) : literal(double(number)) {}
  Scalar(ScalarBuilder &builder, mlir::Value value, mlir::Type type)
      : builder(&builder), value(value), type(type) {}

  bool isGiven() const { return value || literal; }
  mlir::Value as(ScalarBuilder &to, mlir::Type wanted) const;

  ScalarBuilder *builder = nullptr;
  mlir::Value value;
  mlir::Type type;
  std::optional<double> literal;
};

// Narrow floats are computed in f32.
mlir::Type computeType(mlir::Type element);
// The type of a scalar's value: without signedness; f8 and f4 as their codes.
mlir::Type valueType(mlir::Type element);
// The element type as the tensor stage holds it: bool and everything narrower
// than a byte is i8, one byte per element.
mlir::Type storageType(mlir::Type element);
Scalar load(ScalarBuilder &builder, mlir::Value value, mlir::Type element);
mlir::Value store(ScalarBuilder &builder, Scalar scalar, mlir::Type element);

// Out of range, floats become the nearest integer and NaN becomes 0.
mlir::Value convert(ScalarBuilder &builder, mlir::Value value, mlir::Type from,
                    mlir::Type to);

// What a float of 8 bits or less does with numbers that it cannot hold.
struct Narrowing {
  bool saturate = true;
  llvm::StringRef roundMode = "up"; // of the exponent-only format
};
mlir::Value encode(ScalarBuilder &builder, mlir::Value f32, mlir::FloatType to,
                   Narrowing how = {});
mlir::Value decode(ScalarBuilder &builder, mlir::Value code,
                   mlir::FloatType from);

inline constexpr double infinity = std::numeric_limits<double>::infinity();

Scalar operator+(Scalar a, Scalar b);
Scalar operator-(Scalar a, Scalar b);
Scalar operator*(Scalar a, Scalar b);
// Of integers: x / 0 = x % 0 = 0, and the lowest / -1 wraps.
Scalar operator/(Scalar a, Scalar b);
Scalar operator%(Scalar a, Scalar b); // the sign of a, as in C
Scalar modulo(Scalar a, Scalar b);    // the sign of b, as in Python
Scalar operator<<(Scalar a, Scalar b);
Scalar operator>>(Scalar a, Scalar b);
Scalar operator&(Scalar a, Scalar b); // also of booleans
Scalar operator|(Scalar a, Scalar b);
Scalar operator^(Scalar a, Scalar b);
Scalar operator~(Scalar x);
Scalar operator&&(Scalar a, Scalar b);
Scalar operator||(Scalar a, Scalar b);
Scalar operator<(Scalar a, Scalar b);
Scalar operator<=(Scalar a, Scalar b);
Scalar operator>(Scalar a, Scalar b);
Scalar operator>=(Scalar a, Scalar b);
Scalar operator==(Scalar a, Scalar b);
Scalar operator!=(Scalar a, Scalar b); // true if one is NaN
Scalar operator-(Scalar x);
Scalar select(Scalar condition, Scalar yes, Scalar no);
Scalar greatest(Scalar a, Scalar b); // NaN if one is; the other if absent
Scalar least(Scalar a, Scalar b);
Scalar pow(Scalar base, Scalar exponent);
Scalar abs(Scalar x);
Scalar exp(Scalar x);
Scalar log(Scalar x);
Scalar log1p(Scalar x);
Scalar sqrt(Scalar x);
Scalar erf(Scalar x);
Scalar sin(Scalar x);
Scalar cos(Scalar x);
Scalar tan(Scalar x);
Scalar asin(Scalar x);
Scalar acos(Scalar x);
Scalar atan(Scalar x);
Scalar sinh(Scalar x);
Scalar cosh(Scalar x);
Scalar tanh(Scalar x);
Scalar asinh(Scalar x);
Scalar acosh(Scalar x);
Scalar atanh(Scalar x);
Scalar floor(Scalar x); // of an integer, like ceil and round: itself
Scalar ceil(Scalar x);
Scalar round(Scalar x); // half to even
Scalar sign(Scalar x);
Scalar cast(Scalar x, Scalar like);
Scalar cast(Scalar x, mlir::Type type);
Scalar real(Scalar x);     // integers as floats
Scalar saturate(Scalar x); // to the type of the result
// To the type of the result, as Cast does it.
Scalar narrow(Scalar x, Narrowing how);
// A number in units of the scale, to the type of the result.
Scalar quantize(Scalar x, Scalar zeroPoint, bool saturates);
// The bits of `x`, an element of type `from`, as one of type `to`.
Scalar bitcast(Scalar x, mlir::Type from, mlir::Type to);
// `to` if it is as wide as `from`, null otherwise.
mlir::Type sameWidth(mlir::Type to, mlir::Type from);
// The position along dimension `dim` of the loop that the expression is in.
Scalar positionOf(ScalarBuilder &builder, int64_t dim);

inline Scalar add(Scalar a, Scalar b) { return a + b; }
inline Scalar either(Scalar x, Scalar otherwise) {
  return x.isGiven() ? x : otherwise;
}
inline Scalar clamp(Scalar x, Scalar low, Scalar high) {
  return least(greatest(x, low), high);
}
inline Scalar sigmoid(Scalar x) { return 1 / (1 + exp(-x)); }
// log(1 + exp(x)) without overflow.
inline Scalar softplus(Scalar x) {
  return greatest(x, 0) + log1p(exp(-abs(x)));
}
inline Scalar gelu(Scalar x) { return 0.5 * x * (1 + erf(x * M_SQRT1_2)); }
inline Scalar tanhGelu(Scalar x) {
  return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}
inline Scalar dequantize(Scalar x, Scalar scale, Scalar zeroPoint) {
  return (cast(x, scale) - cast(either(zeroPoint, 0), scale)) * scale;
}
inline Scalar fold(llvm::ArrayRef<Scalar> xs,
                   Scalar (*combine)(Scalar, Scalar)) {
  Scalar all = xs.front();
  for (Scalar x : xs.drop_front())
    all = combine(all, x);
  return all;
}

} // namespace onnxc
