// e^x = 2^n * e^r with n the integer nearest to x / ln 2; e^r is a polynomial.
#include "lowering/loops/math/Functions.h"

namespace onnxc::elementary {
namespace {

constexpr double log2e = 1.4426950408889634;
constexpr double ln2 = 0.6931471805599453;

// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2.
constexpr double tailF32[] = {0.5, 0.1666657030582428, 0.04166635125875473,
                              0.008364385925233364, 0.0013943224912509322};
constexpr double tailF64[] = {
    0.5000000000000001,     0.16666666666666677,   0.04166666666661685,
    0.008333333333320307,   0.0013888888920774501, 0.00019841269892281494,
    2.480151587387184e-05,  2.755723602717478e-06, 2.762261632185921e-07,
    2.5112381306258774e-08,
};

// The same to 1.8 units of e^r, where that is all that is asked for.
constexpr double shortTailF32[] = {0.4999923030490141, 0.1666711538958342,
                                   0.041890332182784124, 0.008312501431773547};

// tanh(x) / x in x^2, |x| <= 8.2.
constexpr double tanhUpper[] = {0.9999999917359034, 0.13432119442645768,
                                0.0035566821887222776, 2.1637207354243706e-05,
                                1.4840465056198651e-08};
constexpr double tanhLower[] = {1.0, 0.4676544518077893, 0.026108282759340375,
                                0.00033864343731436036, 8.370565894387205e-07};

Real tailOf(Real r) {
  return polynomial(r, r.isDouble() ? llvm::ArrayRef(tailF64)
                                    : llvm::ArrayRef(tailF32));
}

// e^r - 1.
Real reducedMinusOne(Real r) { return r * r * tailOf(r) + r; }

// e^x - 1 without the cases of huge, tiny and infinite x.
Real expm1Near(Real x) {
  auto [n, r] = splitExponent(x);
  // Halved, so that 2^128 does not overflow early.
  Real half = powerOfTwo(n - 1, x);
  return (half * reducedMinusOne(r) + (half - 0.5)) * 2.0;
}

} // namespace

// The first part has so few bits that its product with n is exact.
static double highOfLn2(Real like) {
  return like.pick(0.693359375, 6.93147180369123816490e-01);
}
static double lowOfLn2(Real like) {
  return like.pick(-2.12194440054690583e-4, 1.90821492927058770002e-10);
}

Exponent splitExponent(Real x) {
  Nearest n = nearest(x * log2e);
  return {n.integer, x - n.real * highOfLn2(x) - n.real * lowOfLn2(x)};
}

static Real closeExpOfReduced(Real r) {
  return (tailOf(r) * r + 1.0) * r + 1.0;
}

Real expOfReduced(Real r) {
  if (r.isDouble())
    return closeExpOfReduced(r);
  return (polynomial(r, shortTailF32) * r + 1.0) * r + 1.0;
}

// Of which the power of f32 is less than half of the least number.
constexpr double exponentOfNothing = -104.0;

static Real expBy(Real (*ofReduced)(Real), Real x) {
  Real inside = atLeast(atMost(x, x.pick(exponentOfInfinity, 710.0)),
                        x.pick(exponentOfNothing, -746.0));
  auto [n, r] = splitExponent(inside);
  return scale(ofReduced(r), n);
}

Real exp(Real x) { return expBy(expOfReduced, x); }

Real expOrNothing(Real x) {
  if (x.isDouble())
    return exp(x);
  auto [n, r] = splitExponent(atMost(x, exponentOfInfinity));
  return select(x < exponentOfNothing, 0.0, scale(expOfReduced(r), n));
}

Real expOrNothingByPower(Real x) {
  if (x.isDouble())
    return exp(x);
  Real inside = atLeast(atMost(x, exponentOfInfinity), exponentOfNothing);
  auto [n, r] = splitExponent(inside);
  return scale(select(x < exponentOfNothing, 0.0, expOfReduced(r)), n);
}

// e^-x = 2^n * e^-r; by -r in place of r, so that nothing is negated.
static Exponent splitNegative(Real x) {
  Nearest n = nearest(x * -log2e);
  return {n.integer, x + n.real * highOfLn2(x) + n.real * lowOfLn2(x)};
}

// `factor` times e^-r.
static Real expOfReducedNegative(Real r, double factor) {
  llvm::SmallVector<double> tail;
  double sign = 1;
  for (double coefficient : shortTailF32) {
    tail.push_back(sign * factor * coefficient);
    sign = -sign;
  }
  return (polynomial(r, tail) * r - factor) * r + factor;
}

Real expOfNegative(Real x) {
  if (x.isDouble())
    return exp(-x);
  auto [n, r] = splitNegative(atLeast(atMost(x, 104.0), -89.0));
  return scale(expOfReducedNegative(r, 1.0), n);
}

Real expOfNegativeOrNothing(Real x) {
  if (x.isDouble())
    return exp(-x);
  auto [n, r] = splitNegative(atLeast(x, -exponentOfInfinity));
  return select(x > -exponentOfNothing, 0.0,
                scale(expOfReducedNegative(r, 1.0), n));
}

Real onePlusExpOfNegative(Real x) {
  auto [n, r] = splitNegative(atLeast(atMost(x, 87.3), -89.0));
  return scale(expOfReducedNegative(r, 1.0), n) + 1.0;
}

Real onePlusExpOfNegativeByPower(Real x) {
  auto [n, r] = splitNegative(atLeast(atMost(x, 87.3), -89.0));
  return expOfReducedNegative(r, 2.0) * powerOfTwo(n - 1, x) + 1.0;
}

Real expOrZero(Real x) {
  auto [n, r] = splitExponent(x);
  return select(x < leastExponent, 0.0, scale(expOfReduced(r), n));
}

// Twice by half of the power: 2^128 does not overflow early, and half of
// 2^-126, the least there is, has the exponent and the bits of 0.
Real expOrZeroByPower(Real x) {
  auto [n, r] = splitExponent(atLeast(x, -87.3));
  llvm::SmallVector<double> tail(std::begin(shortTailF32),
                                 std::end(shortTailF32));
  for (double &coefficient : tail)
    coefficient *= 2;
  return ((polynomial(r, tail) * r + 2.0) * r + 2.0) * powerOfTwo(n - 1, x);
}

Real exp2(Real x) {
  Real inside =
      atLeast(atMost(x, x.pick(129.0, 1025.0)), x.pick(-151.0, -1076.0));
  Nearest n = nearest(inside);
  return scale(expOfReduced((inside - n.real) * ln2), n.integer);
}

Real expm1(Real x) {
  Real inside = atLeast(atMost(x, x.pick(89.0, 710.0)), x.pick(-18.0, -40.0));
  // Tiny x is its own answer, with its sign and all its bits.
  return select(abs(x) < x.pick(0x1p-30, 0x1p-60), x, expm1Near(inside));
}

// A quotient of polynomials: a step less for each vector than by e^2x, and few
// that wait for each other. Beyond the limit 1 is 2.5 units away.
static Real tanhByQuotient(Real x) {
  Real magnitude = abs(x);
  Real square = magnitude * magnitude;
  Real inside =
      magnitude * polynomial(square, tanhUpper) / polynomial(square, tanhLower);
  return copySign(select(magnitude > 8.2, 1.0, atMost(inside, 1.0)), x);
}

Real tanhByPower(Real x) {
  // Beyond the limit tanh rounds to 1.
  Real magnitude = atMost(abs(x), x.pick(10.0, 20.0));
  auto [n, r] = splitExponent(magnitude * 2.0);
  Real power = powerOfTwo(n, x);
  Real t = power * reducedMinusOne(r) + (power - 1.0); // e^(2|x|) - 1
  return copySign(t / (t + 2.0), x);
}

Real tanh(Real x) { return x.isDouble() ? tanhByPower(x) : tanhByQuotient(x); }

// With e = e^x and n = e^2 + 2 e it is n / (n + 2): nothing cancels.
Real tanhOfSoftplus(Real x) {
  // Beyond the limit it rounds to 1.
  Real e = expBy(closeExpOfReduced, atMost(x, 20.0));
  Real n = e * (e + 2.0);
  return n / (n + 2.0);
}

Real sinh(Real x) {
  Real magnitude = abs(x);
  double limit = x.pick(20.0, 40.0);
  Real t = expm1(atMost(magnitude, limit));
  Real half = expBy(closeExpOfReduced, magnitude * 0.5);
  Real large = half * 0.5 * half;
  Real small = (t + t / (t + 1.0)) * 0.5;
  return copySign(select(magnitude > limit, large, small), x);
}

Real cosh(Real x) {
  Real half = expBy(closeExpOfReduced, abs(x) * 0.5);
  return half * 0.5 * half + 0.5 / (half * half);
}

} // namespace onnxc::elementary
