// The remainder of a division, exactly. q is the nearest integer to x / y;
// while it is small, its products with the two halves of y are exact, and so is
// what they leave of x. Large quotients, which are rare, take a loop of
// integers.
#include "lowering/loops/math/Double.h"
#include "lowering/loops/math/Functions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace onnxc::elementary {
namespace {

// |x| - q |y| is at most half of |y| but for the rounding of x / y: it fits
// into the mantissa, as it does while the lower half of y is still in it.
Real remainderFast(Real magnitude, Real size, Real quotient) {
  double whole = size.pick(0x1p23, 0x1p52);
  Real q = (quotient + whole) - whole;
  Real upper = upperHalf(size);
  Real rest = (magnitude - q * upper) - q * (size - upper);
  return select(rest < 0.0, rest + size, rest);
}

} // namespace

Real remainder(Real x, Real y) {
  Real magnitude = abs(x), size = abs(y), quotient = magnitude / size;
  Real fast = remainderFast(magnitude, size, quotient);
  fast = select(magnitude < size, magnitude, fast);
  // NaN is not below; and no product may overflow.
  Mask isSmall = (quotient < x.pick(0x1p10, 0x1p24)) &
                 (magnitude < x.pick(0x1p126, 0x1p1022));
  ImplicitLocOpBuilder &b = *x.builder;
  auto slow = [&](OpBuilder &, Location) {
    scf::YieldOp::create(b, remainderSlow(x, y).value);
  };
  auto keep = [&](OpBuilder &, Location) {
    scf::YieldOp::create(b, copySign(fast, x).value);
  };
  auto choice = scf::IfOp::create(b, anyOf(!isSmall), slow, keep);
  return {&b, choice.getResult(0)};
}

} // namespace onnxc::elementary
