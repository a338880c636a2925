// Lanes across a long reduction. Where the accumulators fill few vectors, each
// would wait for its own last sum: several ways of them take turns and meet at
// the end, in an order that depends on shapes only. Where they fill more than a
// block of vectors, all of them go past a panel of rows before the next one.
#include "lowering/loops/Extreme.h"
#include "lowering/loops/KernelWork.h"
#include "lowering/loops/NestEmitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace onnxc::nests {

// A block of columns over all rows reads a piece of each row, which prefetchers
// do not follow; the pieces of a panel lie side by side in as many streams.
constexpr int64_t rowsOfPanel = 8;
// What tasks share where no loop is around: columns for long pieces of rows, in
// not too few steps.
constexpr int64_t leastBlocksOfStep = 4, mostBlocksOfStep = 64, fewSteps = 8;

// The accumulators between two panels are the output's elements, so that sums
// are the same in any order of blocks.
bool NestEmitter::foldsInPanels() {
  if (folded.size() != 1 || waysAcross() > 1)
    return false;
  auto isAtMost = [&](unsigned loop, int64_t most) {
    std::optional<int64_t> size = getConstantIntValue(nest.loops[loop].size);
    return size && *size <= most;
  };
  return !isAtMost(folded[0], 4 * rowsOfPanel) &&
         !isAtMost(*vectorLoop, unroll * lanes);
}

// Some columns, over all rows.
void NestEmitter::overPanels(const Place &place, OpFoldResult columns) {
  unsigned loop = folded[0];
  OpFoldResult &size = nest.loops[loop].size, rows = size;
  OpFoldResult whole =
      multiply(b, floorDivide(b, rows, rowsOfPanel), number(b, rowsOfPanel));
  size = number(b, rowsOfPanel);
  auto panel = [&](OpBuilder &, Location, Value at, ValueRange) {
    blocks(enter(place, loop, at), columns);
    scf::YieldOp::create(b);
  };
  scf::ForOp::create(b, constant(0), asValue(b, whole), constant(rowsOfPanel),
                     ValueRange(), panel);
  size = subtract(b, rows, whole);
  if (!isConstantIntValue(size, 0))
    blocks(enter(place, loop, whole), columns);
  size = rows;
}

// A panel reads what the one before left, so tasks divide the columns.
void NestEmitter::inPanels(const Place &place) {
  OpFoldResult columns = nest.loops[*vectorLoop].size;
  std::optional<int64_t> known = getConstantIntValue(columns);
  int64_t block = unroll * lanes;
  int64_t blocksOfStep = mostBlocksOfStep;
  if (outer.empty() && known)
    blocksOfStep = std::clamp(*known / (fewSteps * block), leastBlocksOfStep,
                              mostBlocksOfStep);
  int64_t wide = block * blocksOfStep;
  auto steps = [&](OpFoldResult from, OpFoldResult to, int64_t width) {
    auto step = [&](OpBuilder &, Location, Value at, ValueRange) {
      OpFoldResult left =
          known ? number(b, width)
                : minimum(b, subtract(b, columns, at), number(b, width));
      overPanels(enter(place, *vectorLoop, at), left);
      scf::YieldOp::create(b);
    };
    auto loop = scf::ForOp::create(b, asValue(b, from), asValue(b, to),
                                   constant(width), ValueRange(), step);
    loop->setAttr(stepAttrName, b.getUnitAttr());
  };
  if (!known)
    return steps(number(b, 0), columns, wide);
  int64_t whole = *known / wide * wide;
  if (whole)
    steps(number(b, 0), number(b, whole), wide);
  if (whole < *known)
    steps(number(b, whole), columns, *known - whole);
}

// As many as sums need to overlap; one where the loop is short or its body
// takes longer than a sum. The same for all columns, whose sums would else be
// rounded in different ways.
unsigned NestEmitter::waysAcross() {
  constexpr unsigned enough = 4, mostWeight = 6;
  if (folded.empty() || combiners.size() != size_t(nest.op.getNumDpsInits()) ||
      weightOf(nest.op) > mostWeight)
    return 1;
  unsigned vectors = 1;
  if (vectorLoop && lanes) {
    std::optional<int64_t> columns =
        getConstantIntValue(nest.loops[*vectorLoop].size);
    vectors = !columns || *columns >= enough * lanes
                  ? enough
                  : llvm::divideCeil(*columns, lanes);
  }
  unsigned ways =
      enough / std::min<unsigned>(vectors * combiners.size(), enough);
  std::optional<int64_t> size =
      getConstantIntValue(nest.loops[folded.back()].size);
  return size && *size < 4 * ways ? 1 : ways;
}

// `start` holds the accumulators of each vector.
SmallVector<Value> NestEmitter::foldAcross(const Place &place, Step step,
                                           ArrayRef<Value> start,
                                           unsigned ways) {
  unsigned count = start.size(), outputs = combiners.size();
  SmallVector<Operation *> without;
  for (const Combiner &combiner : combiners)
    without.push_back(combiner.op);
  LaneBody body(b, step.lanes);
  auto neutral = [&](unsigned i) {
    Operation *op = combiners[i % outputs].op;
    return body.spread(
        arith::ConstantOp::create(b, *arith::getNeutralElement(op)));
  };
  // The ways one after another, then NaN that an extreme leaves out.
  SmallVector<Value> state(start);
  for (unsigned i = count; i < (ways + 1) * count; ++i)
    state.push_back(neutral(i));
  auto combine = [&](unsigned i, Value lhs, Value rhs) {
    const Combiner &combiner = combiners[i % outputs];
    std::optional<Extreme> extreme = Extreme::of(b, combiner);
    return extreme ? extreme->fold(lhs, rhs) : body.combine(combiner, lhs, rhs);
  };
  auto addTo = [&](MutableArrayRef<Value> state, unsigned way,
                   const Place &at) {
    for (unsigned i = 0; i < count; i += outputs) {
      int64_t vector = i / outputs;
      Place here = vector == 0
                       ? at
                       : enter(at, *vectorLoop, number(b, vector * step.lanes));
      for (auto [output, value] :
           llvm::enumerate(runBody(here, step, {}, without))) {
        Value &sum = state[way * count + i + output];
        sum = combine(output, sum, value);
        Value &nan = state[ways * count + i + output];
        if (auto extreme = Extreme::of(b, combiners[output]))
          nan = extreme->keepNan(nan, value);
      }
    }
  };
  unsigned loop = folded.back();
  auto along = [&](const Place &at, OpFoldResult from, OpFoldResult to,
                   unsigned ways, ValueRange state) {
    auto steps = [&](OpBuilder &, Location, Value i, ValueRange inside) {
      SmallVector<Value> next(inside);
      for (unsigned way = 0; way < ways; ++way)
        addTo(next, way,
              enter(at, loop, add(b, OpFoldResult(i), number(b, way))));
      scf::YieldOp::create(b, next);
    };
    auto op = scf::ForOp::create(b, asValue(b, from), asValue(b, to),
                                 constant(ways), state, steps);
    return SmallVector<Value>(op.getResults());
  };
  OpFoldResult size = nest.loops[loop].size;
  OpFoldResult whole = multiply(b, floorDivide(b, size, ways), number(b, ways));
  state = fold(ArrayRef(folded).drop_back(), place, state,
               [&](const Place &at, ValueRange inside) {
                 SmallVector<Value> all =
                     along(at, number(b, 0), whole, ways, inside);
                 return along(at, whole, size, 1, all);
               });
  for (unsigned distance = 1; distance < ways; distance *= 2)
    for (unsigned way = 0; way + distance < ways; way += 2 * distance)
      for (unsigned i = 0; i < count; ++i)
        state[way * count + i] = combine(i, state[way * count + i],
                                         state[(way + distance) * count + i]);
  for (unsigned i = 0; i < count; ++i)
    if (auto extreme = Extreme::of(b, combiners[i % outputs]))
      state[i] = extreme->keepNan(extreme->keepNan(state[i], start[i]),
                                  state[ways * count + i]);
  state.truncate(count);
  return state;
}

} // namespace onnxc::nests
