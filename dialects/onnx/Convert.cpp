// Conversions between element types. LLVM has no floats below 16 bits: from
// the tensor stage on they are codes in bytes, which are decoded and encoded
// by integer arithmetic derived from the format, so that it vectorizes.
#include "dialects/onnx/Scalar.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using llvm::APFloat;

namespace onnxc {
namespace {

bool isFloat(Type type) { return isa<FloatType>(type); }
bool isUnsigned(Type type) {
  return type.isUnsignedInteger() || type.isInteger(1);
}
bool isTiny(Type type) {
  return isFloat(type) && type.getIntOrFloatBitWidth() < 16;
}
unsigned bitsOf(Type type) { return type.getIntOrFloatBitWidth(); }

// The numbers that describe a format with a sign, `mantissa` bits and a bias.
struct Format {
  explicit Format(FloatType type)
      : semantics(type.getFloatSemantics()), width(type.getWidth()),
        mantissa(APFloat::semanticsPrecision(semantics) - 1),
        bias(1 - APFloat::semanticsMinExponent(semantics)),
        hasInfinity(APFloat::semanticsHasInf(semantics)),
        hasNaN(APFloat::semanticsHasNaN(semantics)),
        hasNegativeZero(APFloat::semanticsHasZero(semantics) &&
                        !APFloat::getZero(semantics, true).isPosZero() &&
                        APFloat::getZero(semantics, true).isNegative()) {}
  static double codeOf(const APFloat &number) {
    return double(number.bitcastToAPInt().getZExtValue());
  }
  double largest() const { return codeOf(APFloat::getLargest(semantics)); }
  double infinityCode() const { return codeOf(APFloat::getInf(semantics)); }
  double nanCode() const { return codeOf(APFloat::getNaN(semantics)); }

  const llvm::fltSemantics &semantics;
  int width, mantissa, bias;
  bool hasInfinity, hasNaN, hasNegativeZero;
};

Type unsigned32(ScalarBuilder &b) { return b.getIntegerType(32, false); }

Scalar bitsOf(ScalarBuilder &b, Scalar f32) {
  return {b, arith::BitcastOp::create(b, b.getI32Type(), f32.value),
          unsigned32(b)};
}

Scalar fromBits(ScalarBuilder &b, Scalar bits) {
  return {b, arith::BitcastOp::create(b, b.getF32Type(), bits.value),
          b.getF32Type()};
}

// Eight bits of exponent and nothing else: code 0 is half of the smallest
// normal number.
Value encodeExponent(ScalarBuilder &b, Scalar bits, Narrowing how) {
  Scalar exponent = (bits >> 23) & 255, fraction = bits & 0x7fffff;
  Scalar up =
      how.roundMode == "down" ? exponent != exponent
      : how.roundMode == "up"
          ? fraction > select(exponent == 0, 0x400000, 0)
          : fraction > 0x400000 || (fraction == 0x400000 && exponent != 0);
  if (how.saturate)
    up = up && exponent != 254;
  Scalar rounded = select(up, exponent + 1, exponent);
  Scalar code = select(exponent == 255, exponent, rounded);
  return arith::TruncIOp::create(b, b.getI8Type(), code.value);
}

Value decodeExponent(ScalarBuilder &b, Scalar code) {
  Scalar bits = select(code == 0, 0x400000, code << 23);
  return fromBits(b, select(code == 255, 0x7fc00000, bits)).value;
}

} // namespace

Value encode(ScalarBuilder &b, Value x, FloatType to, Narrowing how) {
  Scalar value(b, x, b.getF32Type()), magnitude = abs(value);
  if (isa<Float8E8M0FNUType>(to))
    return encodeExponent(b, bitsOf(b, value), how);
  Format f(to);
  Scalar bits = bitsOf(b, magnitude);
  Scalar odd = (bits >> (23 - f.mantissa)) & 1;
  Scalar half = bits + (std::ldexp(1.0, 22 - f.mantissa) - 1) + odd;
  Scalar normal =
      (half >> (23 - f.mantissa)) - std::ldexp(127 - f.bias, f.mantissa);
  // Below the smallest normal number the codes count its fractions. Larger
  // numbers must not reach the conversion.
  double smallest = std::ldexp(1.0, 1 - f.bias);
  Scalar small = least(magnitude, smallest);
  Scalar fractions = round(small * std::ldexp(1.0, f.bias - 1 + f.mantissa));
  Value whole = arith::FPToSIOp::create(b, b.getI32Type(), fractions.value);
  Scalar denormal(b, whole, bits.type);
  Scalar rounded = select(magnitude < smallest, denormal, normal);
  double overflow = how.saturate || !f.hasNaN ? f.largest()
                    : f.hasInfinity           ? f.infinityCode()
                                              : f.nanCode();
  Scalar finite = select(rounded > f.largest(), overflow, rounded);
  Scalar sign = (bitsOf(b, value) >> 31) << (f.width - 1);
  Scalar result = finite | sign;
  if (!f.hasNegativeZero) // its code is NaN's
    result = select(finite == 0 || finite == f.nanCode(), finite, result);
  // Formats without NaN have -0 for it.
  result = select(value == value, result,
                  f.hasNaN ? f.nanCode() : std::ldexp(1.0, f.width - 1));
  return arith::TruncIOp::create(b, b.getI8Type(), result.value);
}

Value decode(ScalarBuilder &b, Value code, FloatType from) {
  Value wide = arith::ExtUIOp::create(b, b.getI32Type(), code);
  Scalar bits(b, wide, unsigned32(b));
  if (isa<Float8E8M0FNUType>(from))
    return decodeExponent(b, bits);
  Format f(from);
  Scalar magnitude = bits & (std::ldexp(1.0, f.width - 1) - 1);
  Scalar normal =
      (magnitude << (23 - f.mantissa)) + std::ldexp(127 - f.bias, 23);
  Scalar fraction = cast(magnitude, b.getF32Type()) *
                    std::ldexp(1.0, 1 - f.bias - f.mantissa);
  Scalar number = select(magnitude < std::ldexp(1.0, f.mantissa),
                         bitsOf(b, fraction), normal);
  Scalar sign = (bits >> (f.width - 1)) << 31;
  if (f.hasInfinity)
    number = select(magnitude == f.infinityCode(), 0x7f800000, number);
  if (f.hasInfinity || (f.hasNaN && f.hasNegativeZero))
    number =
        select(magnitude > (f.hasInfinity ? f.infinityCode() : f.largest()),
               0x7fc00000, number);
  Scalar result = number | sign;
  if (f.hasNaN && !f.hasNegativeZero)
    result = select(bits == f.nanCode(), 0x7fc00000, result);
  return fromBits(b, result).value;
}

namespace {

Value floatToFloat(ScalarBuilder &b, Value value, Type from, Type to) {
  if (bitsOf(to) > bitsOf(from))
    return arith::ExtFOp::create(b, to, value);
  if (bitsOf(to) < bitsOf(from))
    return arith::TruncFOp::create(b, to, value);
  Value wide = arith::ExtFOp::create(b, b.getF32Type(), value); // f16 <-> bf16
  return arith::TruncFOp::create(b, to, wide);
}

// Clamps to the range of `to`; beyond it the conversion would be poison.
Value floatToInt(ScalarBuilder &b, Scalar x, Type to) {
  int bits = bitsOf(to);
  double low = isUnsigned(to) ? 0 : -std::ldexp(1.0, bits - 1);
  double end = std::ldexp(1.0, isUnsigned(to) ? bits : bits - 1);
  Type target = valueType(to);
  Scalar inside = select(x > low && x < end, x, low);
  Value value =
      isUnsigned(to)
          ? arith::FPToUIOp::create(b, target, inside.value).getResult()
          : arith::FPToSIOp::create(b, target, inside.value).getResult();
  Scalar number(b, value, to);
  return select(x == x, select(x >= end, infinity, number), 0).value;
}

// Narrow integers wrap around, as numpy's do: they keep the low bits.
Value floatToNarrowInt(ScalarBuilder &b, Scalar x, Type to) {
  unsigned bits = bitsOf(to);
  if (bits == 64 || (bits == 32 && !isUnsigned(to)))
    return floatToInt(b, x, to);
  Type wide = bits == 32 ? b.getI64Type() : b.getI32Type();
  return arith::TruncIOp::create(b, valueType(to), floatToInt(b, x, wide));
}

Value intToInt(ScalarBuilder &b, Value value, Type from, Type to) {
  Type target = valueType(to);
  if (bitsOf(to) < bitsOf(from))
    return arith::TruncIOp::create(b, target, value);
  if (bitsOf(to) == bitsOf(from))
    return value;
  return isUnsigned(from)
             ? arith::ExtUIOp::create(b, target, value).getResult()
             : arith::ExtSIOp::create(b, target, value).getResult();
}

} // namespace

Value convert(ScalarBuilder &b, Value value, Type from, Type to) {
  if (from == to)
    return value;
  if (isTiny(from))
    return convert(b, decode(b, value, cast<FloatType>(from)), b.getF32Type(),
                   to);
  if (isTiny(to))
    return encode(b, convert(b, value, from, b.getF32Type()),
                  cast<FloatType>(to));
  if (isFloat(from) && isFloat(to))
    return floatToFloat(b, value, from, to);
  if (isFloat(to))
    return isUnsigned(from) ? arith::UIToFPOp::create(b, to, value).getResult()
                            : arith::SIToFPOp::create(b, to, value).getResult();
  Scalar x(b, value, from);
  if (to.isInteger(1))
    return (x != 0).value;
  return isFloat(from) ? floatToNarrowInt(b, x, to)
                       : intToInt(b, value, from, to);
}

Type computeType(Type element) {
  return isFloat(element) && bitsOf(element) < 32
             ? Float32Type::get(element.getContext())
             : element;
}

Type valueType(Type element) {
  if (isTiny(element))
    return IntegerType::get(element.getContext(), 8);
  return isa<IntegerType>(element)
             ? IntegerType::get(element.getContext(), bitsOf(element))
             : element;
}

Type storageType(Type element) {
  if (!isa<IntegerType>(element) && !isTiny(element))
    return element;
  return IntegerType::get(element.getContext(), std::max(8u, bitsOf(element)));
}

Scalar load(ScalarBuilder &b, Value value, Type element) {
  Type compute = computeType(element);
  Scalar stored(b, value, storageType(element));
  if (element.isInteger(1)) // any byte but zero is true
    return {b, (stored != 0).value, element};
  if (isa<IntegerType>(element) && bitsOf(element) < 8)
    value = arith::TruncIOp::create(b, valueType(element), value);
  return {b, convert(b, value, element, compute), compute};
}

Value store(ScalarBuilder &b, Scalar scalar, Type element) {
  Value value = scalar.as(b, element);
  Type storage = storageType(element);
  if (value.getType() == storage)
    return value;
  return isUnsigned(element)
             ? arith::ExtUIOp::create(b, storage, value).getResult()
             : arith::ExtSIOp::create(b, storage, value).getResult();
}

} // namespace onnxc
