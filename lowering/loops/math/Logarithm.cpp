// x = 2^n * m; log m through s = f / (2 + f), f = m - 1, as fdlibm does.
#include "lowering/loops/math/Functions.h"

namespace onnxc::elementary {
namespace {

constexpr double seriesF32[] = {0xaaaaaa.0p-24, 0xccce13.0p-25, 0x91e9ee.0p-25,
                                0xf89e26.0p-26};
constexpr double seriesF64[] = {
    6.666666666666735130e-01, 3.999999999940941908e-01,
    2.857142874366239149e-01, 2.222219843214978396e-01,
    1.818357216161805012e-01, 1.531383769920937332e-01,
    1.479819860511658591e-01,
};

// (log(1 + x) - x) / x^2 for x in [0, 1].
constexpr double seriesToOne[] = {
    -0.4999990165233612,  0.3332996368408203,   -0.24954132735729218,
    0.19675932824611664,  -0.15305574238300323, 0.1060362309217453,
    -0.05695920810103416, 0.019851282238960266, -0.0032439841888844967,
};

// n * ln 2 + log(1 + f) + correction for |f| < 0.42.
Real logOfParts(Real n, Real f, Real correction) {
  llvm::ArrayRef<double> series =
      f.isDouble() ? llvm::ArrayRef(seriesF64) : llvm::ArrayRef(seriesF32);
  Real s = f / (f + 2.0);
  Real z = s * s;
  Real tail = z * polynomial(z, series);
  Real half = f * f * 0.5;
  double high = f.pick(6.9313812256e-01, 6.93147180369123816490e-01);
  double low = f.pick(9.0580006145e-06, 1.90821492927058770002e-10);
  return s * (half + tail) + (n * low + correction) - half + f + n * high;
}

// log m, m in [sqrt(1/2), sqrt(2)).
Real logOfMantissa(Real m) {
  Real zero = m.constant(0.0);
  return logOfParts(zero, m - 1.0, zero);
}

// What every logarithm does at the border of its domain and beyond.
Real atBorder(Real x, double border, Real result) {
  result = select(x == x.infinity(), x, result);
  result = select(x == border, -x.infinity(), result);
  return select(x >= border, result, x.nan());
}

} // namespace

Mantissa splitNormal(Real x) {
  int64_t one = int64_t(x.bias()) << x.mantissa();
  int64_t root = x.isDouble() ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  Bits shifted = bitsOf(x) + (one - root);
  Bits n = (shifted >> x.mantissa()) - x.bias();
  Bits m = (shifted & ((int64_t(1) << x.mantissa()) - 1)) + root;
  return {n, realOf(m, x)};
}

Mantissa splitMantissa(Real x) {
  int up = x.pick(25, 54);
  Mask isDenormal = x < x.pick(0x1p-126, 0x1p-1022);
  auto [n, m] = splitNormal(select(isDenormal, x * x.pick(0x1p25, 0x1p54), x));
  return {select(isDenormal, n - up, n), m};
}

Real log(Real x) {
  auto [n, m] = splitMantissa(x);
  Real result = logOfParts(toReal(n, x), m - 1.0, x.constant(0.0));
  return atBorder(x, 0.0, result);
}

Real log2(Real x) {
  auto [n, m] = splitMantissa(x);
  Real result = logOfMantissa(m) * 1.4426950408889634 + toReal(n, x);
  return atBorder(x, 0.0, result);
}

Real log10(Real x) {
  auto [n, m] = splitMantissa(x);
  double high = x.pick(3.0102920532e-01, 3.01029995663611771306e-01);
  double low = x.pick(7.9034151668e-07, 3.69423907715893078616e-13);
  Real count = toReal(n, x);
  Real result =
      count * high + (count * low + logOfMantissa(m) * 0.4342944819032518);
  return atBorder(x, 0.0, result);
}

Real log1p(Real x) {
  Real sum = x + 1.0;
  auto [n, m] = splitNormal(sum);
  // What rounding took from the sum.
  Real lost = select(sum > 2.0, (x - sum) + 1.0, x - (sum - 1.0));
  Mask isNear = n == 0;
  Real f = select(isNear, x, m - 1.0);
  Real correction = select(isNear, 0.0, lost / sum);
  Real result = logOfParts(toReal(n, x), f, correction);
  result = atBorder(x, -1.0, result);
  return select(abs(x) < x.pick(0x1p-26, 0x1p-55), x, result);
}

// In double precision the polynomial would be as long as a division.
Real log1pToOne(Real x) {
  return x.isDouble() ? log1p(x) : x * x * polynomial(x, seriesToOne) + x;
}

Real asinh(Real x) {
  Real magnitude = abs(x);
  double limit = x.pick(0x1p12, 0x1p28);
  Real near = atMost(magnitude, limit);
  Real square = near * near;
  Real small = log1p(near + square / (sqrt(square + 1.0) + 1.0));
  Real large = log(magnitude) + 0.6931471805599453;
  return copySign(select(magnitude > limit, large, small), x);
}

Real acosh(Real x) {
  double limit = x.pick(0x1p13, 0x1p28);
  Real t = atMost(x, limit) - 1.0;
  Real small = log1p(t + sqrt(t * 2.0 + t * t));
  Real large = log(x) + 0.6931471805599453;
  return select(x >= 1.0, select(x > limit, large, small), x.nan());
}

Real atanh(Real x) {
  Real magnitude = abs(x);
  Real result = log1p(magnitude * 2.0 / (1.0 - magnitude)) * 0.5;
  Mask isTiny = magnitude < x.pick(0x1p-13, 0x1p-28);
  Real tiny = magnitude * magnitude * magnitude * (1.0 / 3) + magnitude;
  return copySign(select(isTiny, tiny, result), x);
}

} // namespace onnxc::elementary
