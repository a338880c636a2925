#include "lowering/loops/math/Double.h"
#include "lowering/loops/math/Functions.h"

namespace onnxc::elementary {
namespace {

// log(m) = 2 s + s^3 (2/3 + s^2 series(s^2)), s = (m - 1) / (m + 1).
constexpr double seriesF32[] = {0.4000001549720764, 0.28561800718307495,
                                0.23067092895507812};
constexpr double seriesF64[] = {
    0.4,
    0.28571428571429497,
    0.2222222222157781,
    0.18181818352786552,
    0.15384593133702812,
    0.13334902669690518,
    0.11703649893472894,
    0.11749858407166201,
};

Double constantDouble(Real like, double high, double low) {
  return {like.constant(high), like.constant(low)};
}

// log x for positive finite x, twice as precise.
Double logDouble(Real x) {
  auto [n, m] = splitMantissa(x);
  Double ln2 =
      constantDouble(x, x.pick(0.6931471824645996, 0.6931471805599453),
                     x.pick(-1.9046542121259336e-09, 2.3190468138462996e-17));
  Double twoThirds =
      constantDouble(x, x.pick(0.6666666865348816, 0.6666666666666666),
                     x.pick(-1.9868215517249155e-08, 3.700743415417188e-17));
  Real one = x.constant(1.0);
  Double s = sum(m, -one) / sum(m, one);
  Double z = s * s;
  Real series =
      z.high * polynomial(z.high, x.isDouble() ? llvm::ArrayRef(seriesF64)
                                               : llvm::ArrayRef(seriesF32));
  Double cubic = s * z * (twoThirds + Double{series, x.constant(0.0)});
  Double twice = {s.high * 2.0, s.low * 2.0};
  return ln2 * toReal(n, x) + (twice + cubic);
}

Mask isInteger(Real magnitude) {
  double limit = magnitude.pick(0x1p23, 0x1p52);
  Real rounded = (magnitude + limit) - limit;
  return (magnitude >= limit) | (rounded == magnitude);
}

// x^y for x >= 0, without the cases that IEEE 754 lists.
Real powOfMagnitude(Real x, Real y) {
  // No logarithm but 0 is so small that the limits could be seen.
  double most = y.pick(0x1p33, 0x1p65);
  Double d = logDouble(x) * atLeast(atMost(y, most), -most);
  Real inside =
      atLeast(atMost(d.high, x.pick(89.0, 710.0)), x.pick(-104.0, -746.0));
  auto [n, r] = splitExponent(inside);
  Real low = select(inside == d.high, d.low, 0.0);
  return scale(expOfReduced(r + low), n);
}

} // namespace

Real pow(Real x, Real y) {
  Real infinite = x.constant(x.infinity());
  Real magnitude = abs(x), size = abs(y);
  Mask isWhole = isInteger(size);
  Mask isOdd = isWhole & !isInteger(size * 0.5);
  Mask falls = y < 0.0;

  Real result = powOfMagnitude(magnitude, y);
  // Zero and infinity swap for negative exponents.
  Mask isZero = magnitude == 0.0, isInfinite = magnitude == x.infinity();
  Real extreme = select(isZero ^ falls, 0.0, infinite);
  result = select(isZero | isInfinite, extreme, result);
  // Infinite exponents.
  Mask grows = (magnitude > 1.0) ^ falls;
  Real limit = select(magnitude == 1.0, 1.0, select(grows, infinite, 0.0));
  result = select(size == x.infinity(), limit, result);
  // The sign.
  Mask isNegative = copySign(x.constant(1.0), x) < 0.0;
  result = select(isNegative & isOdd, -result, result);
  Mask hasNoValue = (x < 0.0) & !isWhole & (magnitude < x.infinity());
  result = select(hasNoValue, x.nan(), result);
  result = select(isNan(x) | isNan(y), x + y, result);
  return select((y == 0.0) | (x == 1.0), 1.0, result);
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
