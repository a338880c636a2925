// Order of the loops: parallel ones outside, reductions inside, and one loop
// along the lanes. Where the lanes run along a parallel loop, each block of a
// few vectors keeps its accumulators in registers over all reductions. Where
// they run along a reduction, several accumulators hide the latency of the
// combiner and are folded at the end, halves first: the order depends on
// shapes only.
#include "lowering/loops/EmitNest.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Missed.h"
#include "lowering/loops/LaneBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace onnxc {
namespace {

// Where the loops stand, and every operand's offset there.
struct Place {
  SmallVector<OpFoldResult> iterations; // null where the loop is not entered
  SmallVector<OpFoldResult> offsets;
};

// How many elements a step takes.
struct Step {
  int64_t lanes = 0; // 0: one element
  Value mask;        // of the lanes that exist
};

using Steps =
    llvm::function_ref<void(OpFoldResult at, Step step, unsigned vectors)>;

class Emitter {
public:
  Emitter(ImplicitLocOpBuilder &b, Nest &nest, Lanes machine);
  void emit();

private:
  // Choices.
  const char *whyNoVectors(Lanes machine);
  int64_t score(unsigned loop);
  int64_t scoreOfLoads(unsigned loop);
  void chooseVectorLoop(Lanes machine);
  Changes changesAlong(ArrayRef<unsigned> loops);
  bool fitsMask(const Changes &changes);
  std::optional<unsigned> chooseTransposedLoop();

  // Loops.
  void forEach(ArrayRef<unsigned> loops, const Place &place,
               llvm::function_ref<void(const Place &)> body);
  SmallVector<Value>
  fold(ArrayRef<unsigned> loops, const Place &place, ValueRange start,
       llvm::function_ref<SmallVector<Value>(const Place &, ValueRange)> body);
  void alongLanes(OpFoldResult from, OpFoldResult to, Steps steps);
  Place enter(const Place &place, unsigned loop, OpFoldResult at);

  // Steps.
  void holdInvariant(const Place &place);
  void holdInBody(const Changes &changes, const Place &place);
  void parallelBlock(const Place &place, Step step, unsigned vectors);
  void foldLanes(const Place &place);
  SmallVector<Value> runBody(const Place &place, Step step,
                             ArrayRef<Value> accumulators,
                             ArrayRef<Operation *> without = {});
  void transposedTiles(unsigned other);

  // Operands.
  Value load(unsigned operand, const Place &place, Step step);
  void store(unsigned output, Value value, const Place &place, Step step);
  LanePosition position(unsigned dim, const Place &place);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  ImplicitLocOpBuilder &b;
  Nest &nest;
  std::optional<unsigned> vectorLoop;
  int64_t lanes = 0;
  bool masks = false, permutes;
  unsigned unroll = 1;
  SmallVector<unsigned> outer, folded;
  SmallVector<Combiner> combiners;
  DenseMap<unsigned, Value> held; // operands that are in registers
  DenseMap<Value, Value> heldInBody; // what only they and outer loops decide
};

//===-- Choices -----------------------------------------------------------===//

Emitter::Emitter(ImplicitLocOpBuilder &b, Nest &nest, Lanes machine)
    : b(b), nest(nest), permutes(machine.permutes) {
  if (machine.vectorBits && isVectorizable(nest.op))
    chooseVectorLoop(machine);
  if (!vectorLoop && !nest.loops.empty())
    missed(nest.op, "expand-vector-loops") << whyNoVectors(machine);
  for (unsigned loop = 0; loop < nest.loops.size(); ++loop)
    if (loop != vectorLoop)
      (nest.loops[loop].folds ? folded : outer).push_back(loop);
}

const char *Emitter::whyNoVectors(Lanes machine) {
  if (!machine.vectorBits)
    return "the machine has no vectors";
  if (!isVectorizable(nest.op))
    return "the body is no arithmetic on numbers alone";
  return "along no loop do elements of two or more iterations lie side by side";
}

// Unit strides are what the lanes want; other strides cost a load per lane.
// A store costs more than a load, but reductions load more than they store.
int64_t Emitter::score(unsigned loop) {
  int64_t sum = 0;
  bool hasFold = llvm::any_of(nest.loops, [](Loop &l) { return l.folds; });
  int64_t inputWeight = hasFold ? 3 : 1, outputWeight = hasFold ? 1 : 2;
  for (auto [i, operand] : llvm::enumerate(nest.operands)) {
    bool isInput = i < nest.inputCount();
    OpOperand &value = nest.op->getOpOperand(i);
    if (operand.scalar ||
        (isInput && !nest.op.payloadUsesValueFromOperand(&value)))
      continue;
    int64_t weight = isInput ? inputWeight : outputWeight;
    if (isConstantIntValue(operand.strides[loop], 1))
      sum += 2 * weight;
    else if (!isConstantIntValue(operand.strides[loop], 0))
      sum -= weight;
  }
  return sum;
}

// The same of loads at computed indices.
int64_t Emitter::scoreOfLoads(unsigned loop) {
  int64_t sum = 0;
  Changes changes = changesAlong(loop);
  for (auto load : nest.op.getBody()->getOps<memref::LoadOp>()) {
    auto change = [&](Value v) { return changes.of(v); };
    switch (loadFormOf(load, 1, permutes, change)) {
    case LoadForm::Element:
      break;
    case LoadForm::Vector:
      sum += 2;
      break;
    case LoadForm::Window:
      sum += 1;
      break;
    case LoadForm::EachLane:
      sum -= 2;
    }
  }
  return sum;
}

void Emitter::chooseVectorLoop(Lanes machine) {
  bool foldsInAnyOrder = true;
  for (unsigned output = 0; output < nest.op.getNumDpsInits(); ++output) {
    std::optional<Combiner> combiner = combinerOf(nest.op, output);
    foldsInAnyOrder &= combiner.has_value();
    if (combiner)
      combiners.push_back(*combiner);
  }
  auto widthAlong = [&](unsigned loop) -> int64_t {
    return machine.vectorBits / widestElement(nest.op, changesAlong(loop));
  };
  int64_t best = std::numeric_limits<int64_t>::min();
  for (unsigned loop = 0; loop < nest.loops.size(); ++loop) {
    if (nest.loops[loop].folds && !foldsInAnyOrder)
      continue;
    std::optional<int64_t> size = getConstantIntValue(nest.loops[loop].size);
    if (size && *size < 2)
      continue;
    int64_t operands = score(loop);
    int64_t points = 2 * (operands + scoreOfLoads(loop)) -
                     (size && *size < widthAlong(loop));
    if (operands <= 0 || points <= best)
      continue;
    best = points;
    vectorLoop = loop;
  }
  if (!vectorLoop || widthAlong(*vectorLoop) < 2)
    return vectorLoop.reset();
  lanes = widthAlong(*vectorLoop);
  masks = machine.hasMasks && fitsMask(changesAlong(*vectorLoop));
  unsigned weight = weightOf(nest.op);
  bool hasFold = llvm::any_of(nest.loops, [](Loop &l) { return l.folds; });
  unroll = weight > 12 ? 1 : weight > 6 || !hasFold ? 2 : 4;
  if (auto size = getConstantIntValue(nest.loops[*vectorLoop].size))
    unroll = std::clamp<int64_t>(*size / lanes, 1, unroll);
}

Changes Emitter::changesAlong(ArrayRef<unsigned> loops) {
  auto moves = [&](unsigned i) {
    NestOperand &operand = nest.operands[i];
    return i >= nest.inputCount() ||
           (!operand.scalar && llvm::any_of(loops, [&](unsigned loop) {
              return !isConstantIntValue(operand.strides[loop], 0);
            }));
  };
  auto ofIndex = [&](unsigned dim) {
    std::optional<unsigned> loop = nest.loopOfDim(dim);
    return loop && llvm::is_contained(loops, *loop) ? Change::ByOne
                                                    : Change::None;
  };
  return {nest.op, moves, ofIndex};
}

// Masked accesses need unit strides, and elements that the machine can mask.
bool Emitter::fitsMask(const Changes &changes) {
  auto change = [&](Value v) { return changes.of(v); };
  for (Operation &op : nest.op.getBody()->without_terminator()) {
    auto load = dyn_cast<memref::LoadOp>(op);
    LoadForm form = LoadForm::EachLane;
    if (load)
      form = loadFormOf(load, lanes, permutes, change);
    bool fitsLoad = form != LoadForm::EachLane &&
                    (form != LoadForm::Vector ||
                     load.getMemRefType().getElementTypeBitWidth() >= 32);
    if (!OpTrait::hasElementwiseMappableTraits(&op) &&
        !isa<arith::ConstantOp, linalg::IndexOp>(op) && !fitsLoad)
      return false;
  }
  return llvm::all_of(nest.operands, [&](NestOperand &operand) {
    if (operand.scalar || isConstantIntValue(operand.strides[*vectorLoop], 0))
      return true;
    unsigned bits =
        cast<MemRefType>(operand.buffer.getType()).getElementTypeBitWidth();
    return isConstantIntValue(operand.strides[*vectorLoop], 1) && bits >= 32;
  });
}

// A loop along which an input that is strided in the lanes' loop has unit
// stride: squares of the two are transposed in registers.
std::optional<unsigned> Emitter::chooseTransposedLoop() {
  if (!vectorLoop || !folded.empty() || lanes > 16 ||
      nest.loops[*vectorLoop].folds)
    return std::nullopt;
  for (unsigned i = 0; i < nest.inputCount(); ++i) {
    NestOperand &operand = nest.operands[i];
    if (operand.scalar || isConstantIntValue(operand.strides[*vectorLoop], 0) ||
        isConstantIntValue(operand.strides[*vectorLoop], 1))
      continue;
    for (unsigned loop : outer)
      if (isConstantIntValue(operand.strides[loop], 1))
        return loop;
  }
  return std::nullopt;
}

//===-- Loops
//---------------------------------------------------------------===//

Place Emitter::enter(const Place &place, unsigned loop, OpFoldResult at) {
  Place inside = place;
  inside.iterations[loop] =
      inside.iterations[loop] ? add(b, inside.iterations[loop], at) : at;
  for (auto [offset, operand] : llvm::zip(inside.offsets, nest.operands))
    if (!operand.scalar)
      offset = add(b, offset, multiply(b, operand.strides[loop], at));
  return inside;
}

void Emitter::forEach(ArrayRef<unsigned> loops, const Place &place,
                      llvm::function_ref<void(const Place &)> body) {
  fold(loops, place, {}, [&](const Place &inside, ValueRange) {
    body(inside);
    return SmallVector<Value>();
  });
}

SmallVector<Value> Emitter::fold(
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

// Blocks of vectors, single vectors, what is left.
void Emitter::alongLanes(OpFoldResult from, OpFoldResult to, Steps steps) {
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
    scf::ForOp::create(b, asValue(b, begin), asValue(b, end), constant(width),
                       ValueRange(), body);
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
  auto masked = [&](OpBuilder &, Location) {
    steps(from, {lanes, firstLanes(b, lanes, left)}, 1);
    scf::YieldOp::create(b);
  };
  if (getConstantIntValue(left)) {
    steps(from, {lanes, firstLanes(b, lanes, left)}, 1);
    return;
  }
  Value rest = asValue(b, left);
  Value some =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, rest, constant(0));
  scf::IfOp::create(b, some, masked);
}

//===-- Operands
//------------------------------------------------------------===//

Value Emitter::load(unsigned number, const Place &place, Step step) {
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
    if (!step.mask)
      return vector::LoadOp::create(b, vectorType, operand.buffer, at);
    // Ones, so that lanes that do not exist divide by nothing bad.
    Value ones = arith::ConstantOp::create(
        b, DenseElementsAttr::get(vectorType, b.getOneAttr(type)));
    return vector::MaskedLoadOp::create(b, vectorType, operand.buffer, at,
                                        step.mask, ones);
  }
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

void Emitter::store(unsigned output, Value value, const Place &place,
                    Step step) {
  unsigned operand = nest.inputCount() + output;
  NestOperand &target = nest.operands[operand];
  Value at = asValue(b, place.offsets[operand]);
  if (step.lanes == 0) {
    memref::StoreOp::create(b, value, target.buffer, at);
    return;
  }
  value = LaneBody(b, step.lanes).spread(value);
  if (!isConstantIntValue(target.strides[*vectorLoop], 1)) {
    for (int64_t lane = 0; lane < step.lanes; ++lane) {
      OpFoldResult there =
          add(b, place.offsets[operand],
              multiply(b, target.strides[*vectorLoop], number(b, lane)));
      memref::StoreOp::create(b, vector::ExtractOp::create(b, value, lane),
                              target.buffer, asValue(b, there));
    }
  } else if (step.mask) {
    vector::MaskedStoreOp::create(b, target.buffer, at, step.mask, value);
  } else {
    vector::StoreOp::create(b, value, target.buffer, at);
  }
}

LanePosition Emitter::position(unsigned dim, const Place &place) {
  std::optional<unsigned> loop = nest.loopOfDim(dim);
  if (!loop)
    return {asValue(b, nest.fixedDims.lookup(dim))};
  return {asValue(b, place.iterations[*loop]), loop == vectorLoop};
}

//===-- Steps
//---------------------------------------------------------------===//

SmallVector<Value> Emitter::runBody(const Place &place, Step step,
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
void Emitter::holdInvariant(const Place &place) {
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
void Emitter::holdInBody(const Changes &changes, const Place &place) {
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
void Emitter::parallelBlock(const Place &place, Step step, unsigned vectors) {
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

// The greatest or least element, which is NaN if any is. A machine's maximum
// takes one instruction where NaN need not win, so a second accumulator keeps
// any NaN that comes by.
struct Extreme {
  arith::CmpFPredicate wins;
  ImplicitLocOpBuilder &b;

  static std::optional<Extreme> of(ImplicitLocOpBuilder &b,
                                   const Combiner &combiner) {
    if (isa<arith::MaximumFOp>(combiner.op))
      return Extreme{arith::CmpFPredicate::OGT, b};
    if (isa<arith::MinimumFOp>(combiner.op))
      return Extreme{arith::CmpFPredicate::OLT, b};
    return std::nullopt;
  }
  Value fold(Value extreme, Value value) const {
    Value isNew = arith::CmpFOp::create(b, wins, value, extreme);
    return arith::SelectOp::create(b, isNew, value, extreme);
  }
  Value isNan(Value value) const {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  }
  Value keepNan(Value kept, Value value) const {
    return arith::SelectOp::create(b, isNan(value), value, kept);
  }
  Value orNan(Value extreme, Value kept) const {
    Value any = vector::ReductionOp::create(b, vector::CombiningKind::OR,
                                            isNan(kept));
    auto type = cast<FloatType>(extreme.getType());
    Value nan = arith::ConstantOp::create(
        b, b.getFloatAttr(type, APFloat::getQNaN(type.getFloatSemantics())));
    return arith::SelectOp::create(b, any, nan, extreme);
  }
};

// Lanes along a reduction.
void Emitter::foldLanes(const Place &place) {
  unsigned outputs = combiners.size();
  SmallVector<Operation *> without;
  SmallVector<Value> neutral;
  for (const Combiner &combiner : combiners) {
    without.push_back(combiner.op);
    TypedAttr element = *arith::getNeutralElement(combiner.op);
    auto type = VectorType::get({lanes}, element.getType());
    neutral.push_back(arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, Attribute(element))));
  }
  SmallVector<Value> state;
  for (unsigned i = 0; i < unroll; ++i)
    llvm::append_range(state, neutral);
  llvm::append_range(state, neutral); // NaN that an extreme leaves out
  auto accumulate = [&](const Place &at, SmallVector<Value> state,
                        unsigned vectors, Step step) {
    LaneBody body(b, step.lanes);
    for (unsigned i = 0; i < vectors; ++i) {
      Place here = enter(at, *vectorLoop, number(b, i * lanes));
      SmallVector<Value> values =
          runBody(here, step, ArrayRef<Value>(), without);
      for (unsigned output = 0; output < outputs; ++output) {
        Value &sum = state[i * outputs + output], value = values[output];
        if (step.mask)
          value = arith::SelectOp::create(b, step.mask, value, neutral[output]);
        std::optional<Extreme> extreme = Extreme::of(b, combiners[output]);
        if (!extreme || !step.lanes) {
          sum = body.combine(combiners[output], sum, value);
          continue;
        }
        sum = extreme->fold(sum, value);
        Value &nan = state[unroll * outputs + output];
        nan = extreme->keepNan(nan, value);
      }
    }
    return state;
  };
  OpFoldResult size = nest.loops[*vectorLoop].size;
  int64_t width = lanes * unroll;
  auto along = [&](const Place &at, OpFoldResult from, int64_t stride,
                   unsigned vectors, Step step, SmallVector<Value> state,
                   OpFoldResult &end) {
    OpFoldResult count = floorDivide(b, subtract(b, size, from), stride);
    end = add(b, from, multiply(b, count, number(b, stride)));
    if (isConstantIntValue(count, 0))
      return state;
    auto body = [&](OpBuilder &, Location, Value i, ValueRange inside) {
      scf::YieldOp::create(b, accumulate(enter(at, *vectorLoop, i),
                                         SmallVector<Value>(inside), vectors,
                                         step));
    };
    auto loop = scf::ForOp::create(b, asValue(b, from), asValue(b, end),
                                   constant(stride), state, body);
    return SmallVector<Value>(loop.getResults());
  };
  // Whole vectors first, over all other reductions.
  OpFoldResult zero = number(b, 0), blocks, whole;
  auto vectorsOf = [&](const Place &at, ValueRange inside) {
    SmallVector<Value> all = along(at, zero, width, unroll, {lanes, {}},
                                   SmallVector<Value>(inside), blocks);
    all = along(at, blocks, lanes, 1, {lanes, {}}, all, whole);
    OpFoldResult left = subtract(b, size, whole);
    if (masks && !isConstantIntValue(left, 0)) {
      Value mask = firstLanes(b, lanes, left);
      all = accumulate(enter(at, *vectorLoop, whole), all, 1, {lanes, mask});
    }
    return all;
  };
  state = fold(folded, place, state, vectorsOf);
  LaneBody body(b, lanes);
  SmallVector<Value> totals;
  for (unsigned output = 0; output < outputs; ++output) {
    const Combiner &combiner = combiners[output];
    std::optional<Extreme> extreme = Extreme::of(b, combiner);
    auto combine = [&](Value lhs, Value rhs) {
      return extreme ? extreme->fold(lhs, rhs)
                     : body.combine(combiner, lhs, rhs);
    };
    for (unsigned step = 1; step < unroll; step *= 2)
      for (unsigned i = 0; i + step < unroll; i += 2 * step)
        state[i * outputs + output] =
            combine(state[i * outputs + output],
                    state[(i + step) * outputs + output]);
    Value sum = state[output];
    for (int64_t half = lanes / 2; half >= 1; half /= 2) {
      SmallVector<int64_t> lower, upper;
      for (int64_t lane = 0; lane < half; ++lane) {
        lower.push_back(lane);
        upper.push_back(lane + half);
      }
      sum = combine(vector::ShuffleOp::create(b, sum, sum, lower),
                    vector::ShuffleOp::create(b, sum, sum, upper));
    }
    totals.push_back(vector::ExtractOp::create(b, sum, int64_t(0)));
  }
  auto withNan = [&](unsigned output, Value total) {
    std::optional<Extreme> extreme = Extreme::of(b, combiners[output]);
    return extreme ? extreme->orNan(total, state[unroll * outputs + output])
                   : total;
  };
  // Then, without masks, the elements that are left.
  OpFoldResult rest = subtract(
      b, size, multiply(b, floorDivide(b, size, lanes), number(b, lanes)));
  bool hasRest = !masks && !isConstantIntValue(rest, 0);
  if (hasRest) {
    for (unsigned output = 0; output < outputs; ++output)
      totals[output] = withNan(output, totals[output]);
    auto elements = [&](const Place &at, ValueRange inside) {
      OpFoldResult from =
          multiply(b, floorDivide(b, size, lanes), number(b, lanes));
      OpFoldResult end;
      return along(at, from, 1, 1, {}, SmallVector<Value>(inside), end);
    };
    totals = fold(folded, place, totals, elements);
  }
  LaneBody single(b, 0);
  for (unsigned output = 0; output < outputs; ++output) {
    unsigned operand = nest.inputCount() + output;
    Value old = load(operand, place, {});
    std::optional<Extreme> extreme = Extreme::of(b, combiners[output]);
    Value total = totals[output];
    total = extreme && !hasRest
                ? withNan(output, extreme->fold(old, total))
                : single.combine(combiners[output], old, total);
    store(output, total, place, {});
  }
}

void Emitter::transposedTiles(unsigned other) {
  Place start{SmallVector<OpFoldResult>(nest.loops.size()), {}};
  for (NestOperand &operand : nest.operands)
    start.offsets.push_back(operand.scalar ? OpFoldResult() : operand.offset);
  SmallVector<unsigned> rest(outer);
  llvm::erase(rest, other);
  unroll = 1;
  masks = false;
  auto wholeOf = [&](unsigned loop) {
    return multiply(b, floorDivide(b, nest.loops[loop].size, lanes),
                    number(b, lanes));
  };
  OpFoldResult others = wholeOf(other), along = wholeOf(*vectorLoop);
  auto isTurned = [&](unsigned i) {
    NestOperand &operand = nest.operands[i];
    return i < nest.inputCount() && !operand.scalar &&
           isConstantIntValue(operand.strides[other], 1) &&
           !isConstantIntValue(operand.strides[*vectorLoop], 0) &&
           !isConstantIntValue(operand.strides[*vectorLoop], 1);
  };
  auto square = [&](const Place &corner) {
    DenseMap<unsigned, SmallVector<Value>> turned;
    for (unsigned i = 0; i < nest.operands.size(); ++i) {
      if (!isTurned(i))
        continue;
      SmallVector<Value> rows;
      auto type = cast<MemRefType>(nest.operands[i].buffer.getType());
      for (int64_t row = 0; row < lanes; ++row) {
        Place at = enter(corner, *vectorLoop, number(b, row));
        rows.push_back(vector::LoadOp::create(
            b, VectorType::get({lanes}, type.getElementType()),
            nest.operands[i].buffer, asValue(b, at.offsets[i])));
      }
      turned[i] = transposed(b, rows);
    }
    for (int64_t row = 0; row < lanes; ++row) {
      held.clear();
      for (auto &[i, rows] : turned)
        held[i] = rows[row];
      parallelBlock(enter(corner, other, number(b, row)), {lanes, {}}, 1);
    }
    held.clear();
  };
  auto loop = [&](OpFoldResult from, OpFoldResult to, int64_t step,
                  llvm::function_ref<void(Value)> body) {
    if (from == to)
      return;
    scf::ForOp::create(b, asValue(b, from), asValue(b, to), constant(step),
                       ValueRange(),
                       [&](OpBuilder &, Location, Value at, ValueRange) {
                         body(at);
                         scf::YieldOp::create(b);
                       });
  };
  OpFoldResult zero = number(b, 0);
  forEach(rest, start, [&](const Place &place) {
    loop(zero, others, lanes, [&](Value i) {
      Place row = enter(place, other, i);
      loop(zero, along, lanes,
           [&](Value j) { square(enter(row, *vectorLoop, j)); });
    });
    auto ordinary = [&](OpFoldResult from, OpFoldResult to,
                        OpFoldResult first) {
      loop(from, to, 1, [&](Value i) {
        Place row = enter(place, other, i);
        alongLanes(first, nest.loops[*vectorLoop].size,
                   [&](OpFoldResult at, Step step, unsigned vectors) {
                     parallelBlock(enter(row, *vectorLoop, at), step, vectors);
                   });
      });
    };
    if (along != nest.loops[*vectorLoop].size)
      ordinary(zero, others, along);
    ordinary(others, nest.loops[other].size, zero);
  });
}

void Emitter::emit() {
  if (std::optional<unsigned> other = chooseTransposedLoop())
    return transposedTiles(*other);
  Place start{SmallVector<OpFoldResult>(nest.loops.size()), {}};
  for (NestOperand &operand : nest.operands)
    start.offsets.push_back(operand.scalar ? OpFoldResult() : operand.offset);
  forEach(outer, start, [&](const Place &place) {
    if (!vectorLoop)
      return parallelBlock(place, {}, 1);
    holdInvariant(place);
    if (nest.loops[*vectorLoop].folds)
      return foldLanes(place);
    alongLanes(number(b, 0), nest.loops[*vectorLoop].size,
               [&](OpFoldResult at, Step step, unsigned vectors) {
                 parallelBlock(enter(place, *vectorLoop, at), step, vectors);
               });
  });
}

} // namespace

// Lane i of vector j becomes lane j of vector i.
SmallVector<Value> transposed(ImplicitLocOpBuilder &b, SmallVector<Value> rows) {
  int64_t lanes = rows.size();
  // Distance d swaps bit d of the vector's number with bit d of the lane's.
  for (int64_t distance = lanes / 2; distance >= 1; distance /= 2) {
    SmallVector<int64_t> lower, upper;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      bool isUpper = lane & distance;
      lower.push_back(isUpper ? lanes + lane - distance : lane);
      upper.push_back(isUpper ? lanes + lane : lane + distance);
    }
    for (int64_t row = 0; row < lanes; ++row) {
      if (row & distance)
        continue;
      Value first = rows[row], second = rows[row + distance];
      rows[row] = vector::ShuffleOp::create(b, first, second, lower);
      rows[row + distance] = vector::ShuffleOp::create(b, first, second, upper);
    }
  }
  return rows;
}

Lanes lanesOf(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  auto target = module->getAttrOfType<TargetAttr>(targetAttrName);
  int64_t bits = target ? target.getVectorBits() : 0;
  // Narrower machines pay for each lane of a masked access.
  return {bits, bits >= 256, target && target.getHasPermute()};
}

void emitNest(ImplicitLocOpBuilder &b, Nest nest, Lanes lanes) {
  simplify(b, nest);
  Emitter(b, nest, lanes).emit();
}

} // namespace onnxc
