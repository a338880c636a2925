// What a machine without the instruction would ask a library for.
#include "lowering/loops/math/Functions.h"

namespace onnxc::elementary {
namespace {

// Above it there are no fractions.
double wholeFrom(Real x) { return x.pick(0x1p23, 0x1p52); }

// To even, of the magnitude.
Real nearestOfMagnitude(Real magnitude) {
  return (magnitude + wholeFrom(magnitude)) - wholeFrom(magnitude);
}

// NaN and what has no fraction stay; so does the sign of a zero.
Real finish(Real x, Real rounded) {
  return select(abs(x) < wholeFrom(x), copySign(rounded, x), x);
}

} // namespace

Real roundToEven(Real x) { return finish(x, nearestOfMagnitude(abs(x))); }

Real trunc(Real x) {
  Real magnitude = abs(x), rounded = nearestOfMagnitude(magnitude);
  return finish(x, select(rounded > magnitude, rounded - 1.0, rounded));
}

Real roundAway(Real x) {
  Real magnitude = abs(x), rounded = nearestOfMagnitude(magnitude);
  Mask isHalfDown = (magnitude - rounded) == 0.5;
  return finish(x, select(isHalfDown, rounded + 1.0, rounded));
}

Real floor(Real x) {
  Real nearest = roundToEven(x);
  return select(nearest > x, nearest - 1.0, nearest);
}

Real ceil(Real x) {
  Real nearest = roundToEven(x);
  // -0.5 becomes -0.
  return select(nearest < x, copySign(nearest + 1.0, x), nearest);
}

Real greaterNumber(Real a, Real b) { return select(isNan(a) | (b > a), b, a); }
Real lesserNumber(Real a, Real b) { return select(isNan(a) | (b < a), b, a); }

} // namespace onnxc::elementary
