// A number as the unevaluated sum of two floats: twice the precision. Dekker's
// and Knuth's error-free transformations, without contraction, so that every
// machine computes the same.
#pragma once
#include "lowering/loops/math/Real.h"

namespace onnxc::elementary {

struct Double {
  Real high, low;
};

Double sum(Real a, Real b);
// |a| >= |b|, or both in [1, 2)
Double quickSum(Real a, Real b);
// The upper half of the mantissa, by its bits: nothing overflows.
Real upperHalf(Real a);
// With a fused multiply-add, which is one of Double.cpp's own functions where
// the machine has none.
Double product(Real a, Real b);
// That function: right to the last bit where the sum cancels.
Real fma(Real a, Real b, Real c);
// a - b * c, rounded once.
Real minusProduct(Real a, Real b, Real c);
Double operator+(Double a, Double b);
Double operator*(Double a, Double b);
Double operator*(Double a, Real b);
Double operator/(Double a, Double b);

} // namespace onnxc::elementary
