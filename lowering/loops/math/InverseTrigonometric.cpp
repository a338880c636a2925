#include "lowering/loops/math/Functions.h"

namespace onnxc::elementary {
namespace {

// (atan(x) / x - 1) / x^2 in x^2, |x| <= tan(pi / 8).
constexpr double tangentF32[] = {-0.3333333134651184, 0.19999542832374573,
                                 -0.1426393985748291, 0.10742662101984024,
                                 -0.06446163356304169};
constexpr double tangentF64[] = {
    -0.3333333333333333,  0.19999999999995377,   -0.14285714284631598,
    0.11111111012105056,  -0.09090904438441053,  0.07692179716223921,
    -0.06664459735965034, 0.05857678970658146,   -0.05082896542070264,
    0.0391555327720663,   -0.019081126296889288,
};

// (asin(x) / x - 1) / x^2 in x^2, |x| <= 1/2.
constexpr double sineF32[] = {0.16666673123836517, 0.0749875158071518,
                              0.04502277821302414, 0.026413649320602417,
                              0.03837401047348976};
constexpr double sineF64[] = {
    0.16666666666666669,  0.07499999999998197,  0.04464285714681589,
    0.030381944103476936, 0.022372174319247953, 0.017352360833777992,
    0.013971680634733467, 0.011474665797661408, 0.010351830128937261,
    0.005334320362704033, 0.017732371955362335, -0.015364102975059392,
    0.029103983468656044,
};

constexpr double halfPi = 1.5707963267948966;

// What rounding takes from multiples of pi / 4.
double lowPart(Real like, double multiple) {
  return multiple * like.pick(-4.371138828673793e-08, 6.123233995736766e-17);
}

Real oddSeries(Real x, llvm::ArrayRef<double> coefficients) {
  Real z = x * x;
  return x * (z * polynomial(z, coefficients)) + x;
}

// atan(numerator / denominator), both not negative.
Real atanOfRatio(Real numerator, Real denominator) {
  Real y = numerator, x = denominator;
  Mask isFlat = !(y > x * 0.41421356237309503);
  Mask isSteep = y * 0.41421356237309503 > x;
  Real top = select(isSteep, -x, select(isFlat, y, y - x));
  Real bottom = select(isSteep, y, select(isFlat, x, y + x));
  Real offset = select(isSteep, y.constant(halfPi),
                       select(isFlat, 0.0, y.constant(halfPi / 2)));
  Real low = select(isSteep, y.constant(lowPart(y, 1)),
                    select(isFlat, 0.0, y.constant(lowPart(y, 0.5))));
  Real series =
      oddSeries(top / bottom, y.isDouble() ? llvm::ArrayRef(tangentF64)
                                           : llvm::ArrayRef(tangentF32));
  return offset + (series + low);
}

// asin x for 0 <= x <= 1/2.
Real asinNear(Real x) {
  return oddSeries(x, x.isDouble() ? llvm::ArrayRef(sineF64)
                                   : llvm::ArrayRef(sineF32));
}

} // namespace

Real atan(Real x) {
  // x / 1 would be infinity / infinity at the end.
  Real magnitude = atMost(abs(x), x.pick(0x1p100, 0x1p1000));
  return copySign(atanOfRatio(magnitude, x.constant(1.0)), x);
}

Real atan2(Real y, Real x) {
  Real height = abs(y), width = abs(x);
  Mask bothInfinite = (height == y.infinity()) & (width == y.infinity());
  height = select(bothInfinite, 1.0, height);
  width = select(bothInfinite, 1.0, width);
  // Sums of large ones would overflow, products of denormals lose bits.
  Mask isLarge = (height > 0x1p100) | (width > 0x1p100);
  Mask isSmall = (height < 0x1p-60) & (width < 0x1p-60);
  Real unit =
      select(isLarge, 0x1p-30, select(isSmall, x.constant(0x1p60), 1.0));
  height = height * unit;
  width = width * unit;
  // 0 / 0 counts as 0 / 1.
  width = select((height == 0.0) & (width == 0.0), 1.0, width);
  Real result = atanOfRatio(height, width);
  Mask isLeft = copySign(x.constant(1.0), x) < 0.0;
  Real mirrored = 2 * halfPi - (result - 2 * lowPart(x, 1));
  result = copySign(select(isLeft, mirrored, result), y);
  return select(isNan(x) | isNan(y), x + y, result);
}

Real asin(Real x) {
  Real magnitude = abs(x);
  Mask isFar = magnitude > 0.5;
  Real root = sqrt((1.0 - magnitude) * 0.5);
  Real near = asinNear(select(isFar, root, magnitude));
  Real far = halfPi - (near * 2.0 - lowPart(x, 1));
  return copySign(select(isFar, far, near), x);
}

Real acos(Real x) {
  Real magnitude = abs(x);
  Mask isFar = magnitude > 0.5, isLeft = x < 0.0;
  Real root = sqrt((1.0 - magnitude) * 0.5);
  Real near = asinNear(select(isFar, root, magnitude));
  Real farResult =
      select(isLeft, 2 * halfPi - (near * 2.0 - 2 * lowPart(x, 1)), near * 2.0);
  Real nearResult = halfPi - (copySign(near, x) - lowPart(x, 1));
  return select(isFar, farResult, nearResult);
}

} // namespace onnxc::elementary
