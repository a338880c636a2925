#include "lowering/loops/math/Double.h"
#include "lowering/loops/math/Functions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace onnxc::elementary {
namespace {

using Values = SmallVector<Value>;

// log(m) = 2 s + s^3 (2/3 + s^2 series(s^2)), s = (m - 1) / (m + 1).
constexpr double series[] = {
    0.4,
    0.28571428571429497,
    0.2222222222157781,
    0.18181818352786552,
    0.15384593133702812,
    0.13334902669690518,
    0.11703649893472894,
    0.11749858407166201,
};
// The same for log2(m) = 2 s / ln 2 + s^3 seriesF32(s^2).
constexpr double seriesF32[] = {0.9617967009544373, 0.5770788192749023,
                                0.4119251072406769, 0.33653438091278076};

// (2^r - 1) / r for |r| <= 1/2.
constexpr double powersOfTwo[] = {
    0.6931471805599453,  0.2402265069591007,    0.05550378775946156,
    0.00961805630041203, 0.0013383243131192006, 0.00015463791987954691};

Double constantDouble(Real like, double high, double low) {
  return {like.constant(high), like.constant(low)};
}

// log x for x > 0 in f64, twice as precise.
Double logDouble(Mantissa x) {
  Real m = x.m;
  Double ln2 = constantDouble(m, 0.6931471805599453, 2.3190468138462996e-17);
  Double twoThirds =
      constantDouble(m, 0.6666666666666666, 3.700743415417188e-17);
  Real one = m.constant(1.0);
  Double s = sum(m, -one) / sum(m, one);
  Double z = s * s;
  Real tail = z.high * polynomial(z.high, series);
  Double cubic = s * z * (twoThirds + Double{tail, m.constant(0.0)});
  Double twice = {s.high * 2.0, s.low * 2.0};
  return ln2 * toReal(x.n, m) + (twice + cubic);
}

// log2 x for normal x > 0 in f32, to 30 bits, the digits of a result's whole
// part and its own. Of the series only the first term needs them: the others
// are no more than a hundredth of it.
Double log2Double(Mantissa x) {
  Real f = x.m - 1.0, n = toReal(x.n, f);
  Double above = quickSum(f.constant(1.0), x.m);
  Real inverse = 1.0 / above.high;
  Real s = f * inverse, z = s * s;
  Real lost = minusProduct(f, s, above.high) - s * above.low;
  constexpr double high = 2.885390043258667, low = 3.85192597818218e-08;
  Double first = product(s, f.constant(high)), whole = quickSum(n, first.high);
  Real rest = s * low + (first.low + whole.low);
  // 2 s / ln 2 + s^3 grows by (1 + s^2) 2 / ln 2 as s does.
  rest = lost * (inverse * (z * high + high)) + rest;
  return {whole.high, s * z * polynomialInPairs(z, seriesF32) + rest};
}

Mask isInteger(Real magnitude) {
  double limit = magnitude.pick(0x1p23, 0x1p52);
  Real rounded = (magnitude + limit) - limit;
  return (magnitude >= limit) | (rounded == magnitude);
}

// Beyond it a power is 0, 1 or infinity.
double mostExponent(Real y) { return y.pick(0x1p33, 0x1p65); }

// 2^power, power.low no more than half a unit of power.high.
Real exp2OfSum(Double power) {
  Real inside = atLeast(atMost(power.high, 129.0), -151.0);
  Real r = (power.high - nearest(power.high).real) + power.low;
  r = select(inside == power.high, r, 0.0);
  return scale(r * polynomialInPairs(r, powersOfTwo) + 1.0,
               nearest(inside).integer);
}

// e^power.
Real expOfSum(Double power) {
  Real inside = atLeast(atMost(power.high, 710.0), -746.0);
  Real low = select(inside == power.high, power.low, 0.0);
  auto [n, r] = splitExponent(inside);
  return scale(expOfReduced(r + low), n);
}

// x^y in f32 for x > 0 that has been split.
Real powOfParts(Mantissa x, Real y) {
  Double log = log2Double(x), power = product(log.high, y);
  return exp2OfSum(quickSum(power.high, log.low * y + power.low));
}

// Of a power of the magnitude, with what IEEE 754 lists.
Real withSpecialCases(Real x, Real y, Real power) {
  Real magnitude = abs(x), size = abs(y);
  Mask isWhole = isInteger(size);
  Mask isOdd = isWhole & !isInteger(size * 0.5);
  // These swap for negative exponents.
  Mask isZero = magnitude == 0.0, isInfinite = magnitude == x.infinity();
  Real extreme = select(isZero ^ (y < 0.0), 0.0, x.constant(x.infinity()));
  Real result = select(isZero | isInfinite, extreme, power);
  Mask grows = (magnitude > 1.0) ^ (y < 0.0);
  Real limit = select(magnitude == 1.0, 1.0,
                      select(grows, x.constant(x.infinity()), 0.0));
  result = select(size < mostExponent(y), result, limit);
  // The sign.
  Mask isNegative = copySign(x.constant(1.0), x) < 0.0;
  result = select(isNegative & isOdd, -result, result);
  Mask hasNoValue = (x < 0.0) & !isWhole & (magnitude < x.infinity());
  result = select(hasNoValue, x.nan(), result);
  result = select(isNan(x) | isNan(y), x + y, result);
  return select((y == 0.0) | (x == 1.0), 1.0, result);
}

} // namespace

// A branch for vectors in which all lanes are positive, finite and normal, and
// no exponent is huge or NaN.
Real pow(Real x, Real y) {
  ImplicitLocOpBuilder &b = *x.builder;
  Bits smallest = bitsOf(x.constant(x.pick(0x1p-126, 0x1p-1022)));
  Bits infinity = bitsOf(x.constant(x.infinity()));
  Mask isUsual = isBelow(bitsOf(x) - smallest, infinity - smallest) &
                 (abs(y) < mostExponent(y));
  Value isSpecial = anyOf(!isUsual);
  auto choose = [&](Values usual, llvm::function_ref<Values()> special) {
    auto choice = scf::IfOp::create(
        b, isSpecial,
        [&](OpBuilder &, Location) { scf::YieldOp::create(b, special()); },
        [&](OpBuilder &, Location) { scf::YieldOp::create(b, usual); });
    return choice.getResults();
  };
  Mantissa usual = splitNormal(x);
  ValueRange parts = choose({usual.n.value, usual.m.value}, [&]() -> Values {
    auto [n, m] = splitMantissa(abs(x));
    return {n.value, m.value};
  });
  Mantissa split = {{&b, parts[0]}, {&b, parts[1]}};
  Real power =
      x.isDouble() ? expOfSum(logDouble(split) * y) : powOfParts(split, y);
  return {&b, choose({power.value}, [&]() -> Values {
            return {withSpecialCases(x, y, power).value};
          })[0]};
}

Real cbrt(Real x) {
  Real magnitude = abs(x);
  Mask isDenormal = magnitude < x.pick(0x1p-126, 0x1p-1022);
  Real normal =
      select(isDenormal, magnitude * x.pick(0x1p24, 0x1p54), magnitude);
  // A third of the exponent: the first guess is off by 3 %.
  auto [n, m] = splitMantissa(normal);
  Bits whole = nearest(toReal(n, x) * (1.0 / 3)).integer;
  Real rest = m * powerOfTwo(n - whole * 3, x);
  // rest is in [sqrt(1/2) / 2, 2 sqrt(2)); Halley's steps triple the digits.
  Real t = rest * 0.35 + 0.66;
  for (int step = 0, steps = x.pick(3, 4); step < steps; ++step) {
    Real cube = t * t * t;
    t = t - t * ((cube - rest) / (cube * 2.0 + rest));
  }
  Real result = t * powerOfTwo(whole, x);
  result = select(isDenormal, result * x.pick(0x1p-8, 0x1p-18), result);
  Mask isSelf = (magnitude == 0.0) | (magnitude == x.infinity()) | isNan(x);
  return select(isSelf, x, copySign(result, x));
}

Real rsqrt(Real x) { return 1.0 / sqrt(x); }

} // namespace onnxc::elementary
