#include "lowering/loops/LaneBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace onnxc {
namespace {

bool isVector(Value value) { return isa<VectorType>(value.getType()); }

bool reaches(Value from, Value to, Block *body) {
  if (from == to)
    return true;
  Operation *op = from.getDefiningOp();
  return op && op->getBlock() == body &&
         llvm::any_of(op->getOperands(),
                      [&](Value v) { return reaches(v, to, body); });
}

} // namespace

std::optional<Combiner> combinerOf(linalg::GenericOp op, unsigned output) {
  Block *body = op.getBody();
  Value accumulator = op.getRegionOutputArgs()[output];
  Value yielded = body->getTerminator()->getOperand(output);
  Operation *combiner = yielded.getDefiningOp();
  if (!combiner || combiner->getBlock() != body ||
      combiner->getNumOperands() != 2 || !yielded.hasOneUse() ||
      !accumulator.hasOneUse() || !arith::getNeutralElement(combiner))
    return std::nullopt;
  for (unsigned side : {0, 1})
    if (combiner->getOperand(side) == accumulator &&
        !reaches(combiner->getOperand(1 - side), accumulator, body))
      return Combiner{combiner, combiner->getOperand(1 - side)};
  return std::nullopt;
}

bool isVectorizable(linalg::GenericOp op) {
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (inner.getNumRegions() != 0)
      return false;
    for (Type type : inner.getResultTypes())
      if (!type.isIntOrIndexOrFloat())
        return false;
  }
  return llvm::all_of(op.getBody()->getArgumentTypes(),
                      [](Type type) { return type.isIntOrIndexOrFloat(); });
}

unsigned widestElement(linalg::GenericOp op) {
  unsigned widest = 8;
  auto see = [&](Type type) {
    if (type.isIntOrFloat())
      widest = std::max(widest, type.getIntOrFloatBitWidth());
  };
  for (Type type : op.getBody()->getArgumentTypes())
    see(type);
  for (Operation &inner : op.getBody()->without_terminator())
    if (!isa<arith::ConstantOp>(inner))
      llvm::for_each(inner.getResultTypes(), see);
  return widest;
}

unsigned weightOf(linalg::GenericOp op) {
  unsigned weight = 1;
  for (Operation &inner : op.getBody()->without_terminator())
    weight += isa<math::AbsFOp, math::SqrtOp>(inner)       ? 1
              : isa<math::MathDialect>(inner.getDialect()) ? 16
                                                           : 1;
  return weight;
}

Value LaneBody::get(Value inBody) {
  Value value = values.lookup(inBody);
  return value ? value : inBody; // from outside the body
}

Value LaneBody::spread(Value value) {
  if (lanes == 0 || isVector(value))
    return value;
  auto type = VectorType::get({lanes}, value.getType());
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, constant));
  return vector::BroadcastOp::create(b, type, value);
}

void LaneBody::run(Block *body, llvm::function_ref<Value(unsigned dim)> index,
                   ArrayRef<Operation *> without) {
  for (Operation &op : body->without_terminator()) {
    if (llvm::is_contained(without, &op))
      continue;
    if (auto place = dyn_cast<linalg::IndexOp>(op))
      set(place, index(place.getDim()));
    else
      runOperation(op);
  }
}

void LaneBody::runOperation(Operation &op) {
  bool varies =
      llvm::any_of(op.getOperands(), [&](Value v) { return isVector(get(v)); });
  if (varies && !OpTrait::hasElementwiseMappableTraits(&op))
    return runEachLane(op);
  IRMapping mapping;
  if (op.getNumRegions() != 0)
    for (auto &[from, to] : values)
      mapping.map(from, to);
  for (Value operand : op.getOperands())
    mapping.map(operand, varies ? spread(get(operand)) : get(operand));
  Operation *clone = b.clone(op, mapping);
  for (auto [from, to] : llvm::zip(op.getResults(), clone->getResults())) {
    if (varies)
      to.setType(VectorType::get({lanes}, from.getType()));
    set(from, to);
  }
}

// What has no vector form (a load at indices that differ) runs per lane.
void LaneBody::runEachLane(Operation &op) {
  SmallVector<SmallVector<Value>> results(op.getNumResults());
  for (int64_t lane = 0; lane < lanes; ++lane) {
    IRMapping mapping;
    for (Value operand : op.getOperands()) {
      Value value = get(operand);
      if (isVector(value))
        value = vector::ExtractOp::create(b, value, lane);
      mapping.map(operand, value);
    }
    for (auto [i, result] : llvm::enumerate(b.clone(op, mapping)->getResults()))
      results[i].push_back(result);
  }
  for (auto [from, all] : llvm::zip(op.getResults(), results)) {
    auto type = VectorType::get({lanes}, from.getType());
    set(from, vector::FromElementsOp::create(b, type, all));
  }
}

Value LaneBody::combine(const Combiner &combiner, Value lhs, Value rhs) {
  IRMapping mapping;
  bool accumulatorFirst = combiner.op->getOperand(1) == combiner.folded;
  mapping.map(combiner.op->getOperand(0), accumulatorFirst ? lhs : rhs);
  mapping.map(combiner.op->getOperand(1), accumulatorFirst ? rhs : lhs);
  Operation *clone = b.clone(*combiner.op, mapping);
  clone->getResult(0).setType(lhs.getType());
  return clone->getResult(0);
}

} // namespace onnxc
