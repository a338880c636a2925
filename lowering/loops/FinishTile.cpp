// What follows the sums of a register tile: the epilogue, and the fold over
// pixels of what it makes.
#include "lowering/loops/Chains.h"
#include "lowering/loops/ContractionEmitter.h"
#include "lowering/loops/KernelWork.h"
#include "lowering/loops/LaneBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace onnxc::contraction {

// Operations after the sums of a tile that are less code in a loop, and rows
// that make one worth it; of tiles for what is left of rows, those of a vector.
constexpr int64_t longEpilogue = 256, fewestRowsInLoop = 4, longOfRest = 8;

// Parts of vectors are not forwarded from stores to loads, so complete sums
// with lanes that do not exist wait on the stack, and so do those that meet
// what is in the output.
bool ContractionEmitter::waitsInOutput(const Tile &tile) {
  if (nest.yieldedPositions.empty())
    return false;
  bool isRead = kernel.readsOutput(*kernel.getDpsInitOperand(0));
  return !tile.ends || (!tile.mask && !isRead);
}

// Stores sums that are not complete, or that something else follows: in the
// output, or on the stack where that has no place for them.
void ContractionEmitter::putAside(const Tile &tile, ArrayRef<Value> sums) {
  bool inOutput = waitsInOutput(tile);
  if (!inOutput && !waiting) {
    waiting = onStack(nest.schedule.getRows() * nest.schedule.getColumns(),
                      getElementTypeOrSelf(root.getResult(0)));
    waiting.getDefiningOp()->setAttr(tileAttrName, b.getUnitAttr());
  }
  BlockArgument output = kernel.getBlockArgument(*kernel.getDpsInitOperand(0));
  for (auto [i, sum] : llvm::enumerate(sums))
    if (inOutput)
      values.store(sum, output, nest.yieldedPositions[0], tile.loops,
                   cell(tile, i / tile.vectors, i % tile.vectors));
    else
      vector::StoreOp::create(b, sum, waiting,
                              asValue(b, number(b, i * lanes)));
}

// Sums of rows from `first` on, which is where `tile` begins.
ContractionEmitter::Accumulators
ContractionEmitter::takeBack(const Tile &tile, Value first, int64_t rows) {
  BlockArgument output = kernel.getBlockArgument(*kernel.getDpsInitOperand(0));
  Accumulators sums;
  for (int64_t i = 0; i < rows * tile.vectors; ++i) {
    if (waitsInOutput(tile)) {
      sums.push_back(values.at(output, nest.yieldedPositions[0], tile.loops,
                               cell(tile, i / tile.vectors, i % tile.vectors)));
      continue;
    }
    OpFoldResult at =
        add(b, multiply(b, first, number(b, tile.vectors * lanes)),
            number(b, i * lanes));
    auto type = VectorType::get({lanes}, getElementTypeOrSelf(waiting));
    sums.push_back(vector::LoadOp::create(b, type, waiting, asValue(b, at)));
  }
  return sums;
}

// Whether what follows the sums is long enough to be written for one row of the
// tile only, in a loop. The sums wait in the output, where that is not read, or
// on the stack.
bool ContractionEmitter::finishesInLoop(const Tile &tile) {
  OpOperand *output = kernel.getDpsInitOperand(0);
  bool isReady = nest.yieldedPositions.empty() || kernel.readsOutput(*output) ||
                 getElementTypeOrSelf(output->get().getType()) ==
                     getElementTypeOrSelf(root.getResult(0).getType());
  // Fewer rows of more vectors may be more than wait on the stack.
  bool fits = tile.rows * tile.vectors * lanes <=
              nest.schedule.getRows() * nest.schedule.getColumns();
  if (!nest.row || tile.rows < (isOfRest(tile) ? 2 : fewestRowsInLoop) ||
      overlapsAtEnd() || nest.yieldedPositions.size() > 1 || !isReady || !fits)
    return false;
  int64_t weight = 0;
  for (auto op : kernel.getBodyBlock()->getOps<linalg::GenericOp>())
    if (root->isBeforeInBlock(op))
      weight += weightOf(op);
  return weight * tile.rows * tile.vectors >= longEpilogue ||
         (isOfRest(tile) && weight >= longOfRest);
}

// Rows that go through what follows together, so that there are a few vectors.
int64_t ContractionEmitter::rowsTogether(const Tile &tile) {
  auto target = moduleOf(b)->getAttrOfType<TargetAttr>(targetAttrName);
  int64_t rows = target ? chainsSideBySide(target) / tile.vectors : 1;
  return std::max<int64_t>(rows, 1);
}

// What follows the sums, a few rows at a time.
void ContractionEmitter::finishInLoop(const Tile &tile) {
  int64_t together = rowsTogether(tile);
  while (tile.rows % together)
    --together;
  auto loop = scf::ForOp::create(b, asValue(b, number(b, 0)),
                                 asValue(b, number(b, tile.rows)),
                                 asValue(b, number(b, together)));
  loop->setAttr(tileAttrName, b.getUnitAttr());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    forgetLoads();
    Tile part = tile;
    part.loops[*nest.row] =
        add(b, tile.loops[*nest.row], OpFoldResult(loop.getInductionVar()));
    Accumulators folded(together * tile.vectors);
    finishRows(part, 0, takeBack(part, loop.getInductionVar(), together),
               folded);
    storeFold(part, folded);
  }
  forgetLoads();
}

// Applies what follows the sums, one for each vector of rows from `first` on;
// all of it in front of what is stored.
void ContractionEmitter::finishRows(const Tile &tile, int64_t first,
                                    ArrayRef<Value> sums,
                                    Accumulators &folded) {
  auto cellOf = [&](size_t i) {
    return cell(tile, first + i / tile.vectors, i % tile.vectors);
  };
  SmallVector<Value> results;
  for (auto [i, sum] : llvm::enumerate(sums)) {
    values.known[root.getResult(0)] = sum;
    for (auto [position, yielded] :
         llvm::zip_first(nest.yieldedPositions, kernel.getYielded())) {
      results.push_back(values.at(yielded, position, tile.loops, cellOf(i)));
      values.known[yielded] = results.back();
    }
    if (nest.fold)
      foldRow(tile, cellOf(i), folded);
    values.known.clear();
  }
  size_t outputs = nest.yieldedPositions.size();
  for (auto [i, result] : llvm::enumerate(results))
    values.store(
        result, kernel.getBlockArgument(*kernel.getDpsInitOperand(i % outputs)),
        nest.yieldedPositions[i % outputs], tile.loops, cellOf(i / outputs));
}

// Takes one more vector of the result in.
void ContractionEmitter::foldRow(const Tile &tile, Cell at,
                                 Accumulators &folded) {
  ContractionNest::Fold fold = *nest.fold;
  int64_t row = nest.row && nest.folds(*nest.row) ? 0 : at.row;
  Value &sofar = folded[row * tile.vectors + at.column / lanes];
  Value element =
      values.at(fold.op.getDpsInputs()[0], fold.inputPosition, tile.loops, at);
  sofar = sofar ? values.call(fold.op.getBody(), {element, sofar}) : element;
}

// What tiles before this one have folded: nothing yet where it is the first.
Value ContractionEmitter::heldByFold(const Tile &tile, Cell at) {
  ContractionNest::Fold fold = *nest.fold;
  Value isFirst, start = values.at(fold.op.getDpsInits()[0], fold.position,
                                   tile.loops, at);
  bool isLater = false;
  for (unsigned loop : fold.loops) {
    std::optional<int64_t> known = getConstantIntValue(tile.loops[loop]);
    isLater |= known.value_or(0) != 0;
    if (known)
      continue;
    Value isZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                         asValue(b, tile.loops[loop]),
                                         asValue(b, number(b, 0)));
    isFirst = isFirst ? arith::AndIOp::create(b, isFirst, isZero) : isZero;
  }
  if (!isLater && !isFirst)
    return start;
  Value held = values.at(fold.output, fold.position, tile.loops, at);
  return isLater ? held : arith::SelectOp::create(b, isFirst, start, held);
}

void ContractionEmitter::storeFold(const Tile &tile, ArrayRef<Value> folded) {
  for (auto [i, part] : llvm::enumerate(folded)) {
    if (!part)
      continue;
    ContractionNest::Fold fold = *nest.fold;
    Cell at = cell(tile, i / tile.vectors, i % tile.vectors);
    Value held = heldByFold(tile, at);
    values.store(values.call(fold.op.getBody(), {part, held}), fold.output,
                 fold.position, tile.loops, at);
  }
}

} // namespace onnxc::contraction
