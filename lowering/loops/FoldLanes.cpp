// Lanes along a reduction: several accumulators hide the latency of the
// combiner and are folded at the end, halves first, so that the order depends
// on shapes only.
#include "lowering/loops/Extreme.h"
#include "lowering/loops/KernelWork.h"
#include "lowering/loops/NestEmitter.h"
#include "lowering/loops/Rolled.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace onnxc::nests {

// Steps whose floats are summed as floats.
static constexpr int64_t stepsOfBlock = 64;
// Of rows that are read one after another, and how many results they have: at
// most, and where runs are what tasks share.
static constexpr int64_t bytesOfRun = 16 << 10, mostOfRun = 32, leastOfRun = 4,
                         fewRuns = 8;

// Sums of floats in doubles: each block is summed in floats, which fill twice
// the lanes and need no conversion, and its sum is added to the doubles.
SmallVector<Value> NestEmitter::inFloatBlocks(
    OpFoldResult from, OpFoldResult end, int64_t stride, ValueRange state,
    llvm::function_ref<SmallVector<Value>(OpFoldResult, OpFoldResult,
                                          ValueRange)>
        sweep) {
  auto isOfFloats = [&](unsigned i) {
    return i < unroll * combiners.size() &&
           sumsFloats(combiners[i % combiners.size()]);
  };
  auto indices = llvm::seq<unsigned>(state.size());
  if (llvm::none_of(indices, isOfFloats))
    return sweep(from, end, state);
  auto block = [&](OpFoldResult from, OpFoldResult end, ValueRange doubles) {
    Value zero = arith::ConstantOp::create(
        b, b.getZeroAttr(VectorType::get({lanes}, b.getF32Type())));
    SmallVector<Value> sums(doubles);
    for (unsigned i : llvm::make_filter_range(indices, isOfFloats))
      sums[i] = zero;
    sums = sweep(from, end, sums);
    for (unsigned i : llvm::make_filter_range(indices, isOfFloats))
      sums[i] = arith::AddFOp::create(
          b, doubles[i],
          arith::ExtFOp::create(b, doubles[i].getType(), sums[i]));
    return sums;
  };
  int64_t step = stride * stepsOfBlock;
  if (auto size = getConstantIntValue(subtract(b, end, from));
      size && *size <= step)
    return block(from, end, state);
  auto body = [&](OpBuilder &, Location, Value i, ValueRange inside) {
    OpFoldResult next = minimum(b, add(b, i, number(b, step)), end);
    scf::YieldOp::create(b, block(i, next, inside));
  };
  auto blocks = scf::ForOp::create(b, asValue(b, from), asValue(b, end),
                                   constant(step), state, body);
  return SmallVector<Value>(blocks.getResults());
}

// What changes nothing. Arith says 0, to which a sum of -0 would add; LLVM
// folds the other one into the first sum of a short row.
static TypedAttr neutralOf(Operation *combiner) {
  TypedAttr element = *arith::getNeutralElement(combiner);
  if (isa<arith::AddFOp>(combiner))
    return FloatAttr::get(element.getType(), -0.0);
  return element;
}

// Whether rows that are folded into one result lie further apart than those of
// different results, and are too short to be fetched ahead one by one.
bool NestEmitter::foldsInRuns() {
  constexpr int64_t fewVectors = 4;
  if (outer.empty() || folded.empty())
    return false;
  unsigned kept = outer.back(), along = *vectorLoop;
  std::optional<int64_t> length = getConstantIntValue(nest.loops[along].size);
  if (!length || *length < fewVectors * lanes)
    return false;
  auto isApart = [&](const NestOperand &operand) {
    std::optional<int64_t> row = getConstantIntValue(operand.strides[kept]);
    auto type = cast<MemRefType>(operand.buffer.getType());
    int64_t bytes = type.getElementTypeBitWidth() / 8;
    auto isFar = [&](unsigned loop) {
      std::optional<int64_t> stride =
          getConstantIntValue(operand.strides[loop]);
      return stride && *stride * bytes > bytesOfRun;
    };
    return row && *row >= *length && *row * bytes < bytesOfRun &&
           bytesOf(operand) > l2Bytes && llvm::all_of(folded, isFar);
  };
  return llvm::any_of(ArrayRef(nest.operands).take_front(nest.inputCount()),
                      [&](const NestOperand &operand) {
                        return !operand.scalar && isApart(operand);
                      });
}

// The rows of some results that lie side by side, then what is folded with
// them: the output's elements hold the results in between.
void NestEmitter::inRuns(const Place &start) {
  unsigned kept = outer.pop_back_val();
  SmallVector<unsigned> apart = std::exchange(folded, {});
  OpFoldResult &size = nest.loops[kept].size, all = size;
  int64_t results = mostOfRun;
  if (auto known = getConstantIntValue(all); known && outer.empty())
    results = std::clamp(*known / fewRuns, leastOfRun, mostOfRun);
  auto rows = [&](const Place &place) {
    holdInvariant(place);
    foldLanes(place);
  };
  forEach(outer, start, [&](const Place &place) {
    auto run = [&](OpBuilder &, Location, Value at, ValueRange) {
      size = minimum(b, subtract(b, all, at), number(b, results));
      forEach(apart, enter(place, kept, at),
              [&](const Place &inside) { forEach(kept, inside, rows); });
      scf::YieldOp::create(b);
    };
    auto loop = scf::ForOp::create(b, constant(0), asValue(b, all),
                                   constant(results), ValueRange(), run);
    loop->setAttr(stepAttrName, b.getUnitAttr());
    size = all;
  });
}

void NestEmitter::foldLanes(const Place &place) {
  unsigned outputs = combiners.size();
  SmallVector<Operation *> without;
  SmallVector<Value> neutral;
  for (const Combiner &combiner : combiners) {
    without.push_back(combiner.op);
    TypedAttr element = neutralOf(combiner.op);
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
        if (sum.getType() != value.getType())
          value = value.getDefiningOp<arith::ExtFOp>().getIn();
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
    std::optional<int64_t> trips = getConstantIntValue(count);
    bool isRest = vectors < unroll && !trips;
    bool isLongBlock = isLong && !(trips && *trips <= mostBlocksInFull);
    bool staysRolled = isRest || isLongBlock ||
                       isRowThatSpills(multiply(b, count, number(b, vectors)));
    auto sweep = [&](OpFoldResult from, OpFoldResult end, ValueRange state) {
      auto body = [&](OpBuilder &, Location, Value i, ValueRange inside) {
        scf::YieldOp::create(b, accumulate(enter(at, *vectorLoop, i),
                                           SmallVector<Value>(inside), vectors,
                                           step));
      };
      auto loop = scf::ForOp::create(b, asValue(b, from), asValue(b, end),
                                     constant(stride), state, body);
      if (staysRolled)
        keepRolled(loop);
      return SmallVector<Value>(loop.getResults());
    };
    return step.lanes ? inFloatBlocks(from, end, stride, state, sweep)
                      : sweep(from, end, state);
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
        state[i * outputs + output] = combine(
            state[i * outputs + output], state[(i + step) * outputs + output]);
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
    total = extreme && !hasRest ? withNan(output, extreme->fold(old, total))
                                : single.combine(combiners[output], old, total);
    store(output, total, place, {});
  }
}

} // namespace onnxc::nests
