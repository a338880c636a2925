#include "lowering/tensor/irregular/SortOrder.h"
#include "dialects/onnxc/Onnxc.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace onnxc {

int64_t lanesOfKeys(TopKOp op, const Input &x, Index k) {
  auto module = op->getParentOfType<ModuleOp>();
  auto target = module->getAttrOfType<TargetAttr>(targetAttrName);
  Type type = getElementTypeOrSelf(x.lowered);
  if (!target || !k.number || k.is(0) || !type.isIntOrFloat() ||
      type.getIntOrFloatBitWidth() < 32)
    return 0;
  int64_t lanes = target.getVectorBits() / type.getIntOrFloatBitWidth();
  return lanes >= 4 ? lanes : 0;
}

SortOrder::SortOrder(const Input &x, bool largest)
    : element(x.element), stored(getElementTypeOrSelf(x.lowered)),
      largest(largest), keys(IntegerType::get(stored.getContext(),
                                              stored.getIntOrFloatBitWidth())) {
}

Value SortOrder::splat(ImplicitLocOpBuilder &b, Type like,
                       const APInt &number) const {
  TypedAttr value = b.getIntegerAttr(keys, number);
  if (auto vector = dyn_cast<VectorType>(like))
    value = DenseElementsAttr::get(vector.clone(keys), Attribute(value));
  return arith::ConstantOp::create(b, value);
}

// Of a float: its bits in the order of its value. Zeros are equal, NaN is just
// beyond infinity, so that the least key of all is of none.
Value SortOrder::keyOfFloat(ImplicitLocOpBuilder &b, Value element) const {
  unsigned bits = keys.getWidth();
  Type type = keys;
  if (auto vector = dyn_cast<VectorType>(element.getType()))
    type = vector.clone(keys);
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(element.getType()));
  Value isZero =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, element, zero);
  Value isNan =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, element, element);
  element = arith::SelectOp::create(b, isZero, zero, element);
  Value key = arith::BitcastOp::create(b, type, element);
  Value sign =
      arith::ShRSIOp::create(b, key, splat(b, type, APInt(bits, bits - 1)));
  Value turned = arith::AndIOp::create(
      b, sign, splat(b, type, APInt::getSignedMaxValue(bits)));
  key = arith::XOrIOp::create(b, key, turned);
  APInt beyond = APFloat::getInf(cast<FloatType>(stored).getFloatSemantics())
                     .bitcastToAPInt() +
                 1;
  return arith::SelectOp::create(b, isNan, splat(b, type, beyond), key);
}

Value SortOrder::keyOf(ImplicitLocOpBuilder &b, Value value) const {
  Value key = isa<FloatType>(stored) ? keyOfFloat(b, value) : value;
  unsigned bits = keys.getWidth();
  APInt turned = APInt::getZero(bits);
  if (element.isUnsignedInteger())
    turned = APInt::getSignedMinValue(bits);
  if (!largest)
    turned.flipAllBits();
  return turned.isZero()
             ? key
             : arith::XOrIOp::create(b, key, splat(b, key.getType(), turned));
}

} // namespace onnxc
