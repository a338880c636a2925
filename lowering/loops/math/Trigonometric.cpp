// |x| = n * pi / 2 + r, |r| <= pi / 4; n modulo 4 says which polynomial of r
// and which sign. pi / 2 is subtracted in parts whose products with n are
// exact (Cody and Waite); beyond the limit of that, which is rare, in integers.
#include "lowering/loops/math/Functions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace onnxc::elementary {
namespace {

constexpr double partsF32[] = {1.5703125, 0.0004837512969970703,
                               7.549533620476723e-08, 2.5632829192545614e-12,
                               6.123234262925839e-17};
constexpr double partsF64[] = {
    1.57079632673412561417e+00, 6.07710050630396597660e-11,
    2.02226624871116645580e-21, 8.47842766036889956997e-32};

constexpr double sineF32[] = {-0.1666666716337204, 0.008333331905305386,
                              -0.00019840040476992726, 2.724389105424052e-06};
constexpr double sineF64[] = {
    -0.16666666666666666,   0.008333333333330703,    -0.00019841269836390034,
    2.7557315913107235e-06, -2.5051092724304014e-08, 1.5915337022635126e-10,
};
constexpr double cosineF32[] = {0.0416666679084301, -0.00138888880610466,
                                2.4800561732263304e-05, -2.729591130901099e-07};
constexpr double cosineF64[] = {
    0.041666666666666664,   -0.0013888888888887244, 2.480158729853495e-05,
    -2.755731715313201e-07, 2.087612177964984e-09,  -1.1380884626244868e-11,
};

Quadrant quadrantFast(Real magnitude) {
  auto [real, n] = nearest(magnitude * 0.6366197723675814);
  Real r = magnitude;
  for (double part : r.isDouble() ? ArrayRef(partsF64) : ArrayRef(partsF32))
    r = r - real * part;
  return {r, n};
}

Quadrant quadrant(Real magnitude) {
  ImplicitLocOpBuilder &b = *magnitude.builder;
  Quadrant fast = quadrantFast(magnitude);
  Mask isLarge = magnitude > magnitude.pick(12000.0, 1.6e6);
  auto slow = [&](OpBuilder &, Location) {
    auto [r, n] = quadrantSlow(magnitude);
    Value chosen[] = {select(isLarge, r, fast.r).value,
                      select(isLarge, n, fast.n).value};
    scf::YieldOp::create(b, chosen);
  };
  auto keep = [&](OpBuilder &, Location) {
    scf::YieldOp::create(b, ValueRange{fast.r.value, fast.n.value});
  };
  auto choice = scf::IfOp::create(b, anyOf(isLarge), slow, keep);
  return {{&b, choice.getResult(0)}, {&b, choice.getResult(1)}};
}

struct SineCosine {
  Real sine, cosine;
};
SineCosine ofReduced(Real r) {
  bool isDouble = r.isDouble();
  Real z = r * r;
  Real s = polynomial(z, isDouble ? ArrayRef(sineF64) : ArrayRef(sineF32));
  Real c = polynomial(z, isDouble ? ArrayRef(cosineF64) : ArrayRef(cosineF32));
  return {r * (z * s) + r, z * z * c + (1.0 - z * 0.5)};
}

Mask isOdd(Bits n) { return !((n & 1) == 0); }

// Turns the sign where bit 1 of n is set.
Real turn(Real x, Bits n) {
  return realOf(bitsOf(x) ^ ((n & 2) << int64_t(n.width() - 2)), x);
}

} // namespace

Real sin(Real x) {
  auto [r, n] = quadrant(abs(x));
  auto [sine, cosine] = ofReduced(r);
  Real result = turn(select(isOdd(n), cosine, sine), n);
  Bits sign = bitsOf(x) ^ bitsOf(abs(x));
  return realOf(bitsOf(result) ^ sign, x);
}

Real cos(Real x) {
  auto [r, n] = quadrant(abs(x));
  auto [sine, cosine] = ofReduced(r);
  return turn(select(isOdd(n), sine, cosine), n + 1);
}

Real tan(Real x) {
  auto [r, n] = quadrant(abs(x));
  auto [sine, cosine] = ofReduced(r);
  Mask odd = isOdd(n);
  Real result = select(odd, -cosine, sine) / select(odd, sine, cosine);
  Bits sign = bitsOf(x) ^ bitsOf(abs(x));
  return realOf(bitsOf(result) ^ sign, x);
}

} // namespace onnxc::elementary
