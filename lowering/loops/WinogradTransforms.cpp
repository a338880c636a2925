#include "lowering/loops/WinogradTransforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace onnxc {

namespace {
constexpr double a = 0.75, b2 = 2.25, a2 = a * a, beta = 1.5;
} // namespace

static Value splat(ImplicitLocOpBuilder &b, VectorType type, double value) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, b.getF32FloatAttr(value)));
}

Value WinogradTransforms::sum(Value x, Value y) {
  return arith::AddFOp::create(b, x, y);
}

Value WinogradTransforms::difference(Value x, Value y) {
  return arith::SubFOp::create(b, x, y);
}

Value WinogradTransforms::scale(double factor, Value x) {
  return arith::MulFOp::create(b, splat(b, type, factor), x);
}

Value WinogradTransforms::scaleAdd(double factor, Value x, Value y) {
  return vector::FMAOp::create(b, splat(b, type, factor), x, y);
}

SmallVector<Value> WinogradTransforms::input(ArrayRef<Value> d) {
  if (tile == 2)
    return {difference(d[0], d[2]), sum(d[1], d[2]), difference(d[2], d[1]),
            difference(d[3], d[1])};
  Value u = scaleAdd(-b2, d[2], d[4]), x = scaleAdd(-a2, d[2], d[4]);
  Value w = scale(a, scaleAdd(-b2, d[1], d[3]));
  Value y = scale(beta, scaleAdd(-a2, d[1], d[3]));
  return {scaleAdd(a2 * b2, d[0], scaleAdd(-(a2 + b2), d[2], d[4])),
          sum(u, w),
          difference(u, w),
          sum(x, y),
          difference(x, y),
          scaleAdd(a2 * b2, d[1], scaleAdd(-(a2 + b2), d[3], d[5]))};
}

SmallVector<Value> WinogradTransforms::output(ArrayRef<Value> m) {
  if (tile == 2)
    return {sum(m[0], sum(m[1], m[2])), sum(difference(m[1], m[2]), m[3])};
  Value p = sum(m[1], m[2]), q = difference(m[1], m[2]);
  Value r = sum(m[3], m[4]), s = difference(m[3], m[4]);
  SmallVector<Value> elements = {sum(m[0], sum(p, r))};
  double ofA = 1, ofB = 1; // powers of both points
  for (int64_t i = 1; i < tile; ++i) {
    ofA *= a;
    ofB *= beta;
    auto [x, y] = i % 2 ? std::pair(q, s) : std::pair(p, r);
    Value far = i + 1 == tile ? scaleAdd(ofB, y, m[5]) : scale(ofB, y);
    elements.push_back(scaleAdd(ofA, x, far));
  }
  return elements;
}

} // namespace onnxc
