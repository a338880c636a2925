// Order of the loops: parallel ones outside, reductions inside, and one loop
// along the lanes. Where the lanes run along a parallel loop, each block of a
// few vectors keeps its accumulators in registers over all reductions, or over
// a panel of rows, see FoldAcross.cpp. Where they run along a reduction, see
// FoldLanes.cpp.
#include "dialects/onnxc/Onnxc.h"
#include "lowering/loops/Chains.h"
#include "lowering/loops/NestEmitter.h"
#include "lowering/loops/Rolled.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace onnxc {
namespace nests {

// Lanes of what is left of a row, at least: no machine has shorter vectors.
constexpr int64_t leastTail = 4;
// Steps that LLVM writes out, each of which may be an exponential, and what
// that holds beside its result: constants.
constexpr int64_t mostStepsInFull = 8, registersOfLongStep = 12;

//===-- Loops -------------------------------------------------------------===//

Place NestEmitter::enter(const Place &place, unsigned loop, OpFoldResult at) {
  Place inside = place;
  inside.iterations[loop] =
      inside.iterations[loop] ? add(b, inside.iterations[loop], at) : at;
  for (auto [offset, operand] : llvm::zip(inside.offsets, nest.operands))
    if (!operand.scalar)
      offset = add(b, offset, multiply(b, operand.strides[loop], at));
  return inside;
}

void NestEmitter::forEach(ArrayRef<unsigned> loops, const Place &place,
                          llvm::function_ref<void(const Place &)> body) {
  fold(loops, place, {}, [&](const Place &inside, ValueRange) {
    body(inside);
    return SmallVector<Value>();
  });
}

SmallVector<Value> NestEmitter::fold(
    ArrayRef<unsigned> loops, const Place &place, ValueRange start,
    llvm::function_ref<SmallVector<Value>(const Place &, ValueRange)> body) {
  if (loops.empty())
    return body(place, start);
  unsigned loop = loops.front();
  auto inside = [&](OpBuilder &, Location, Value at, ValueRange state) {
    scf::YieldOp::create(
        b, fold(loops.drop_front(), enter(place, loop, at), state, body));
  };
  auto op =
      scf::ForOp::create(b, constant(0), asValue(b, nest.loops[loop].size),
                         constant(1), start, inside);
  return SmallVector<Value>(op.getResults());
}

// LLVM writes short loops out. What a row of long steps computes then waits for
// a sum in more registers than there are.
bool NestEmitter::isRowThatSpills(OpFoldResult vectors) const {
  std::optional<int64_t> count = getConstantIntValue(vectors);
  return isLong && count && *count <= mostStepsInFull &&
         *count + registersOfLongStep > registers;
}

// What is left behind `from` of a known number of elements, in vectors that
// begin before it or overlap.
bool NestEmitter::overlapping(OpFoldResult from, OpFoldResult to, Steps steps) {
  std::optional<int64_t> first = getConstantIntValue(from),
                         end = getConstantIntValue(to);
  if (!first || !end)
    return false;
  int64_t left = *end - *first;
  int64_t width = std::min<int64_t>(llvm::PowerOf2Ceil(left),
                                    llvm::bit_floor<uint64_t>(*end));
  Step step = {width > 1 ? width : 0, {}};
  if (left > width)
    steps(from, step, 1);
  steps(number(b, *end - width), step, 1);
  return true;
}

// Blocks of vectors, single vectors, what is left.
void NestEmitter::alongLanes(OpFoldResult from, OpFoldResult to, Steps steps) {
  auto walk = [&](OpFoldResult begin, int64_t width, Step step,
                  unsigned vectors) -> OpFoldResult {
    OpFoldResult count = floorDivide(b, subtract(b, to, begin), width);
    if (isConstantIntValue(count, 0))
      return begin;
    OpFoldResult end = add(b, begin, multiply(b, count, number(b, width)));
    if (isConstantIntValue(count, 1)) {
      steps(begin, step, vectors);
      return end;
    }
    auto body = [&](OpBuilder &, Location, Value at, ValueRange) {
      steps(at, step, vectors);
      scf::YieldOp::create(b);
    };
    auto loop = scf::ForOp::create(b, asValue(b, begin), asValue(b, end),
                                   constant(width), ValueRange(), body);
    std::optional<int64_t> trips = getConstantIntValue(count);
    bool isBlock = vectors > 1 && !(trips && *trips <= mostBlocksInFull);
    bool isRest = vectors < unroll && !trips;
    if (isBlock || isRest ||
        isRowThatSpills(multiply(b, count, number(b, vectors))))
      keepRolled(loop);
    return end;
  };
  if (unroll > 1)
    from = walk(from, lanes * unroll, {lanes, {}}, unroll);
  from = walk(from, lanes, {lanes, {}}, 1);
  OpFoldResult left = subtract(b, to, from);
  if (isConstantIntValue(left, 0))
    return;
  if (!masks) {
    walk(from, 1, {}, 1);
    return;
  }
  if (stepsBack && overlapping(from, to, steps))
    return;
  // No more lanes than the rest fills: LLVM makes scalar code of a permutation
  // whose result is masked. But folds read whole vectors of what is written.
  if (std::optional<int64_t> count = getConstantIntValue(left)) {
    bool isPadded = llvm::any_of(
        nest.operands, [](NestOperand &operand) { return operand.isPadded; });
    int64_t least = isPadded ? lanes : std::min(leastTail, lanes);
    int64_t width =
        std::clamp<int64_t>(llvm::PowerOf2Ceil(*count), least, lanes);
    Value mask = *count < width ? firstLanes(b, width, left) : Value();
    return steps(from, {width, mask}, 1);
  }
  auto masked = [&](OpBuilder &, Location) {
    steps(from, {lanes, firstLanes(b, lanes, left)}, 1);
    scf::YieldOp::create(b);
  };
  Value rest = asValue(b, left);
  Value some =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, rest, constant(0));
  scf::IfOp::create(b, some, masked);
}

//===-- Operands ----------------------------------------------------------===//

// Whole vectors, of which shuffles take every `stride`-th element. The last one
// ends with the last of them, for nothing may lie behind.
Value NestEmitter::loadApart(Value buffer, OpFoldResult from, int64_t stride) {
  auto type = VectorType::get(
      {lanes}, cast<MemRefType>(buffer.getType()).getElementType());
  Value all;
  for (int64_t part = 0; part < stride; ++part) {
    int64_t first = std::min(part * lanes, (lanes - 1) * stride + 1 - lanes);
    Value vector = vector::LoadOp::create(
        b, type, buffer, asValue(b, add(b, from, number(b, first))));
    SmallVector<int64_t> taken;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t at = lane * stride - part * lanes;
      bool isEarlier = at < 0, isLater = at >= lanes;
      taken.push_back(isEarlier || isLater ? lane
                                           : lanes + lane * stride - first);
    }
    all = vector::ShuffleOp::create(b, all ? all : vector, vector, taken);
  }
  return all;
}

Value NestEmitter::load(unsigned number, const Place &place, Step step) {
  NestOperand &operand = nest.operands[number];
  if (operand.scalar)
    return operand.scalar;
  if (Value value = held.lookup(number))
    return value;
  auto type = cast<MemRefType>(operand.buffer.getType()).getElementType();
  Value at = asValue(b, place.offsets[number]);
  if (step.lanes == 0 || isConstantIntValue(operand.strides[*vectorLoop], 0))
    return memref::LoadOp::create(b, operand.buffer, at);
  auto vectorType = VectorType::get({step.lanes}, type);
  if (isConstantIntValue(operand.strides[*vectorLoop], 1)) {
    if (operand.ahead)
      memref::PrefetchOp::create(
          b, operand.buffer,
          asValue(b, add(b, place.offsets[number], operand.ahead)),
          /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
    if (!step.mask || operand.isPadded)
      return vector::LoadOp::create(b, vectorType, operand.buffer, at);
    // Ones, so that lanes that do not exist divide by nothing bad.
    Value ones = arith::ConstantOp::create(
        b, DenseElementsAttr::get(vectorType, b.getOneAttr(type)));
    return vector::MaskedLoadOp::create(b, vectorType, operand.buffer, at,
                                        step.mask, ones);
  }
  if (std::optional<int64_t> stride = strideOfShuffle(number, *vectorLoop);
      stride && step.lanes == lanes)
    return loadApart(operand.buffer, place.offsets[number], *stride);
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < step.lanes; ++lane) {
    OpFoldResult place_ =
        add(b, place.offsets[number],
            multiply(b, operand.strides[*vectorLoop], onnxc::number(b, lane)));
    elements.push_back(
        memref::LoadOp::create(b, operand.buffer, asValue(b, place_)));
  }
  return vector::FromElementsOp::create(b, vectorType, elements);
}

// Every `stride`-th lane of as many vectors; what lies between stays.
void NestEmitter::storeApart(Value value, Value buffer, OpFoldResult from,
                             int64_t stride) {
  for (int64_t part = 0; part < stride; ++part) {
    SmallVector<int64_t> taken;
    SmallVector<bool> isStored;
    for (int64_t at = part * lanes; at < (part + 1) * lanes; ++at) {
      taken.push_back(at / stride);
      isStored.push_back(at % stride == 0);
    }
    Value spread = vector::ShuffleOp::create(b, value, value, taken);
    Value mask =
        arith::ConstantOp::create(b, b.getBoolVectorAttr(isStored)).getResult();
    vector::MaskedStoreOp::create(
        b, buffer, asValue(b, add(b, from, number(b, part * lanes))), mask,
        spread);
  }
}

void NestEmitter::storeVector(Value value, Value buffer, Value at) {
  auto type = cast<VectorType>(value.getType());
  llvm::MaybeAlign alignment;
  int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  if (streams)
    alignment = llvm::Align(std::min(bytes, lineBytes));
  vector::StoreOp::create(b, value, buffer, at, streams, alignment);
}

void NestEmitter::store(unsigned output, Value value, const Place &place,
                        Step step) {
  unsigned operand = nest.inputCount() + output;
  NestOperand &target = nest.operands[operand];
  Value at = asValue(b, place.offsets[operand]);
  if (step.lanes == 0) {
    memref::StoreOp::create(b, value, target.buffer, at);
    return;
  }
  value = LaneBody(b, step.lanes).spread(value);
  std::optional<int64_t> apart = fewApart(target, *vectorLoop);
  bool isWide =
      cast<MemRefType>(target.buffer.getType()).getElementTypeBitWidth() >= 32;
  if (storesMasked && isWide && step.lanes == lanes && apart) {
    storeApart(value, target.buffer, place.offsets[operand], *apart);
  } else if (!isConstantIntValue(target.strides[*vectorLoop], 1)) {
    for (int64_t lane = 0; lane < step.lanes; ++lane) {
      OpFoldResult there =
          add(b, place.offsets[operand],
              multiply(b, target.strides[*vectorLoop], number(b, lane)));
      memref::StoreOp::create(b, vector::ExtractOp::create(b, value, lane),
                              target.buffer, asValue(b, there));
    }
  } else if (step.mask && !target.isPadded) {
    vector::MaskedStoreOp::create(b, target.buffer, at, step.mask, value);
  } else {
    storeVector(value, target.buffer, at);
  }
}

LanePosition NestEmitter::position(unsigned dim, const Place &place) {
  std::optional<unsigned> loop = nest.loopOfDim(dim);
  if (!loop)
    return {asValue(b, nest.fixedDims.lookup(dim))};
  return {asValue(b, place.iterations[*loop]), loop == vectorLoop};
}

//===-- Steps -------------------------------------------------------------===//

SmallVector<Value> NestEmitter::runBody(const Place &place, Step step,
                                        ArrayRef<Value> accumulators,
                                        ArrayRef<Operation *> without) {
  LaneBody body(b, step.lanes, step.mask, permutes);
  for (auto [inBody, value] : heldInBody)
    body.set(inBody, value);
  for (OpOperand *input : nest.op.getDpsInputOperands())
    if (nest.op.payloadUsesValueFromOperand(input))
      body.set(nest.op.getMatchingBlockArgument(input),
               load(input->getOperandNumber(), place, step));
  for (auto [argument, value] :
       llvm::zip(nest.op.getRegionOutputArgs(), accumulators))
    body.set(argument, value);
  auto index = [&](unsigned dim) { return position(dim, place); };
  body.run(nest.op.getBody(), index, without);
  SmallVector<Value> results;
  for (auto [i, yielded] :
       llvm::enumerate(nest.op.getBody()->getTerminator()->getOperands()))
    results.push_back(
        body.spread(body.get(without.empty() ? yielded : combiners[i].folded)));
  return results;
}

// Loads and computes what no inner loop moves. A store between the loads of a
// loop would keep LLVM from doing it.
void NestEmitter::holdInvariant(const Place &place) {
  held.clear();
  heldInBody.clear();
  SmallVector<unsigned> inner(folded);
  inner.push_back(*vectorLoop);
  for (unsigned i = 0; i < nest.inputCount(); ++i) {
    NestOperand &operand = nest.operands[i];
    bool moves = operand.scalar || llvm::any_of(inner, [&](unsigned loop) {
                   return !isConstantIntValue(operand.strides[loop], 0);
                 });
    if (!moves &&
        nest.op.payloadUsesValueFromOperand(&nest.op->getOpOperand(i)))
      held[i] = load(i, place, {});
  }
  bool runs = llvm::all_of(inner, [&](unsigned loop) {
    std::optional<int64_t> size = getConstantIntValue(nest.loops[loop].size);
    return size && *size > 0;
  });
  if (runs)
    holdInBody(changesAlong(inner), place);
}

// Only where an iteration follows: what is read must exist.
void NestEmitter::holdInBody(const Changes &changes, const Place &place) {
  LaneBody body(b, 0);
  for (OpOperand *input : nest.op.getDpsInputOperands())
    if (Value value = held.lookup(input->getOperandNumber()))
      body.set(nest.op.getMatchingBlockArgument(input), value);
  SmallVector<Operation *> moving;
  for (Operation &op : nest.op.getBody()->without_terminator())
    if (op.getNumResults() != 1 || !changes.isSame(op.getResult(0)))
      moving.push_back(&op);
  body.run(
      nest.op.getBody(), [&](unsigned dim) { return position(dim, place); },
      moving);
  for (Operation &op : nest.op.getBody()->without_terminator())
    if (!llvm::is_contained(moving, &op))
      heldInBody[op.getResult(0)] = body.get(op.getResult(0));
}

// A few vectors (or one element) of all outputs, over all reductions.
void NestEmitter::parallelBlock(const Place &place, Step step,
                                unsigned vectors) {
  unsigned outputs = nest.op.getNumDpsInits();
  SmallVector<Place> places;
  SmallVector<Value> start;
  for (unsigned i = 0; i < vectors; ++i) {
    places.push_back(
        i == 0 ? place : enter(place, *vectorLoop, number(b, i * step.lanes)));
    for (unsigned output = 0; output < outputs; ++output) {
      OpOperand *init = nest.op.getDpsInitOperand(output);
      // A fold over nothing leaves the start value.
      bool isRead =
          nest.op.payloadUsesValueFromOperand(init) || !folded.empty();
      Value value;
      if (isRead)
        value = load(init->getOperandNumber(), places[i], step);
      if (isRead && step.lanes)
        value = LaneBody(b, step.lanes).spread(value);
      start.push_back(value);
    }
  }
  SmallVector<Value> results;
  if (folded.empty()) {
    for (unsigned i = 0; i < vectors; ++i)
      llvm::append_range(results,
                         runBody(places[i], step,
                                 ArrayRef(start).slice(i * outputs, outputs)));
  } else if (unsigned ways = waysAcross(); ways > 1) {
    results = foldAcross(place, step, start, ways);
  } else {
    results =
        fold(folded, place, start, [&](const Place &at, ValueRange state) {
          SmallVector<Value> all(state), next;
          for (unsigned i = 0; i < vectors; ++i) {
            Place here =
                i == 0 ? at : enter(at, *vectorLoop, number(b, i * step.lanes));
            llvm::append_range(
                next,
                runBody(here, step, ArrayRef(all).slice(i * outputs, outputs)));
          }
          return next;
        });
  }
  for (unsigned i = 0; i < vectors; ++i)
    for (unsigned output = 0; output < outputs; ++output)
      store(output, results[i * outputs + output], places[i], step);
}

void NestEmitter::blocks(const Place &place, OpFoldResult columns) {
  alongLanes(number(b, 0), columns,
             [&](OpFoldResult at, Step step, unsigned vectors) {
               parallelBlock(enter(place, *vectorLoop, at), step, vectors);
             });
}

void NestEmitter::emit() {
  Place start{SmallVector<OpFoldResult>(nest.loops.size()), {}};
  for (NestOperand &operand : nest.operands)
    start.offsets.push_back(operand.scalar ? OpFoldResult() : operand.offset);
  if (turns)
    return forEach(aroundTiles(), start,
                   [&](const Place &place) { turnTiles(place, tilings); });
  if (vectorLoop && nest.loops[*vectorLoop].folds && foldsInRuns())
    return inRuns(start);
  forEach(outer, start, [&](const Place &place) {
    if (!vectorLoop)
      return parallelBlock(place, {}, 1);
    holdInvariant(place);
    if (nest.loops[*vectorLoop].folds)
      return foldLanes(place);
    if (foldsInPanels())
      return inPanels(place);
    blocks(place, nest.loops[*vectorLoop].size);
  });
}

} // namespace nests

Lanes lanesOf(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  auto target = module->getAttrOfType<TargetAttr>(targetAttrName);
  int64_t bits = target ? target.getVectorBits() : 0;
  // Narrower machines pay for each lane of a masked access.
  return {bits,
          bits >= 256,
          bits < 512,
          target ? target.getVectorRegisters() : 0,
          target && target.getHasPermute(),
          target ? chainsSideBySide(target) : 1,
          target ? target.getL2Bytes() : 0,
          target ? target.getStreamBytes() : 0,
          target && isFarFromMemory(target)};
}

void emitNest(ImplicitLocOpBuilder &b, Nest nest, Lanes lanes) {
  simplify(b, nest);
  nests::NestEmitter(b, nest, lanes).emit();
}

} // namespace onnxc
