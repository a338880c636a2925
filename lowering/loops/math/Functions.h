// Elementary functions for f32 and f64, scalar and vector, to 4 units in the
// last place (tanh and erf 5), right at NaN, infinities, -0 and denormals.
// No table, no call, no loop, except where the name ends in "Slow".
#pragma once
#include "lowering/loops/math/Real.h"

namespace onnxc::elementary {

// Exponential.cpp
Real exp(Real x);
// The same for x86, which takes some 150 cycles for each vector that has a
// number too small to be one where a multiplication makes it.
Real expOrNothing(Real x);
Real expOrNothingByPower(Real x); // without an instruction that scales
Real expOfNegative(Real x);       // e^-x
Real expOfNegativeOrNothing(Real x);
// 1 + e^-x of f32: of 1 nothing is left to see of subnormal powers.
Real onePlusExpOfNegative(Real x);
Real onePlusExpOfNegativeByPower(Real x); // without an instruction that scales
// Of a math.exp whose operand is at most 0, or NaN.
inline constexpr llvm::StringLiteral atMostZeroAttrName = "onnxc.at_most_zero";
// e^x of f32 for x <= exponentOfInfinity, of which it is infinite, and 0 for x
// < leastExponent: a little above the smallest normal number.
inline constexpr float leastExponent = -86.98997f;
inline constexpr double exponentOfInfinity = 89;
Real expOrZero(Real x);
Real expOrZeroByPower(Real x); // without an instruction that scales
Real exp2(Real x);
Real expm1(Real x);
Real tanh(Real x); // with multiply-adds that round once
Real tanhByPower(Real x);
// tanh(log(1 + e^x))
Real tanhOfSoftplus(Real x);
Real sinh(Real x);
Real cosh(Real x);
// 2^n and r of e^x = 2^n * e^r, |r| <= ln 2 / 2; and e^r.
struct Exponent {
  Bits n;
  Real r;
};
Exponent splitExponent(Real x);
Real expOfReduced(Real r);

// Logarithm.cpp
Real log(Real x);
Real log2(Real x);
Real log10(Real x);
Real log1p(Real x);
// For x in [0, 1] or NaN.
Real log1pToOne(Real x);
Real asinh(Real x);
Real acosh(Real x);
Real atanh(Real x);
// x = 2^n * m, m in [sqrt(1/2), sqrt(2)), for x > 0, denormals too.
struct Mantissa {
  Bits n;
  Real m;
};
Mantissa splitMantissa(Real x);
// For normal x > 0.
Mantissa splitNormal(Real x);

// Trigonometric.cpp
Real sin(Real x);
Real cos(Real x);
Real tan(Real x);

// InverseTrigonometric.cpp
Real asin(Real x);
Real acos(Real x);
Real atan(Real x);
Real atan2(Real y, Real x);

// ErrorFunction.cpp
Real erf(Real x);

// Power.cpp
Real pow(Real base, Real exponent);
Real cbrt(Real x);
Real rsqrt(Real x);

// Rounding.cpp: for machines without such an instruction.
Real trunc(Real x);
Real floor(Real x);
Real ceil(Real x);
Real roundToEven(Real x);
Real roundAway(Real x);
Real greaterNumber(Real a, Real b);
Real lesserNumber(Real a, Real b);

// Remainder.cpp: of x / y with the sign of x, exactly.
Real remainder(Real x, Real y);

// Slow.cpp: scalar helper functions in the module, called for each lane.
// The same for quotients of any size.
Real remainderSlow(Real x, Real y);
// x - n * pi / 2 and n modulo 4 for any finite x >= 0.
struct Quadrant {
  Real r;
  Bits n;
};
Quadrant quadrantSlow(Real x);

} // namespace onnxc::elementary
