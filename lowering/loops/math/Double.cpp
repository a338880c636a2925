#include "lowering/loops/math/Double.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace onnxc::elementary {
namespace {

Real exactly(Value value, Real like) { return {like.builder, value}; }
Real add(Real a, Real b) {
  return exactly(arith::AddFOp::create(*a.builder, a.value, b.value), a);
}
Real subtract(Real a, Real b) {
  return exactly(arith::SubFOp::create(*a.builder, a.value, b.value), a);
}
Real multiply(Real a, Real b) {
  return exactly(arith::MulFOp::create(*a.builder, a.value, b.value), a);
}

Real fused(Real a, Real b, Real c) {
  return exactly(math::FmaOp::create(*a.builder, a.value, b.value, c.value), a);
}

} // namespace

Real upperHalf(Real a) {
  int64_t mask = a.isDouble() ? ~int64_t(0x7ffffff) : ~int64_t(0xfff);
  return realOf(bitsOf(a) & mask, a);
}

Double sum(Real a, Real b) {
  Real high = add(a, b);
  Real seen = subtract(high, a);
  Real low = add(subtract(a, subtract(high, seen)), subtract(b, seen));
  return {high, low};
}

Double quickSum(Real a, Real b) {
  Real high = add(a, b);
  return {high, subtract(b, subtract(high, a))};
}

static Double productInSteps(Real a, Real b) {
  Real high = multiply(a, b);
  Real aHigh = upperHalf(a), bHigh = upperHalf(b);
  Real aLow = subtract(a, aHigh), bLow = subtract(b, bHigh);
  Real low = subtract(multiply(aHigh, bHigh), high);
  low = add(low, multiply(aHigh, bLow));
  low = add(low, multiply(aLow, bHigh));
  return {high, add(low, multiply(aLow, bLow))};
}

// Right to the last bit where a * b + c cancels.
Real fma(Real a, Real b, Real c) {
  Double whole = productInSteps(a, b), high = sum(whole.high, c);
  return add(high.high, add(high.low, whole.low));
}

Double product(Real a, Real b) {
  Real high = multiply(a, b);
  return {high, fused(a, b, -high)};
}

Real minusProduct(Real a, Real b, Real c) { return fused(-b, c, a); }

Double operator+(Double a, Double b) {
  Double high = sum(a.high, b.high);
  return quickSum(high.high, add(high.low, add(a.low, b.low)));
}

Double operator*(Double a, Double b) {
  Double high = product(a.high, b.high);
  Real cross = add(multiply(a.high, b.low), multiply(a.low, b.high));
  return quickSum(high.high, add(high.low, cross));
}

Double operator*(Double a, Real b) {
  Double high = product(a.high, b);
  return quickSum(high.high, add(high.low, multiply(a.low, b)));
}

Double operator/(Double a, Double b) {
  Real first = a.high / b.high;
  Double back = b * first;
  // a - back, whose upper parts cancel.
  Real rest = add(subtract(a.high, back.high), subtract(a.low, back.low));
  return quickSum(first, rest / b.high);
}

} // namespace onnxc::elementary
