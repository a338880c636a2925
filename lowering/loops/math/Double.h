// A number as the unevaluated sum of two floats: twice the precision. Dekker's
// and Knuth's error-free transformations, without contraction and without a
// fused multiply-add, so that every machine computes the same.
#pragma once
#include "lowering/loops/math/Real.h"

namespace onnxc::elementary {

struct Double {
  Real high, low;
};

// The upper half of the mantissa, by its bits: nothing overflows.
Real upperHalf(Real a);
Double sum(Real a, Real b);
Double product(Real a, Real b);
Double operator+(Double a, Double b);
Double operator*(Double a, Double b);
Double operator*(Double a, Real b);
Double operator/(Double a, Double b);

} // namespace onnxc::elementary
