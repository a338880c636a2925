// Formulas on floating-point values, scalar or vector alike: `r + r * r * q`.
// Products and sums carry `contract`, so that a machine with a fused
// multiply-add uses it and another one is still right; the error-free
// transformations of Double.h carry nothing.
#pragma once
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxc::elementary {

struct Mask {
  mlir::ImplicitLocOpBuilder *builder;
  mlir::Value value;
};

// An integer as wide as the float it was taken from.
struct Bits {
  mlir::ImplicitLocOpBuilder *builder;
  mlir::Value value;

  Bits constant(int64_t number) const;
  unsigned width() const;
};

struct Real {
  mlir::ImplicitLocOpBuilder *builder;
  mlir::Value value;

  Real constant(double number) const;
  bool isDouble() const;
  // Explicit mantissa bits: 23 or 52.
  int mantissa() const { return isDouble() ? 52 : 23; }
  int bias() const { return isDouble() ? 1023 : 127; }
  double infinity() const { return std::numeric_limits<double>::infinity(); }
  Real nan() const;
  // The constant of this element type.
  template <typename T> T pick(T single, T twice) const {
    return isDouble() ? twice : single;
  }
};

Real operator+(Real a, Real b);
Real operator-(Real a, Real b);
Real operator*(Real a, Real b);
Real operator/(Real a, Real b);
Real operator-(Real x);
inline Real operator+(Real a, double b) { return a + a.constant(b); }
inline Real operator-(Real a, double b) { return a - a.constant(b); }
inline Real operator*(Real a, double b) { return a * a.constant(b); }
inline Real operator/(Real a, double b) { return a / a.constant(b); }
inline Real operator+(double a, Real b) { return b.constant(a) + b; }
inline Real operator-(double a, Real b) { return b.constant(a) - b; }
inline Real operator*(double a, Real b) { return b.constant(a) * b; }
inline Real operator/(double a, Real b) { return b.constant(a) / b; }

// Ordered comparisons: false if one is NaN.
Mask operator<(Real a, Real b);
Mask operator>(Real a, Real b);
Mask operator>=(Real a, Real b);
Mask operator==(Real a, Real b);
inline Mask operator<(Real a, double b) { return a < a.constant(b); }
inline Mask operator>(Real a, double b) { return a > a.constant(b); }
inline Mask operator>=(Real a, double b) { return a >= a.constant(b); }
inline Mask operator==(Real a, double b) { return a == a.constant(b); }
Mask isNan(Real x);
// Whether it holds for a lane.
mlir::Value anyOf(Mask mask);

Mask operator&(Mask a, Mask b);
Mask operator|(Mask a, Mask b);
Mask operator^(Mask a, Mask b);
Mask operator!(Mask a);

Bits operator+(Bits a, Bits b);
Bits operator-(Bits a, Bits b);
Bits operator&(Bits a, Bits b);
Bits operator|(Bits a, Bits b);
Bits operator^(Bits a, Bits b);
Bits operator*(Bits a, Bits b);
Mask operator==(Bits a, Bits b);
Mask isBelow(Bits a, Bits b); // unsigned
inline Bits operator+(Bits a, int64_t b) { return a + a.constant(b); }
inline Bits operator-(Bits a, int64_t b) { return a - a.constant(b); }
inline Bits operator&(Bits a, int64_t b) { return a & a.constant(b); }
inline Bits operator*(Bits a, int64_t b) { return a * a.constant(b); }
inline Mask operator==(Bits a, int64_t b) { return a == a.constant(b); }
Bits operator<<(Bits a, int64_t places);
Bits operator>>(Bits a, int64_t places); // arithmetic
Bits logicalShiftRight(Bits a, int64_t places);

Real select(Mask condition, Real yes, Real no);
Bits select(Mask condition, Bits yes, Bits no);
inline Real select(Mask condition, double yes, Real no) {
  return select(condition, no.constant(yes), no);
}
inline Real select(Mask condition, Real yes, double no) {
  return select(condition, yes, yes.constant(no));
}
// Limits that leave NaN alone.
inline Real atMost(Real x, double limit) {
  return select(x > limit, x.constant(limit), x);
}
inline Real atLeast(Real x, double limit) {
  return select(x < limit, x.constant(limit), x);
}

Real abs(Real x);
Real sqrt(Real x);
Real copySign(Real magnitude, Real sign);
Bits bitsOf(Real x);
Real realOf(Bits bits, Real like);
// The value of a small integer (below 2^22), by its bits: AVX2 has no
// conversion of 64-bit integers.
Real toReal(Bits integer, Real like);

// The nearest integer, ties to even, of a value that is small enough for the
// addition of 1.5 * 2^mantissa to keep it; as a float and as an integer.
struct Nearest {
  Real real;
  Bits integer;
};
Nearest nearest(Real x);
// The float, where `n` is such an integer of type `like`.
std::optional<Real> realOfNearest(Bits n, Real like);

// 2^n for a normal result.
Real powerOfTwo(Bits n, Real like);
// x * 2^n, right also where it overflows or is denormal.
Real scale(Real x, Bits n);
inline constexpr llvm::StringLiteral scaleIntrinsic = "llvm.ldexp";
// The same for machines without such an instruction.
Real scaleInSteps(Real x, Bits n);
// coefficients[0] + coefficients[1] * x + ...
Real polynomial(Real x, llvm::ArrayRef<double> coefficients);
// The same by sums of pairs, pairs of pairs, ...: Estrin's scheme. One product
// more, but few that wait for each other.
Real polynomialInPairs(Real x, llvm::ArrayRef<double> coefficients);

} // namespace onnxc::elementary
