// What tiles of a product ask for ahead of time: weights of the panel that
// comes next, or of their own a little later.
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/ContractionEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace onnxc::contraction {

// Steps of a sum that may share a line which they ask for.
constexpr int64_t stepsOfLine = 2;

static int64_t elementsOfLine(OpOperand *input) {
  int64_t bits = getElementTypeOrSelf(input->get()).getIntOrFloatBitWidth();
  return std::max<int64_t>(8 * lineBytes / bits, 1);
}

// The tiles of rows that read a panel, and which of them `tile` is. Where only
// the run knows how many there are, all of them if what is left of the rows is
// one tile, else the whole ones; or rows themselves.
ContractionEmitter::Turn ContractionEmitter::turnOf(const Tile &tile,
                                                    bool ofRows) {
  Turn turn{number(b, 1), number(b, 0)};
  auto take = [&](OpFoldResult count, OpFoldResult at) {
    turn.count = multiply(b, turn.count, count);
    turn.number = add(b, multiply(b, turn.number, count), at);
  };
  for (unsigned loop : nest.pixels)
    take(nest.sizes[loop], tile.loops[loop]);
  if (!nest.row || tile.isAll)
    return turn;
  bool isBlock = bool(tile.blockEnd);
  OpFoldResult begin = isBlock ? tile.blockBegin : number(b, 0),
               rows = nest.sizes[*nest.row],
               at = subtract(b, tile.loops[*nest.row], begin);
  int64_t whole = nest.schedule.getRows();
  if (isBlock)
    rows = getConstantIntValue(rows) ? number(b, nest.schedule.getBlock())
                                     : subtract(b, tile.blockEnd, begin);
  if (getConstantIntValue(rows)) {
    take(ceilDivide(b, rows, number(b, whole)), floorDivide(b, at, tile.rows));
  } else if (ofRows) {
    take(rows, at);
    turn.taken = tile.rows;
  } else if (readsFarPanels()) { // the last two tiles may be lower ones
    take(ceilDivide(b, rows, number(b, whole)),
         ceilDivide(b, at, number(b, whole)));
  } else {
    take(maximum(b, floorDivide(b, rows, whole), number(b, 1)),
         floorDivide(b, at, whole));
  }
  return turn;
}

// To the panel, or the piece of one, that is read next.
void ContractionEmitter::moveToNextPanel(Tile &tile) {
  for (unsigned loop : nest.roles.reductions)
    tile.loops[loop] = number(b, 0);
  OpFoldResult &panel = tile.loops[values.panelLoop()],
               &sum = tile.loops[nest.roles.reductions.back()];
  OpFoldResult nextPanel =
      ifBackwards(subtract(b, panel, group), add(b, panel, group));
  if (!tile.isPiece()) {
    panel = nextPanel;
    return;
  }
  auto ifLast = [&](OpFoldResult then, OpFoldResult otherwise) {
    return arith::SelectOp::create(b, tile.isLast, asValue(b, then),
                                   asValue(b, otherwise))
        .getResult();
  };
  OpFoldResult next = add(b, tile.from, number(b, nest.schedule.getDepth()));
  panel = ifLast(nextPanel, panel);
  sum = ifLast(number(b, 0), next);
}

// How many elements lie between the panel, or the piece of one, that the tile
// reads and the next one.
OpFoldResult ContractionEmitter::elementsToNextPanel(const Tile &tile) {
  OpFoldResult columns = number(b, nest.schedule.getColumns()), panel = columns;
  for (unsigned loop : nest.roles.reductions)
    panel = multiply(b, panel, nest.sizes[loop]);
  OpFoldResult elements = multiply(b, panel, group);
  if (!tile.isPiece())
    return ifBackwards(subtract(b, number(b, 0), elements), elements);
  assert(!backwards && "pieces are not turned round");
  OpFoldResult rest = subtract(b, elements, multiply(b, columns, tile.from));
  OpFoldResult piece =
      multiply(b, columns, number(b, nest.schedule.getDepth()));
  return arith::SelectOp::create(b, tile.isLast, asValue(b, rest),
                                 asValue(b, piece))
      .getResult();
}

OpFoldResult ContractionEmitter::elementsPerStep(const Turn &turn) {
  return ceilDivide(b, number(b, nest.schedule.getColumns() * turn.taken),
                    turn.count);
}

// A tile that turns out to be all rows is the first that reads a panel. It asks
// for what comes so many elements `ahead`, where that is known, else for a line
// that it has had: what it is about to read, asked for into L2, took Zen 4 up
// to 2.6 times as long as nothing did. Further lines lie `back` then, so that
// it asks for one of each step where that is a line.
ContractionEmitter::Slice
ContractionEmitter::sliceOf(const Tile &tile, Turn turn,
                            std::optional<int64_t> ahead, int64_t panelColumns,
                            int64_t back) {
  OpFoldResult steps = number(b, 1), step = number(b, 0);
  for (unsigned loop : nest.roles.reductions) {
    steps = multiply(b, steps, nest.sizes[loop]);
    step = add(b, multiply(b, step, nest.sizes[loop]), tile.loops[loop]);
  }
  if (tile.from) {
    steps = subtract(b, tile.to, tile.from);
    step = subtract(b, step, tile.from);
  }
  OpFoldResult columns = number(b, nest.schedule.getColumns()),
               taken = number(b, turn.taken);
  OpFoldResult perStep = elementsPerStep(turn);
  if (getConstantIntValue(turn.count))
    return {multiply(b, add(b, multiply(b, turn.number, steps), step), perStep),
            perStep, number(b, 0)};
  OpFoldResult panel = multiply(b, columns, steps);
  OpFoldResult first =
      ceilDivide(b, multiply(b, turn.number, panel), turn.count);
  if (tile.asksOnce)
    return {add(b, first, multiply(b, step, perStep)), perStep, number(b, 0)};
  Value isAll = arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq, asValue(b, turn.count), asValue(b, taken));
  // What the first one of two tiles has read, the other one finds in L2.
  if (readsFarMemory()) {
    auto compare = [&](arith::CmpIPredicate predicate, OpFoldResult lhs,
                       int64_t rhs) {
      return arith::CmpIOp::create(b, predicate, asValue(b, lhs),
                                   asValue(b, number(b, rhs)));
    };
    Value isFirst = compare(arith::CmpIPredicate::eq, turn.number, 0),
          areTwo = compare(arith::CmpIPredicate::ule, turn.count,
                           2 * nest.schedule.getRows());
    isAll = arith::OrIOp::create(b, isAll,
                                 arith::AndIOp::create(b, isFirst, areTwo));
  }
  auto ifAll = [&](OpFoldResult then, OpFoldResult otherwise) {
    return OpFoldResult(arith::SelectOp::create(b, isAll, asValue(b, then),
                                                asValue(b, otherwise))
                            .getResult());
  };
  first = ifAll(
      subtract(b, number(b, ahead.value_or(0)), elementsToNextPanel(tile)),
      first);
  OpFoldResult pace = perStep, none = number(b, 0), apart = none;
  if (!ahead)
    pace = ifAll(none, perStep);
  if (back)
    apart = ifAll(number(b, -back), none);
  // Lines of panels that a tile reads side by side, or that follow each other.
  if (ahead && panelColumns < nest.schedule.getColumns()) {
    OpFoldResult line = number(b, panelColumns);
    pace = ifAll(line, perStep);
    apart = ifAll(none, subtract(b, line, multiply(b, line, steps)));
  }
  return {add(b, first, multiply(b, step, pace)), perStep, apart};
}

// Tiles of rows that read a panel again and again have time: each asks for a
// slice of the next one, a little in each step of its sums, so that none of
// them waits. Slices are lines that follow each other, as a core's own
// prefetcher expects: lines of each row in turn took Emerald Rapids 1.2 times
// as long.
void ContractionEmitter::prefetchSlice(OpOperand *input, const Tile &tile,
                                       Slice slice, TileValues::Cache cache,
                                       int64_t perLine) {
  // A few tiles or even one may be all, unless there are pixels around them.
  bool mayBeFew = llvm::all_of(nest.pixels, [&](unsigned loop) {
    return getConstantIntValue(nest.sizes[loop]).value_or(1) == 1;
  });
  int64_t most = mayBeFew && !tile.asksOnce ? nest.schedule.getColumns() : 1;
  int64_t lines = llvm::divideCeil(
      getConstantIntValue(slice.elements).value_or(most), perLine);
  Tile next = tile;
  moveToNextPanel(next);
  for (int64_t line = 0; line < lines; ++line) {
    next.loops[nest.roles.vector] =
        add(b, tile.loops[nest.roles.vector], number(b, line * perLine));
    OpFoldResult begin =
        add(b, slice.begin, multiply(b, slice.apart, number(b, line)));
    values.prefetch(input->get(), root.getMatchingIndexingMap(input),
                    next.loops, {.shift = asValue(b, begin)}, cache);
  }
}

// Where the first cache takes a line per cycle (Zen 5), all of them may go
// there ahead of time. Where one takes two, what is asked for stands in the way
// of what is read. On Zen 4 weights came so at 79 GB/s from L3, and at 100 when
// nothing was asked for; from behind it 4096 x 4096 of them took 0.95 of the
// time with one line in four asked for, and up to 2.5 times as long with one of
// two. With all of them, 5 to 8 rows took 0.45 to 1.03 of the time, for the
// more a core has to do with a line the fewer it sees ahead by itself, and 1 to
// 4 rows up to 1.9 times as long, 5 rows of three lines a step 1.2. Of a line a
// step, by AVX2, two to four rows took 0.46 to 0.7. Memory behind Intel's mesh
// is further away: 4096 x 4096 weights took 0.87 of the time for four and eight
// rows. On Zen 5 two to six rows want 8 KiB (10 and 12: 1.00 to 1.03 of the
// time), seven and eight 14 or 16 (0.94 and 0.86 of the time that 8 took). A
// single row took 0.93 of the time with nothing asked for, the core sees
// further by itself; of weights in L3 0.9 to 1.25, in L2 1.07 to 1.25.
static std::optional<Ahead> aheadOf(ModuleOp module, int64_t bytes,
                                    int64_t rows, int64_t lines,
                                    int64_t vectorsOfLine, bool areOfRun) {
  auto target = module->getAttrOfType<TargetAttr>(targetAttrName);
  if (!target)
    return Ahead{8 << 10, 1, TileValues::Cache::First};
  constexpr int64_t every = 4, manyCycles = 5;
  bool areInL3 = weightsBytes(module) <= l3BytesOf(target) / 2;
  if (target.getL2BytesPerCycle() >= lineBytes) {
    bool isBehind = isBehindCaches(bytes, target),
         isFar = isFarFromMemory(target);
    if (isBehind && isFar && rows > 1)
      return Ahead{128 << 10, 1, TileValues::Cache::Second};
    if (isBehind && !isFar && !areInL3 && rows == 1 && vectorsOfLine == 1)
      return std::nullopt;
    constexpr int64_t fewRows = 6;
    bool isNear = areInL3 || rows <= fewRows;
    return Ahead{isNear ? 8 << 10 : rows << 11, 1, TileValues::Cache::First};
  }
  if (areInL3)
    return std::nullopt;
  int64_t cyclesOfLine =
      rows * vectorsOfLine / std::max<int64_t>(target.getFmaPerCycle(), 1);
  bool isWide = lines >= every - 1,
       isNarrow = lines == 1 && rows > 1 && !seesLittleAhead(target);
  if (cyclesOfLine >= manyCycles + isWide || isNarrow)
    return Ahead{8 << 10, 1, TileValues::Cache::Second};
  if (lines >= every)
    return Ahead{16 << 10, every, TileValues::Cache::Second};
  // One of three lines, too, for one to four rows of any number, where L3 does
  // not keep weights from run to run: 0.87 to 0.94 of the time, and at 12 KiB
  // four rows another 0.9 of what 16 took.
  if (isWide && cyclesOfLine < manyCycles && areOfRun &&
      weightsBytes(module) > l3BytesOf(target))
    return Ahead{12 << 10, every, TileValues::Cache::Second};
  return std::nullopt;
}

// Of what is packed, or of the tile.
int64_t ContractionEmitter::panelColumnsOf(OpOperand *input) {
  int64_t columns =
      values.access(input->get(), root.getMatchingIndexingMap(input))
          .panelColumns;
  return columns ? columns : nest.schedule.getColumns();
}

std::optional<Ahead> ContractionEmitter::aheadOfTile(OpOperand *input,
                                                     const Tile &tile,
                                                     int64_t perLine) {
  auto type = cast<ShapedType>(input->get().getType());
  int64_t bits = type.getElementTypeBitWidth();
  int64_t bytes = type.hasStaticShape() ? type.getNumElements() * bits / 8 : 0;
  int64_t width = tile.vectors * lanes;
  std::optional<Ahead> ahead = aheadOf(
      moduleOf(b), bytes, tile.rows, llvm::divideCeil(width, perLine),
      perLine / lanes, nest.row && !getConstantIntValue(nest.sizes[*nest.row]));
  auto target = moduleOf(b)->getAttrOfType<TargetAttr>(targetAttrName);
  int64_t panel = panelColumnsOf(input);
  if (!target || !ahead || width <= panel)
    return ahead;
  // From as many places at once the core asks by itself for what it reads, and
  // behind a mesh not far ahead for what several rows do.
  if (seesLittleAhead(target) && bytes > target.getL2Bytes()) {
    constexpr int64_t linesOfPanel = 48;
    if (tile.rows == 1 || !isFarFromMemory(target))
      return std::nullopt;
    return Ahead{linesOfPanel * nest.schedule.getColumns() * bits / 8, 1,
                 TileValues::Cache::First};
  }
  // Several panels side by side are all to be in the first cache.
  if (!isBehindCaches(bytes, target))
    ahead->bytes = ahead->bytes * panel / width;
  return ahead;
}

// Where weights are read once, what follows a little later is asked for.
void ContractionEmitter::prefetchStream(OpOperand *input, const Tile &tile,
                                        Ahead ahead, int64_t perLine) {
  int64_t lines = llvm::divideCeil(tile.vectors * lanes, perLine);
  int64_t bits = getElementTypeOrSelf(input->get()).getIntOrFloatBitWidth();
  int64_t rowBytes = nest.schedule.getColumns() * bits / 8;
  Tile next = tile;
  OpFoldResult &sum = next.loops[nest.roles.reductions.back()];
  sum = add(b, sum, number(b, llvm::divideCeil(ahead.bytes, rowBytes)));
  for (int64_t line = 0; line < lines; line += ahead.every) {
    next.loops[nest.roles.vector] =
        add(b, tile.loops[nest.roles.vector], number(b, line * perLine));
    values.prefetch(input->get(), root.getMatchingIndexingMap(input),
                    next.loops, {}, ahead.cache);
  }
}

// Weights come from far away. Where a core had better not ask for all of them,
// what is left of rows of unknown number asks for little, and of what it reads;
// or, beside other tiles, for its part of the next panel: behind whole ones
// five to seven rows took 0.77 to 0.93 of the time with AVX2 on Zen 5, and nine
// rows in tiles of five and four 0.73 on Zen 4.
void ContractionEmitter::prefetchWeights(const Tile &tile) {
  // All rows of an image read a piece of a window's panel, whose taps lie
  // apart.
  bool isPieceOfWindow =
      tile.from &&
      llvm::any_of(ArrayRef(nest.roles.reductions).drop_back(),
                   [&](unsigned loop) {
                     return !isConstantIntValue(nest.sizes[loop], 1);
                   });
  if (nest.schedule.getOuter() != LoopOrder::Panels || isPieceOfWindow)
    return;
  for (OpOperand *input : root.getDpsInputOperands()) {
    bool leaves = tile.leaves && input == panels;
    if (!leaves && !input->get().getDefiningOp<linalg::UnPackOp>())
      continue;
    int64_t bits = getElementTypeOrSelf(input->get()).getIntOrFloatBitWidth();
    int64_t perLine = elementsOfLine(input);
    bool isRest = nest.row && !getConstantIntValue(nest.sizes[*nest.row]) &&
                  tile.rows < nest.schedule.getRows();
    std::optional<Ahead> ahead = aheadOfTile(input, tile, perLine);
    bool takesAll = ahead && ahead->every == 1,
         takesPart = isRest && !takesAll && readsFarPanels();
    Turn turn = turnOf(tile, /*ofRows=*/takesAll);
    if (leaves || isConstantIntValue(turn.count, 1) ||
        (isRest && !takesAll && !takesPart)) {
      if (ahead)
        prefetchStream(input, tile, *ahead, perLine);
      continue;
    }
    int64_t panel = panelColumnsOf(input);
    std::optional<int64_t> elements;
    if (ahead && (takesAll || takesPart))
      elements = ahead->bytes * 8 / bits * panel / nest.schedule.getColumns();
    Slice slice = sliceOf(tile, turn, elements, panel,
                          /*back=*/elements && !takesAll ? perLine : 0);
    bool isLater = tile.asksOnce || !takesAll;
    prefetchSlice(input, tile, slice,
                  isLater ? TileValues::Cache::Second : ahead->cache, perLine);
  }
}

//===-- Two steps of a sum at once ----------------------------------------===//

OpOperand *ContractionEmitter::packedWeights() {
  for (OpOperand *input : root.getDpsInputOperands())
    if (input->get().getDefiningOp<linalg::UnPackOp>())
      return input;
  return nullptr;
}

// Whether two steps of a whole tile, of one tap of a window, may share what
// they ask for.
bool ContractionEmitter::mayAskOnce(ArrayRef<unsigned> loops,
                                    const Tile &tile) {
  auto target = moduleOf(b)->getAttrOfType<TargetAttr>(targetAttrName);
  std::optional<int64_t> steps = getConstantIntValue(nest.sizes[loops.front()]);
  return target && isFarFromMemory(target) && !isSmall(moduleOf(b)) &&
         nest.schedule.getOuter() == LoopOrder::Panels && loops.size() == 1 &&
         tile.border != Tile::Clamped && !isDepthwise(root, nest.roles) &&
         !alongSum && !tile.leaves && tile.rows > 1 &&
         tile.rows == nest.schedule.getRows() && steps &&
         *steps % stepsOfLine == 0 &&
         nest.schedule.getDepth() % stepsOfLine == 0;
}

// How many elements of the next panel of `weights` each step of the tile asks
// for; null where it asks for something else or for nothing.
OpFoldResult ContractionEmitter::askedPerStep(OpOperand *weights,
                                              const Tile &tile) {
  std::optional<Ahead> ahead =
      aheadOfTile(weights, tile, elementsOfLine(weights));
  Turn turn = turnOf(tile, /*ofRows=*/true);
  if (!ahead || ahead->every > 1 || isConstantIntValue(turn.count, 1))
    return {};
  return elementsPerStep(turn);
}

// A line of which each step needs half or less is asked for once in two steps,
// and goes to L2, for it is read a panel later. Asked for in each step, it took
// the place of what is read: on Granite Rapids ViT-B took 0.945 and GPT-2's
// prompt 0.95 of the time, ResNet-50, Inception and SqueezeNet 0.97 to 0.98. A
// loop of two steps around each line took 0.96 to 1.02 of it.
void ContractionEmitter::reduceInPairs(ArrayRef<unsigned> loops, Tile &tile,
                                       Rows live, Accumulators &sums,
                                       OpFoldResult begin, OpFoldResult end) {
  auto inTurn = [&] { reduceTaps(loops, tile, live, sums, begin, end, 1); };
  auto inPairs = [&] {
    tile.asksOnce = true;
    reduceTaps(loops, tile, live, sums, begin, end, stepsOfLine);
    tile.asksOnce = false;
  };
  OpOperand *weights = packedWeights();
  OpFoldResult asked = weights ? askedPerStep(weights, tile) : OpFoldResult();
  if (!asked)
    return inTurn();
  int64_t most = elementsOfLine(weights) / stepsOfLine;
  if (std::optional<int64_t> known = getConstantIntValue(asked))
    return *known <= most ? inPairs() : inTurn();
  Value isLittle =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sle, asValue(b, asked),
                            asValue(b, number(b, most)));
  reduceWhere(isLittle, sums, inPairs, inTurn);
}

} // namespace onnxc::contraction
