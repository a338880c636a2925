// Every function picks one of three operations: float, signed or unsigned.
// Bool counts as unsigned.
#include "dialects/onnx/Scalar.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace onnxc {
namespace {

bool isFloat(Type type) { return isa<FloatType>(type); }
bool isUnsigned(Type type) {
  return type.isUnsignedInteger() || type.isInteger(1);
}

// Literals saturate: -infinity is the lowest value of every type.
Value constant(ScalarBuilder &b, double number, Type type) {
  if (isFloat(type))
    return arith::ConstantOp::create(b,
                                     b.getFloatAttr(computeType(type), number));
  bool exact;
  llvm::APSInt integer(type.getIntOrFloatBitWidth(), isUnsigned(type));
  llvm::APFloat(number).convertToInteger(integer, llvm::APFloat::rmTowardZero,
                                         &exact);
  return arith::ConstantOp::create(b,
                                   b.getIntegerAttr(valueType(type), integer));
}

// The common type: a literal follows the other side, an integer follows a
// float.
struct Pair {
  ScalarBuilder &builder;
  Value a, b;
  Type type;
};
Pair unify(Scalar a, Scalar b) {
  ScalarBuilder &builder = a.builder ? *a.builder : *b.builder;
  Type type = !a.type           ? b.type
              : !b.type         ? a.type
              : isFloat(b.type) ? b.type
                                : a.type;
  return {builder, a.as(builder, type), b.as(builder, type), type};
}

template <typename Float, typename Signed, typename Unsigned>
Scalar arithmetic(Scalar a, Scalar b) {
  auto [builder, lhs, rhs, type] = unify(a, b);
  Value value = isFloat(type) ? Float::create(builder, lhs, rhs).getResult()
                : isUnsigned(type)
                    ? Unsigned::create(builder, lhs, rhs).getResult()
                    : Signed::create(builder, lhs, rhs).getResult();
  return {builder, value, type};
}

template <typename Op> Scalar bitwise(Scalar a, Scalar b) {
  auto [builder, lhs, rhs, type] = unify(a, b);
  return {builder, Op::create(builder, lhs, rhs), type};
}

using arith::CmpFPredicate;
using arith::CmpIPredicate;
Scalar compare(Scalar a, Scalar b, CmpFPredicate ordered,
               CmpIPredicate forSigned, CmpIPredicate forUnsigned) {
  auto [builder, lhs, rhs, type] = unify(a, b);
  CmpIPredicate integer = isUnsigned(type) ? forUnsigned : forSigned;
  Value value =
      isFloat(type)
          ? arith::CmpFOp::create(builder, ordered, lhs, rhs).getResult()
          : arith::CmpIOp::create(builder, integer, lhs, rhs).getResult();
  return {builder, value, builder.getI1Type()};
}

template <typename Float> Scalar function(Scalar x) {
  return {*x.builder, Float::create(*x.builder, x.value), x.type};
}
template <typename Float> Scalar ofFloat(Scalar x) {
  return isFloat(x.type) ? function<Float>(x) : x;
}

} // namespace

Value Scalar::as(ScalarBuilder &to, Type wanted) const {
  if (!literal)
    return wanted ? convert(to, value, type, wanted) : value;
  Type element = wanted ? wanted : to.result, compute = computeType(element);
  return convert(to, constant(to, *literal, compute), compute, element);
}

Scalar operator+(Scalar a, Scalar b) {
  return arithmetic<arith::AddFOp, arith::AddIOp, arith::AddIOp>(a, b);
}
Scalar operator-(Scalar a, Scalar b) {
  return arithmetic<arith::SubFOp, arith::SubIOp, arith::SubIOp>(a, b);
}
Scalar operator*(Scalar a, Scalar b) {
  return arithmetic<arith::MulFOp, arith::MulIOp, arith::MulIOp>(a, b);
}
Scalar operator-(Scalar x) {
  if (x.literal)
    return -*x.literal;
  return isFloat(x.type) ? function<arith::NegFOp>(x) : 0 - x;
}

// Divides where the divisor is neither 0 nor, for signed ones, -1; these give
// what `special` makes of them.
template <typename Float, typename Signed, typename Unsigned>
static Scalar divide(Scalar a, Scalar b, Scalar (*special)(Scalar, Scalar)) {
  Type type = a.type ? a.type : b.type;
  bool safe = b.literal && *b.literal != 0 && *b.literal != -1;
  if (safe || isFloat(type) || (b.type && isFloat(b.type)))
    return arithmetic<Float, Signed, Unsigned>(a, b);
  b = b.literal ? cast(b, a) : b;
  Scalar traps = isUnsigned(type) ? b == 0 : b == 0 || b == -1;
  Scalar quotient = arithmetic<Float, Signed, Unsigned>(a, select(traps, 1, b));
  return select(traps, special(a, b), quotient);
}

Scalar operator/(Scalar a, Scalar b) {
  // 0 * a = 0 and -1 * a wraps.
  return divide<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(
      a, b, [](Scalar a, Scalar b) {
        return isUnsigned(b.type) ? cast(0, b) : b * a;
      });
}

Scalar operator%(Scalar a, Scalar b) {
  return divide<arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(
      a, b, [](Scalar, Scalar b) { return cast(0, b); });
}

Scalar modulo(Scalar a, Scalar b) {
  Scalar rest = a % b;
  if (isUnsigned(rest.type))
    return rest;
  return select(rest != 0 && (rest < 0) != (b < 0), rest + b, rest);
}

// Shifting by the width or more gives 0; LLVM would give poison.
template <typename Signed, typename Unsigned>
static Scalar shift(Scalar a, Scalar b, Scalar beyond) {
  Scalar shifted = arithmetic<arith::AddFOp, Signed, Unsigned>(a, b);
  if (b.literal)
    return shifted;
  Scalar inside = b < a.type.getIntOrFloatBitWidth();
  if (!b.type.isUnsignedInteger())
    inside = inside && b >= 0;
  return select(inside, shifted, beyond);
}
Scalar operator<<(Scalar a, Scalar b) {
  return shift<arith::ShLIOp, arith::ShLIOp>(a, b, 0);
}
Scalar operator>>(Scalar a, Scalar b) {
  Scalar beyond = 0;
  if (!b.literal && !a.type.isUnsignedInteger())
    beyond = select(a < 0, cast(Scalar(-1), a), cast(Scalar(0), a));
  return shift<arith::ShRSIOp, arith::ShRUIOp>(a, b, beyond);
}

Scalar operator&(Scalar a, Scalar b) { return bitwise<arith::AndIOp>(a, b); }
Scalar operator|(Scalar a, Scalar b) { return bitwise<arith::OrIOp>(a, b); }
Scalar operator^(Scalar a, Scalar b) { return bitwise<arith::XOrIOp>(a, b); }
Scalar operator~(Scalar x) {
  Type type = valueType(x.type);
  IntegerAttr ones = x.builder->getIntegerAttr(
      type, llvm::APInt::getAllOnes(type.getIntOrFloatBitWidth()));
  Value mask = arith::ConstantOp::create(*x.builder, ones);
  return {*x.builder, arith::XOrIOp::create(*x.builder, x.value, mask), x.type};
}
Scalar operator&&(Scalar a, Scalar b) { return a & b; }
Scalar operator||(Scalar a, Scalar b) { return a | b; }

Scalar operator<(Scalar a, Scalar b) {
  return compare(a, b, CmpFPredicate::OLT, CmpIPredicate::slt,
                 CmpIPredicate::ult);
}
Scalar operator<=(Scalar a, Scalar b) {
  return compare(a, b, CmpFPredicate::OLE, CmpIPredicate::sle,
                 CmpIPredicate::ule);
}
Scalar operator==(Scalar a, Scalar b) {
  return compare(a, b, CmpFPredicate::OEQ, CmpIPredicate::eq,
                 CmpIPredicate::eq);
}
Scalar operator!=(Scalar a, Scalar b) {
  return compare(a, b, CmpFPredicate::UNE, CmpIPredicate::ne,
                 CmpIPredicate::ne);
}
Scalar operator>(Scalar a, Scalar b) { return b < a; }
Scalar operator>=(Scalar a, Scalar b) { return b <= a; }

Scalar select(Scalar condition, Scalar yes, Scalar no) {
  ScalarBuilder &b = *condition.builder;
  if (yes.literal && no.literal)
    yes = cast(yes, {b, Value(), computeType(b.result)});
  auto [builder, lhs, rhs, type] = unify(yes, no);
  return {b, arith::SelectOp::create(b, condition.value, lhs, rhs), type};
}

Scalar greatest(Scalar a, Scalar b) {
  if (!a.isGiven() || !b.isGiven())
    return either(a, b);
  return arithmetic<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(a, b);
}
Scalar least(Scalar a, Scalar b) {
  if (!a.isGiven() || !b.isGiven())
    return either(a, b);
  return arithmetic<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(a, b);
}

// By squaring: exponents of 64 and more overflow anyway.
static Scalar integerPower(Scalar base, Scalar exponent) {
  Scalar power = cast(1, base), square = base;
  exponent = cast(exponent, base);
  for (int bit = 0; bit < 6; ++bit) {
    power = select(((exponent >> bit) & 1) != 0, power * square, power);
    square = square * square;
  }
  if (isUnsigned(base.type))
    return power;
  // 1 and -1 have an inverse: the low bits of the exponent tell its sign.
  Scalar inverse = select(base == 1, base, select(base == -1, power, 0));
  return select(exponent < 0, inverse, power);
}

Scalar pow(Scalar base, Scalar exponent) {
  if (!isFloat(base.type) && exponent.type && !isFloat(exponent.type))
    return integerPower(base, exponent);
  auto [builder, lhs, rhs, type] = unify(base, exponent);
  return {builder, math::PowFOp::create(builder, lhs, rhs), type};
}

Scalar abs(Scalar x) {
  return isFloat(x.type)      ? function<math::AbsFOp>(x)
         : isUnsigned(x.type) ? x
                              : function<math::AbsIOp>(x);
}
Scalar exp(Scalar x) { return function<math::ExpOp>(x); }
Scalar log(Scalar x) { return function<math::LogOp>(x); }
Scalar log1p(Scalar x) { return function<math::Log1pOp>(x); }
Scalar sqrt(Scalar x) { return function<math::SqrtOp>(x); }
Scalar erf(Scalar x) { return function<math::ErfOp>(x); }
Scalar sin(Scalar x) { return function<math::SinOp>(x); }
Scalar cos(Scalar x) { return function<math::CosOp>(x); }
Scalar tan(Scalar x) { return function<math::TanOp>(x); }
Scalar asin(Scalar x) { return function<math::AsinOp>(x); }
Scalar acos(Scalar x) { return function<math::AcosOp>(x); }
Scalar atan(Scalar x) { return function<math::AtanOp>(x); }
Scalar sinh(Scalar x) { return function<math::SinhOp>(x); }
Scalar cosh(Scalar x) { return function<math::CoshOp>(x); }
Scalar tanh(Scalar x) { return function<math::TanhOp>(x); }
Scalar asinh(Scalar x) { return function<math::AsinhOp>(x); }
Scalar acosh(Scalar x) { return function<math::AcoshOp>(x); }
Scalar atanh(Scalar x) { return function<math::AtanhOp>(x); }
Scalar floor(Scalar x) { return ofFloat<math::FloorOp>(x); }
Scalar ceil(Scalar x) { return ofFloat<math::CeilOp>(x); }
Scalar round(Scalar x) { return ofFloat<math::RoundEvenOp>(x); }
Scalar sign(Scalar x) {
  // NaN is its own sign, that of -0 is 0.
  Scalar positive =
      select(x > 0, 1, isFloat(x.type) ? select(x == 0, 0, x) : x);
  return isUnsigned(x.type) ? positive : select(x < 0, -1, positive);
}

Scalar cast(Scalar x, Type type) {
  return {*x.builder, x.as(*x.builder, type), type};
}
Scalar cast(Scalar x, Scalar like) {
  return {*like.builder, x.as(*like.builder, like.type), like.type};
}
Scalar real(Scalar x) {
  if (isFloat(x.type))
    return x;
  bool wide = x.type.getIntOrFloatBitWidth() > 32;
  return cast(x, wide ? Type(x.builder->getF64Type())
                      : Type(x.builder->getF32Type()));
}

Scalar saturate(Scalar x) {
  ScalarBuilder &b = *x.builder;
  Type to = b.result;
  if (isFloat(to))
    return x; // store() saturates floats below 16 bits
  unsigned bits = to.getIntOrFloatBitWidth();
  double low = isUnsigned(to) ? 0 : -std::ldexp(1.0, bits - 1);
  double high = std::ldexp(1.0, isUnsigned(to) ? bits : bits - 1) - 1;
  if (!isFloat(x.type) || bits >= 32)
    return cast(clamp(x, low, high), to);
  // Inside its range, any integer conversion does; NaN becomes the lowest.
  Value above = arith::MaxNumFOp::create(b, x.value, constant(b, low, x.type));
  Value inside = arith::MinNumFOp::create(b, above, constant(b, high, x.type));
  Value wide = arith::FPToSIOp::create(b, b.getI32Type(), inside);
  return {b, arith::TruncIOp::create(b, valueType(to), wide), to};
}

Scalar narrow(Scalar x, Narrowing how) {
  ScalarBuilder &b = *x.builder;
  auto to = dyn_cast<FloatType>(b.result);
  if (!to || to.getWidth() >= 16)
    return x;
  return {b, encode(b, x.as(b, b.getF32Type()), to, how), to};
}

Scalar quantize(Scalar x, Scalar zeroPoint, bool saturates) {
  if (isFloat(x.builder->result))
    return narrow(x + zeroPoint, {saturates});
  return saturate(round(x) + zeroPoint);
}

Scalar bitcast(Scalar x, Type from, Type to) {
  ScalarBuilder &b = *x.builder;
  Value stored = store(b, x, from);
  if (stored.getType() != storageType(to))
    stored = arith::BitcastOp::create(b, storageType(to), stored);
  return load(b, stored, to);
}

Type sameWidth(Type to, Type from) {
  auto width = [](Type type) {
    return storageType(type).getIntOrFloatBitWidth();
  };
  bool numbers = to && to.isIntOrFloat() && from.isIntOrFloat();
  return numbers && width(to) == width(from) ? to : Type();
}

Scalar positionOf(ScalarBuilder &builder, int64_t dim) {
  Value index = linalg::IndexOp::create(builder, dim);
  Type type = builder.getI64Type();
  return {builder, arith::IndexCastOp::create(builder, type, index), type};
}

} // namespace onnxc
