#include "lowering/loops/IndexMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace onnxc {

Value asValue(ImplicitLocOpBuilder &b, OpFoldResult index) {
  if (auto value = dyn_cast<Value>(index))
    return value;
  return arith::ConstantIndexOp::create(b, *getConstantIntValue(index));
}

OpFoldResult add(ImplicitLocOpBuilder &b, OpFoldResult lhs, OpFoldResult rhs) {
  std::optional<int64_t> x = getConstantIntValue(lhs),
                         y = getConstantIntValue(rhs);
  if (x && y)
    return number(b, *x + *y);
  if (x == 0)
    return rhs;
  if (y == 0)
    return lhs;
  return OpFoldResult(
      arith::AddIOp::create(b, asValue(b, lhs), asValue(b, rhs)).getResult());
}

OpFoldResult subtract(ImplicitLocOpBuilder &b, OpFoldResult lhs,
                      OpFoldResult rhs) {
  std::optional<int64_t> x = getConstantIntValue(lhs),
                         y = getConstantIntValue(rhs);
  if (x && y)
    return number(b, *x - *y);
  if (y == 0)
    return lhs;
  return OpFoldResult(
      arith::SubIOp::create(b, asValue(b, lhs), asValue(b, rhs)).getResult());
}

OpFoldResult multiply(ImplicitLocOpBuilder &b, OpFoldResult lhs,
                      OpFoldResult rhs) {
  std::optional<int64_t> x = getConstantIntValue(lhs),
                         y = getConstantIntValue(rhs);
  if (x && y)
    return number(b, *x * *y);
  if (x == 0 || y == 0)
    return number(b, 0);
  if (x == 1)
    return rhs;
  if (y == 1)
    return lhs;
  return OpFoldResult(
      arith::MulIOp::create(b, asValue(b, lhs), asValue(b, rhs)).getResult());
}

OpFoldResult floorDivide(ImplicitLocOpBuilder &b, OpFoldResult lhs,
                         int64_t rhs) {
  if (rhs == 1)
    return lhs;
  if (std::optional<int64_t> x = getConstantIntValue(lhs))
    return number(b, llvm::divideFloorSigned(*x, rhs));
  return OpFoldResult(arith::FloorDivSIOp::create(b, asValue(b, lhs),
                                                  asValue(b, number(b, rhs)))
                          .getResult());
}

OpFoldResult ceilDivide(ImplicitLocOpBuilder &b, OpFoldResult lhs,
                        OpFoldResult rhs) {
  std::optional<int64_t> x = getConstantIntValue(lhs),
                         y = getConstantIntValue(rhs);
  if (x && y)
    return number(b, llvm::divideCeil(*x, *y));
  if (y == 1)
    return lhs;
  return OpFoldResult(
      arith::CeilDivUIOp::create(b, asValue(b, lhs), asValue(b, rhs))
          .getResult());
}

// One of two indices, which arith's operation chooses where they are unknown.
template <typename Op>
static OpFoldResult
choose(ImplicitLocOpBuilder &b, OpFoldResult lhs, OpFoldResult rhs,
       const int64_t &(*known)(const int64_t &, const int64_t &)) {
  std::optional<int64_t> x = getConstantIntValue(lhs),
                         y = getConstantIntValue(rhs);
  if (x && y)
    return number(b, known(*x, *y));
  return OpFoldResult(
      Op::create(b, asValue(b, lhs), asValue(b, rhs)).getResult());
}

OpFoldResult minimum(ImplicitLocOpBuilder &b, OpFoldResult lhs,
                     OpFoldResult rhs) {
  return choose<arith::MinSIOp>(b, lhs, rhs, std::min<int64_t>);
}

OpFoldResult maximum(ImplicitLocOpBuilder &b, OpFoldResult lhs,
                     OpFoldResult rhs) {
  return choose<arith::MaxSIOp>(b, lhs, rhs, std::max<int64_t>);
}

Value laneOffsets(ImplicitLocOpBuilder &b, int64_t lanes, OpFoldResult stride) {
  auto type = VectorType::get({lanes}, b.getIndexType());
  std::optional<int64_t> known = getConstantIntValue(stride);
  SmallVector<Attribute> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(b.getIndexAttr(lane * known.value_or(1)));
  Value offsets =
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, numbers));
  if (known)
    return offsets;
  Value every = vector::BroadcastOp::create(b, type, asValue(b, stride));
  return arith::MulIOp::create(b, offsets, every);
}

Value firstLanes(ImplicitLocOpBuilder &b, int64_t lanes, OpFoldResult count) {
  SmallVector<int32_t> numbers = llvm::to_vector(llvm::seq<int32_t>(lanes));
  auto type = VectorType::get({lanes}, b.getI32Type());
  if (std::optional<int64_t> known = getConstantIntValue(count)) {
    auto exists = llvm::map_to_vector(
        numbers, [&](int32_t lane) { return lane < *known; });
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(type.clone(b.getI1Type()),
                                  ArrayRef<bool>(exists)));
  }
  Value lane = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
  Value end = vector::BroadcastOp::create(
      b, type,
      arith::IndexCastOp::create(b, b.getI32Type(), asValue(b, count)));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, lane, end);
}

} // namespace onnxc
