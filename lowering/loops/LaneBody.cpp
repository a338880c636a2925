#include "lowering/loops/LaneBody.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/loops/IndexMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

bool sumsFloats(const Combiner &combiner) {
  auto wide = combiner.folded.getDefiningOp<arith::ExtFOp>();
  return wide && wide.getIn().getType().isF32() && wide->hasOneUse() &&
         isa<arith::AddFOp>(combiner.op);
}

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

// A sum with what stays counts as its other term does, a difference from what
// stays the other way around.
static Change changeOfResult(Operation &op,
                             llvm::function_ref<Change(Value)> change) {
  SmallVector<Change> moving;
  for (Value operand : op.getOperands())
    if (Change found = change(operand); found != Change::None)
      moving.push_back(found);
  if (moving.empty())
    return Change::None;
  if (!isa<arith::AddIOp, arith::SubIOp, arith::IndexCastOp>(op) ||
      moving.size() != 1 || moving[0] == Change::Any)
    return Change::Any;
  bool isSubtracted =
      isa<arith::SubIOp>(op) && change(op.getOperand(0)) == Change::None;
  bool isBack = (moving[0] == Change::BackByOne) != isSubtracted;
  return isBack ? Change::BackByOne : Change::ByOne;
}

Changes::Changes(linalg::GenericOp op,
                 llvm::function_ref<bool(unsigned operand)> moves,
                 llvm::function_ref<Change(unsigned dim)> ofIndex) {
  for (BlockArgument argument : op.getBody()->getArguments())
    changes[argument] =
        moves(argument.getArgNumber()) ? Change::Any : Change::None;
  for (Operation &inner : op.getBody()->without_terminator()) {
    auto index = dyn_cast<linalg::IndexOp>(inner);
    Change change = index
                        ? ofIndex(index.getDim())
                        : changeOfResult(inner, [&](Value v) { return of(v); });
    for (Value result : inner.getResults())
      changes[result] = change;
  }
}

Change Changes::of(Value value) const {
  auto known = changes.find(value);
  return known == changes.end() ? Change::None : known->second;
}

LoadForm loadFormOf(memref::LoadOp load, int64_t lanes, bool permutes,
                    llvm::function_ref<Change(Value)> change) {
  auto stays = [&](Value v) { return change(v) == Change::None; };
  if (llvm::all_of(load.getIndices(), stays))
    return LoadForm::Element;
  MemRefType type = load.getMemRefType();
  Value last = load.getIndices().back();
  auto [strides, offset] = type.getStridesAndOffset();
  if (!llvm::all_of(load.getIndices().drop_back(), stays) ||
      strides.back() != 1)
    return LoadForm::EachLane;
  if (change(last) == Change::ByOne || change(last) == Change::BackByOne)
    return LoadForm::Vector;
  bool fits = permutes && type.getElementTypeBitWidth() == 32;
  return fits && last.getDefiningOp<CreepOp>() ? LoadForm::Window
                                               : LoadForm::EachLane;
}

unsigned widestElement(linalg::GenericOp op, const Changes &changes) {
  unsigned widest = 8;
  auto see = [&](Value value) {
    if (value.getType().isIntOrFloat() && !changes.isSame(value))
      widest = std::max(widest, value.getType().getIntOrFloatBitWidth());
  };
  llvm::for_each(op.getBody()->getArguments(), see);
  for (Operation &inner : op.getBody()->without_terminator())
    llvm::for_each(inner.getResults(), see);
  return widest;
}

unsigned weightOf(linalg::GenericOp op) {
  unsigned weight = 1;
  for (Operation &inner : op.getBody()->without_terminator())
    weight += isa<math::AbsFOp, math::SqrtOp>(inner)       ? 1
              : isa<math::MathDialect>(inner.getDialect()) ? weightOfFunction
                                                           : 1;
  return weight;
}

Value LaneBody::get(Value inBody) {
  if (Value value = values.lookup(inBody))
    return value;
  Count count = counts.lookup(inBody);
  if (!count.first)
    return inBody; // from outside the body
  auto type = VectorType::get({lanes}, count.first.getType());
  SmallVector<Attribute> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(
        b.getIntegerAttr(type.getElementType(), count.isBack ? -lane : lane));
  Value steps =
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, numbers));
  Value value = arith::AddIOp::create(
      b, vector::BroadcastOp::create(b, type, count.first), steps);
  set(inBody, value);
  return value;
}

Change LaneBody::changeOf(Value inBody) const {
  if (Count count = counts.lookup(inBody); count.first)
    return count.isBack ? Change::BackByOne : Change::ByOne;
  Value value = values.lookup(inBody);
  return value && isVector(value) ? Change::Any : Change::None;
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

void LaneBody::run(Block *body,
                   llvm::function_ref<LanePosition(unsigned dim)> index,
                   ArrayRef<Operation *> without) {
  for (Operation &op : body->without_terminator()) {
    if (llvm::is_contained(without, &op) ||
        llvm::any_of(op.getResults(), [&](Value v) { return values.count(v); }))
      continue;
    auto place = dyn_cast<linalg::IndexOp>(op);
    if (!place) {
      runOperation(op);
      continue;
    }
    LanePosition position = index(place.getDim());
    if (lanes && position.countsUp)
      counts[place] = {position.first};
    else
      set(place, position.first);
  }
}

void LaneBody::runOperation(Operation &op) {
  auto change = [&](Value v) { return changeOf(v); };
  Change result = changeOfResult(op, change);
  auto load = dyn_cast<memref::LoadOp>(op);
  if (load && runLoad(load))
    return;
  if (result == Change::Any && !OpTrait::hasElementwiseMappableTraits(&op))
    return runEachLane(op);
  IRMapping mapping;
  if (op.getNumRegions() != 0)
    for (auto &[from, to] : values)
      mapping.map(from, to);
  bool isCount = result == Change::ByOne || result == Change::BackByOne;
  for (Value operand : op.getOperands())
    if (result == Change::Any)
      mapping.map(operand, spread(get(operand)));
    else
      mapping.map(operand, change(operand) == Change::None
                               ? get(operand)
                               : counts.lookup(operand).first);
  Operation *clone = b.clone(op, mapping);
  for (auto [from, to] : llvm::zip(op.getResults(), clone->getResults())) {
    if (result == Change::Any)
      to.setType(VectorType::get({lanes}, from.getType()));
    if (isCount)
      counts[from] = {to, result == Change::BackByOne};
    else
      set(from, to);
  }
}

bool LaneBody::runLoad(memref::LoadOp load) {
  switch (
      loadFormOf(load, lanes, permutes, [&](Value v) { return changeOf(v); })) {
  case LoadForm::Vector:
    set(load, loadVector(load));
    return true;
  case LoadForm::Window:
    set(load, loadWindow(load));
    return true;
  case LoadForm::Element:
  case LoadForm::EachLane:
    return false;
  }
}

Value LaneBody::loadVector(memref::LoadOp load) {
  Count count = counts.lookup(load.getIndices().back());
  return count.isBack ? loadBackwards(load) : loadSide(load, count.first, mask);
}

// The first lane is the last element.
Value LaneBody::loadBackwards(memref::LoadOp load) {
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, lanes)));
  auto reversed = [&](Value vector) {
    return vector::ShuffleOp::create(b, vector, vector, order).getResult();
  };
  Value last = counts.lookup(load.getIndices().back()).first;
  Value first = arith::SubIOp::create(
      b, last, arith::ConstantIndexOp::create(b, lanes - 1));
  return reversed(loadSide(load, first, mask ? reversed(mask) : Value()));
}

// Elements side by side from `first` on.
Value LaneBody::loadSide(memref::LoadOp load, Value first, Value exists) {
  SmallVector<Value> at;
  for (Value index : load.getIndices().drop_back())
    at.push_back(get(index));
  at.push_back(first);
  Type element = load.getType();
  auto type = VectorType::get({lanes}, element);
  if (!exists)
    return vector::LoadOp::create(b, type, load.getMemRef(), at);
  // Ones, so that lanes that do not exist divide by nothing bad.
  Value ones = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, b.getOneAttr(element)));
  return vector::MaskedLoadOp::create(b, type, load.getMemRef(), at, exists,
                                      ones);
}

// Each lane takes the element of a vector at its place, of which only the bits
// below the number of lanes count.
Value LaneBody::permuted(Value vector, Value places) {
  StringRef name = lanes == 16  ? "llvm.x86.avx512.permvar.sf.512"
                   : lanes == 8 ? "llvm.x86.avx2.permps"
                   : lanes == 4 ? "llvm.x86.avx.vpermilvar.ps"
                                : "";
  auto type = cast<VectorType>(vector.getType());
  if (!name.empty()) {
    VectorType floats = type.clone(b.getF32Type());
    Value taken =
        LLVM::CallIntrinsicOp::create(
            b, floats, b.getStringAttr(name),
            ValueRange{vector::BitCastOp::create(b, floats, vector), places})
            .getResult(0);
    return vector::BitCastOp::create(b, type, taken);
  }
  Value inVector = arith::AndIOp::create(
      b, places,
      arith::ConstantOp::create(
          b, DenseElementsAttr::get(cast<ShapedType>(places.getType()),
                                    APInt(32, lanes - 1))));
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value place = arith::IndexCastOp::create(
        b, b.getIndexType(), vector::ExtractOp::create(b, inVector, lane));
    elements.push_back(
        vector::ExtractOp::create(b, vector, OpFoldResult(place)));
  }
  return vector::FromElementsOp::create(b, type, elements);
}

// Of the row that is read.
Value LaneBody::lengthOf(memref::LoadOp load) {
  return asValue(b, memref::getMixedSize(b, b.getLoc(), load.getMemRef(),
                                         load.getMemRefType().getRank() - 1));
}

// A vector of a row that begins at `first`; a row that is shorter than that is
// loaded as a whole.
Value LaneBody::loadPart(memref::LoadOp load, Value first) {
  SmallVector<Value> at;
  for (Value index : load.getIndices().drop_back())
    at.push_back(get(index));
  at.push_back(first);
  int64_t length = load.getMemRefType().getShape().back();
  auto type = VectorType::get({lanes}, load.getType());
  if (length >= lanes)
    return vector::LoadOp::create(b, type, load.getMemRef(), at);
  OpFoldResult count = number(b, length);
  if (ShapedType::isDynamic(length))
    count = minimum(b, lengthOf(load), number(b, lanes));
  Value inRow = firstLanes(b, lanes, count);
  Value zeros = arith::ConstantOp::create(b, b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b, type, load.getMemRef(), at, inRow,
                                      zeros);
}

// The element at a position in the row.
Value LaneBody::loadAt(memref::LoadOp load, Value position) {
  SmallVector<Value> at;
  for (Value index : load.getIndices().drop_back())
    at.push_back(get(index));
  at.push_back(position);
  return memref::LoadOp::create(b, load.getMemRef(), at);
}

// All lanes lie in as many vectors side by side as a position may advance by,
// from the first lane's on. One that would leave the row ends with it.
Value LaneBody::loadWindow(memref::LoadOp load) {
  auto creep = load.getIndices().back().getDefiningOp<CreepOp>();
  int64_t length = load.getMemRefType().getShape().back();
  int64_t parts = creep.getStep();
  if (!ShapedType::isDynamic(length))
    parts = std::min<int64_t>(parts, llvm::divideCeil(length, lanes));
  Value positions = get(creep);
  return creep.getMostly() ? loadIfWindow(load, positions, parts)
                           : loadParts(load, positions, parts);
}

// Lanes that do not exist are where the first one is.
Value LaneBody::loadIfWindow(memref::LoadOp load, Value positions,
                             int64_t parts) {
  auto type = cast<VectorType>(positions.getType());
  Value first = vector::BroadcastOp::create(
      b, type, vector::ExtractOp::create(b, positions, int64_t(0)));
  if (mask)
    positions = arith::SelectOp::create(b, mask, positions, first);
  auto places = VectorType::get({lanes}, b.getI32Type());
  Value behind = arith::IndexCastOp::create(
      b, places, arith::SubIOp::create(b, positions, first));
  Value within = arith::CmpIOp::create(
      b, arith::CmpIPredicate::ult, behind,
      arith::ConstantOp::create(
          b, DenseElementsAttr::get(places, APInt(32, parts * lanes))));
  Value all =
      vector::ReductionOp::create(b, vector::CombiningKind::AND, within);
  auto window = [&](OpBuilder &, Location) {
    scf::YieldOp::create(b, loadParts(load, positions, parts));
  };
  auto eachLane = [&](OpBuilder &, Location) {
    SmallVector<Value> elements;
    for (int64_t lane = 0; lane < lanes; ++lane)
      elements.push_back(
          loadAt(load, vector::ExtractOp::create(b, positions, lane)));
    scf::YieldOp::create(
        b, vector::FromElementsOp::create(
               b, VectorType::get({lanes}, load.getType()), elements)
               .getResult());
  };
  return scf::IfOp::create(b, all, window, eachLane).getResult(0);
}

Value LaneBody::loadParts(memref::LoadOp load, Value positions, int64_t parts) {
  int64_t length = load.getMemRefType().getShape().back();
  auto places = VectorType::get({lanes}, b.getI32Type());
  Value narrow = arith::IndexCastOp::create(b, places, positions);
  Value start = vector::ExtractOp::create(b, positions, int64_t(0));
  Value last =
      ShapedType::isDynamic(length)
          ? asValue(b, maximum(b, subtract(b, lengthOf(load), number(b, lanes)),
                               number(b, 0)))
          : arith::ConstantIndexOp::create(b,
                                           std::max<int64_t>(length - lanes, 0))
                .getResult();
  Value zeros = arith::ConstantOp::create(b, b.getZeroAttr(places));
  Value result;
  for (int64_t part = 0; part < parts; ++part) {
    Value first = last;
    if (ShapedType::isDynamic(length) || length > lanes)
      first = arith::MinSIOp::create(
          b,
          b.createOrFold<arith::AddIOp>(
              start, arith::ConstantIndexOp::create(b, part * lanes)),
          last);
    Value begin = vector::BroadcastOp::create(
        b, places, arith::IndexCastOp::create(b, b.getI32Type(), first));
    Value inPart = arith::SubIOp::create(b, narrow, begin);
    Value taken = permuted(loadPart(load, first), inPart);
    if (result)
      taken = arith::SelectOp::create(
          b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, inPart, zeros),
          taken, result);
    result = taken;
  }
  return result;
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
