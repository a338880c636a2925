// One register tile of a contraction: start values and the loops of the
// reduction. FinishTile.cpp writes what follows the sums, PrefetchPanels.cpp
// what is asked for ahead of time.
#include "lowering/loops/ContractionEmitter.h"
#include "dialects/onnxc/Ordered.h"
#include "lowering/loops/Extreme.h"
#include "lowering/loops/Rolled.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace onnxc::contraction {

// Reduction loops that are this short have no loop.
constexpr int64_t shortReduction = 4, shortDepthwiseReduction = 8;
// Sums that hide a multiply-add's latency without a second step beside them.
constexpr size_t sumsOfFullTile = 8;

ModuleOp moduleOf(OpBuilder &b) {
  Operation *function = b.getInsertionBlock()->getParentOp(); // or a loop in it
  return function->getParentOfType<ModuleOp>();
}

void ContractionEmitter::emitTile(Tile &tile) {
  forgetLoads();
  Accumulators sums = beginSums(tile);
  if (alongSum)
    addPartialSums(tile, sums);
  else
    reduce(nest.roles.reductions, tile, {0, tile.rows}, sums);
  for (unsigned loop : nest.roles.reductions)
    tile.loops[loop] = number(b, 0);
  forgetLoads();
  if (!tile.isPiece())
    return finishSums(tile, sums);
  auto branch = scf::IfOp::create(b, tile.isLast, /*withElseRegion=*/true);
  for (bool ends : {true, false}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ends ? branch.thenBlock() : branch.elseBlock());
    Tile piece = tile;
    piece.ends = ends;
    finishSums(piece, sums);
    forgetLoads();
  }
}

// What the sums of a tile begin with: the start value, or what earlier pieces
// have left in the output.
ContractionEmitter::Accumulators
ContractionEmitter::beginSums(const Tile &tile) {
  auto load = [&](Value from, AffineMap position) {
    Accumulators sums;
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t vector = 0; vector < tile.vectors; ++vector)
        sums.push_back(
            values.at(from, position, tile.loops, cell(tile, row, vector)));
    return sums;
  };
  auto begin = [&] { return load(root.getDpsInits()[0], nest.outputPosition); };
  auto goOn = [&] {
    return load(kernel.getBlockArgument(*kernel.getDpsInitOperand(0)),
                nest.yieldedPositions[0]);
  };
  if (!tile.isPiece())
    return begin();
  auto type = VectorType::get({lanes}, getElementTypeOrSelf(root.getResult(0)));
  SmallVector<Type> types(tile.rows * tile.vectors, type);
  auto branch =
      scf::IfOp::create(b, types, tile.isFirst, /*withElseRegion=*/true);
  for (bool begins : {true, false}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(begins ? branch.thenBlock()
                                      : branch.elseBlock());
    scf::YieldOp::create(b, begins ? begin() : goOn());
    forgetLoads();
  }
  return Accumulators(branch.getResults());
}

void ContractionEmitter::finishSums(const Tile &tile, Accumulators &sums) {
  bool isLater = tile.ends && finishesInLoop(tile);
  int64_t together = tile.ends ? rowsTogether(tile) : 1;
  if (isLater || !tile.ends) {
    putAside(tile, sums);
    return isLater ? finishInLoop(tile) : void();
  }
  Accumulators folded(tile.rows * tile.vectors);
  for (int64_t row = 0; row < tile.rows; row += together)
    finishRows(tile, row,
               ArrayRef(sums).slice(row * tile.vectors,
                                    std::min(together, tile.rows - row) *
                                        tile.vectors),
               folded);
  storeFold(tile, folded);
}

bool ContractionEmitter::isUnrolled(ArrayRef<unsigned> loops,
                                    const Tile &tile) {
  unsigned loop = loops.front();
  std::optional<int64_t> extent = getConstantIntValue(nest.sizes[loop]);
  if (!extent)
    return false;
  const ContractionNest::SizedBorder *window = nest.windowOf(loop);
  if (window && window == nest.rowWindow()) {
    if (tile.border != Tile::Inside)
      return tile.border == Tile::Unrolled;
  } else if (window) {
    return false;
  }
  if (loopWithinGroup(root) == loop)
    return true;
  int64_t few =
      isDepthwise(root, nest.roles) ? shortDepthwiseReduction : shortReduction;
  int64_t steps = llvm::divideCeil(*extent, stepOf(loop));
  return steps == 1 || (loops.size() == 1 && steps <= few);
}

// Whether there is no loop in what they do.
bool ContractionEmitter::isBlock(ArrayRef<unsigned> loops, const Tile &tile) {
  return loops.empty() ||
         (isUnrolled(loops, tile) && isBlock(loops.drop_front(), tile));
}

void ContractionEmitter::reduce(ArrayRef<unsigned> loops, Tile &tile, Rows live,
                                Accumulators &sums) {
  if (loops.empty()) {
    for (int64_t row = live.begin; row < live.end; ++row)
      alongSum ? accumulateAlongSum(tile, row, sums)
               : accumulate(tile, row, sums);
    return;
  }
  if (isUnrolled(loops, tile))
    return reduceUnrolled(loops, tile, live, sums,
                          *getConstantIntValue(nest.sizes[loops.front()]));
  reduceInLoop(loops, tile, live, sums);
}

// The rows of the tile for which the tap lies inside of the input.
Rows ContractionEmitter::liveRows(const Tile &tile, unsigned tap, int64_t at,
                                  Rows live) {
  const ContractionNest::SizedBorder *window = nest.rowWindow();
  if (tile.border != Tile::Unrolled || !window || window->tap != tap)
    return live;
  int64_t size = *getConstantIntValue(window->size),
          front = *getConstantIntValue(window->front);
  auto isOutside = [&](int64_t row) {
    int64_t index =
        (tile.firstRow + row) * window->scale + at * window->dilation - front;
    return index < 0 || index >= size;
  };
  while (live.begin < live.end && isOutside(live.begin))
    ++live.begin;
  while (live.begin < live.end && isOutside(live.end - 1))
    --live.end;
  return live;
}

// Taps without a loop around them are one block to LLVM. While all registers
// hold sums, what one tap loads is neither to be kept for a later one nor to be
// loaded ahead of it: no load crosses the fence, which is no instruction.
void ContractionEmitter::endTap() {
  forgetLoads();
  LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel, "singlethread");
  auto function =
      b.getInsertionBlock()->getParent()->getParentOfType<func::FuncOp>();
  function->setAttr("passthrough", b.getStrArrayAttr({orderedAttrName}));
}

// Whether the registers hold so many vectors; where the target is not known,
// they do.
bool ContractionEmitter::fitRegisters(int64_t vectors) {
  auto target = moduleOf(b)->getAttrOfType<TargetAttr>(targetAttrName);
  return !target || vectors <= target.getVectorRegisters();
}

// Whether vectors lie along what a window slides over, so that taps share them:
// where a vector meets the weights of many taps, registers are to hold these.
bool ContractionEmitter::tapsShareVectors(const Tile &tile, int64_t taps) {
  auto isUsed = [&](OpOperand *input) {
    return root.payloadUsesValueFromOperand(input);
  };
  bool hasWeights = llvm::count_if(root.getDpsInputOperands(), isUsed) > 1;
  if (hasWeights && isDepthwise(root, nest.roles) &&
      !fitRegisters(tile.rows + std::min(tile.rows, taps) + 2))
    return false;
  return llvm::any_of(root.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = root.getMatchingIndexingMap(input);
    return map.isFunctionOfDim(nest.roles.vector) &&
           llvm::any_of(map.getResults(), llvm::IsaPred<AffineBinaryOpExpr>);
  });
}

// How far rows and taps of a window move in the input.
std::pair<int64_t, int64_t> ContractionEmitter::stepsAlong(unsigned tap) {
  for (OpOperand *input : root.getDpsInputOperands())
    for (AffineExpr index : root.getMatchingIndexingMap(input).getResults())
      if (nest.row && coefficient(index, *nest.row) && coefficient(index, tap))
        return {coefficient(index, *nest.row), coefficient(index, tap)};
  return {0, 1};
}

// Whether what a row reads at one tap is what its neighbour reads at another.
bool ContractionEmitter::rowsShareElements() {
  return llvm::any_of(nest.roles.reductions, [&](unsigned loop) {
    return !isConstantIntValue(nest.sizes[loop], 1) &&
           stepsAlong(loop).first != 0;
  });
}

// Where taps share vectors, in the order of the input's pixels, so that each is
// loaded once and forgotten soon. `goTo` goes to one of the steps.
void ContractionEmitter::reduceSteps(unsigned loop, Tile &tile, Rows live,
                                     Accumulators &sums, int64_t steps,
                                     llvm::function_ref<void(int64_t)> goTo) {
  bool sharesVectors = tapsShareVectors(tile, steps);
  auto [scale, dilation] =
      sharesVectors ? stepsAlong(loop) : std::pair<int64_t, int64_t>(0, 1);
  SmallVector<std::tuple<int64_t, int64_t, int64_t>> updates;
  for (int64_t at = 0; at < steps; at += stepOf(loop)) {
    Rows rows = liveRows(tile, loop, at, live);
    for (int64_t row = rows.begin; row < rows.end; ++row)
      updates.push_back({row * scale + at * dilation, at, row});
  }
  llvm::sort(updates);
  int64_t last = 0;
  for (auto [pixel, at, row] : updates) {
    if (!sharesVectors && at != last)
      endTap();
    last = at;
    goTo(at);
    tile.isCutShort = at + stepOf(loop) > steps;
    reduce({}, tile, {row, row + 1}, sums);
  }
  tile.isCutShort = false;
}

void ContractionEmitter::reduceUnrolled(ArrayRef<unsigned> loops, Tile &tile,
                                        Rows live, Accumulators &sums,
                                        int64_t extent) {
  unsigned loop = loops.front();
  bool sharesVectors = tapsShareVectors(tile, extent);
  if (loops.size() > 1) {
    for (int64_t at = 0; at < extent; ++at) {
      tile.loops[loop] = number(b, at);
      Rows rows = liveRows(tile, loop, at, live);
      if (rows.begin >= rows.end)
        continue;
      reduce(loops.drop_front(), tile, rows, sums);
      bool isFull = !sharesVectors || loopWithinGroup(root) == loop;
      if (isFull && isBlock(loops.drop_front(), tile))
        endTap();
    }
    return;
  }
  reduceSteps(loop, tile, live, sums, extent,
              [&](int64_t at) { tile.loops[loop] = number(b, at); });
  // A short loop around it may go as well.
  if (!sharesVectors && (extent > 1 || rowsShareElements()))
    endTap();
}

// The taps of a window that lie inside of the input at the tile's pixel, or at
// any row of the tile.
std::pair<OpFoldResult, OpFoldResult>
ContractionEmitter::tapRange(const ContractionNest::SizedBorder &window,
                             const Tile &tile) {
  OpFoldResult taps = nest.sizes[window.tap];
  bool isRow = &window == nest.rowWindow();
  if (isRow && tile.border == Tile::Inside)
    return {number(b, 0), taps};
  OpFoldResult first = subtract(b, number(b, 0), window.front);
  if (window.pixel) {
    OpFoldResult pixel =
        add(b, nest.begins[*window.pixel], tile.loops[*window.pixel]);
    first = add(b, first, multiply(b, pixel, number(b, window.scale)));
  }
  OpFoldResult last = first;
  if (isRow && tile.rows > 1) {
    last = add(b, first, number(b, (tile.rows - 1) * window.scale));
    // Between the rows there may be taps for none; they need an image, too.
    taps = minimum(b, taps, multiply(b, taps, window.size));
  }
  int64_t dilation = window.dilation;
  OpFoldResult below =
      floorDivide(b, subtract(b, number(b, dilation - 1), last), dilation);
  OpFoldResult behind = add(
      b,
      floorDivide(b, subtract(b, subtract(b, window.size, number(b, 1)), first),
                  dilation),
      number(b, 1));
  return {maximum(b, number(b, 0), below), minimum(b, taps, behind)};
}

// LLVM unrolls the loop of a tile, and its scheduler begins with the elements
// that the rows read in all steps. Of a tile of one vector these are as many as
// its sums; lanes that are told apart take one register more.
bool ContractionEmitter::isUnrolledInVain(const Tile &tile, size_t sums) {
  return sums >= sumsOfFullTile && (sumsOfRow(tile) == 1 || tile.mask);
}

// How many taps of a depthwise window a step of its loop does, as far as
// registers hold what rows read: neighbours of taps side by side share it.
int64_t ContractionEmitter::tapsTogether(ArrayRef<unsigned> loops,
                                         const Tile &tile) {
  constexpr int64_t few = 4;
  if (loops.size() > 1 || alongSum || tile.rows == 1 ||
      tile.border != Tile::Inside || !isDepthwise(root, nest.roles))
    return 1;
  bool slides = stepsAlong(loops.front()).first != 0;
  return slides && fitRegisters(2 * tile.rows + few) ? few : 1;
}

// Whether it is for what is left of rows of unknown number. A single row may be
// all that there are.
bool ContractionEmitter::isOfRest(const Tile &tile) {
  bool isLess = nest.row && tile.rows < nest.schedule.getRows() &&
                !getConstantIntValue(nest.sizes[*nest.row]);
  return tile.rows > 1 && (nest.isRest || isLess);
}

// The element of the image that the row reads at the tap, if there is one.
OpFoldResult ContractionEmitter::indexOf(const Tile &tile, int64_t row) {
  const ContractionNest::SizedBorder &window = *nest.rowWindow();
  OpFoldResult pixel = add(b, tile.loops[*nest.row], number(b, row));
  return subtract(
      b,
      add(b, multiply(b, pixel, number(b, window.scale)),
          multiply(b, tile.loops[window.tap], number(b, window.dilation))),
      window.front);
}

// Whether `from` is an element of the image or behind it, and `to` one or
// before it.
Value ContractionEmitter::isWithin(OpFoldResult from, OpFoldResult to) {
  Value isBehind = arith::CmpIOp::create(
      b, arith::CmpIPredicate::sge, asValue(b, from), asValue(b, number(b, 0)));
  Value isBefore =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, asValue(b, to),
                            asValue(b, nest.rowWindow()->size));
  return arith::AndIOp::create(b, isBehind, isBefore);
}

void ContractionEmitter::reduceWhere(Value condition, Accumulators &sums,
                                     llvm::function_ref<void()> then,
                                     llvm::function_ref<void()> otherwise) {
  SmallVector<Type> types = llvm::to_vector(ValueRange(sums).getTypes());
  auto branch = scf::IfOp::create(b, types, condition, /*withElseRegion=*/true);
  Accumulators before = sums;
  for (bool holds : {true, false}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(holds ? branch.thenBlock() : branch.elseBlock());
    forgetLoads();
    sums = before;
    (holds ? then : otherwise)();
    scf::YieldOp::create(b, sums);
  }
  forgetLoads();
  llvm::copy(branch.getResults(), sums.begin());
}

// Rows of a tile that may lack a tap of the window.
int64_t ContractionEmitter::rowsBeside(const Tile &tile) {
  const ContractionNest::SizedBorder &window = *nest.rowWindow();
  std::optional<int64_t> front = getConstantIntValue(window.front);
  if (!front || ShapedType::isDynamic(window.high))
    return tile.rows;
  auto rowsOf = [&](int64_t elements) {
    return llvm::divideCeil(std::max<int64_t>(elements, 0), window.scale);
  };
  return rowsOf(*front) + rowsOf(window.high);
}

// One tap of a tile at a border. Most lie inside for all rows; where many rows
// may lack it, only the half of them is computed that has it.
void ContractionEmitter::reduceTap(ArrayRef<unsigned> loops, Tile &tile,
                                   Rows live, Accumulators &sums) {
  auto inside = [&] {
    tile.border = Tile::Inside;
    reduce(loops, tile, live, sums);
    tile.border = Tile::Clamped;
  };
  auto half = [&](Rows rows) {
    Value any =
        isWithin(indexOf(tile, rows.end - 1), indexOf(tile, rows.begin));
    reduceWhere(any, sums, [&] { reduce(loops, tile, rows, sums); }, [] {});
  };
  auto beside = [&] {
    if (rowsBeside(tile) <= tile.rows / 2)
      return reduce(loops, tile, live, sums);
    int64_t middle = llvm::divideCeil(live.begin + live.end, 2);
    half({live.begin, middle});
    half({middle, live.end});
  };
  Value all = isWithin(indexOf(tile, live.begin), indexOf(tile, live.end - 1));
  reduceWhere(all, sums, inside, beside);
}

void ContractionEmitter::reduceInLoop(ArrayRef<unsigned> loops, Tile &tile,
                                      Rows live, Accumulators &sums) {
  unsigned loop = loops.front();
  OpFoldResult begin = number(b, 0), end = nest.sizes[loop];
  if (const ContractionNest::SizedBorder *window = nest.windowOf(loop))
    std::tie(begin, end) = tapRange(*window, tile);
  if (tile.from && loop == nest.roles.reductions.back()) {
    begin = maximum(b, begin, tile.from);
    end = minimum(b, end, tile.to);
  }
  int64_t together = tapsTogether(loops, tile), step = together * stepOf(loop);
  bool isCutShort = restOfSum && loop == nest.roles.reductions.back();
  if (mayAskOnce(loops, tile))
    return reduceInPairs(loops, tile, live, sums, begin, end);
  if (together == 1 && !isCutShort)
    return reduceTaps(loops, tile, live, sums, begin, end, 1);
  OpFoldResult steps = floorDivide(b, subtract(b, end, begin), step),
               whole = add(b, begin, multiply(b, steps, number(b, step)));
  reduceTaps(loops, tile, live, sums, begin, whole, together);
  if (!isCutShort)
    return reduceTaps(loops, tile, live, sums, whole, end, 1);
  tile.loops[loop] = whole;
  tile.isCutShort = true;
  reduce({}, tile, live, sums);
  tile.isCutShort = false;
  forgetLoads();
}

// `together` at a time.
void ContractionEmitter::reduceTaps(ArrayRef<unsigned> loops, Tile &tile,
                                    Rows live, Accumulators &sums,
                                    OpFoldResult begin, OpFoldResult end,
                                    int64_t together) {
  unsigned loop = loops.front();
  auto liveSums = MutableArrayRef<Value>(sums).slice(
      live.begin * sumsOfRow(tile), (live.end - live.begin) * sumsOfRow(tile));
  auto scfLoop = scf::ForOp::create(
      b, asValue(b, begin), asValue(b, end),
      asValue(b, number(b, together * stepOf(loop))), liveSums);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(scfLoop.getBody());
    forgetLoads();
    tile.loops[loop] = OpFoldResult(scfLoop.getInductionVar());
    llvm::copy(scfLoop.getRegionIterArgs(), liveSums.begin());
    if (together > 1)
      reduceSteps(loop, tile, live, sums, together,
                  [&](int64_t at) { values.lookAhead(loop, at); });
    else if (nest.windowOf(loop) == nest.rowWindow() && loops.size() > 1 &&
             tile.border == Tile::Clamped && tile.rows > 1)
      reduceTap(loops.drop_front(), tile, live, sums);
    else
      reduce(loops.drop_front(), tile, live, sums);
    values.lookAhead(loop, 0);
    if (loops.size() == 1)
      prefetchWeights(tile);
    scf::YieldOp::create(b, liveSums);
  }
  // A single channel is no loop.
  bool isInnermost = llvm::all_of(loops.drop_front(), [&](unsigned inner) {
    return isConstantIntValue(nest.sizes[inner], 1);
  });
  if (isInnermost && (isUnrolledInVain(tile, liveSums.size()) ||
                      isOfRest(tile) || together > 1))
    keepRolled(scfLoop);
  llvm::copy(scfLoop.getResults(), liveSums.begin());
  forgetLoads();
}

// x + a * b in one rounding, where that is what was cloned.
static Value fuseMultiplyAdd(ImplicitLocOpBuilder &b, Value sum) {
  auto addition = sum.getDefiningOp<arith::AddFOp>();
  if (!addition)
    return sum;
  for (auto [product, other] :
       {std::pair(addition.getLhs(), addition.getRhs()),
        std::pair(addition.getRhs(), addition.getLhs())})
    if (auto multiplication = product.getDefiningOp<arith::MulFOp>();
        multiplication && multiplication->hasOneUse()) {
      Value fused = vector::FMAOp::create(b, multiplication.getLhs(),
                                          multiplication.getRhs(), other);
      addition.erase();
      multiplication.erase();
      return fused;
    }
  return sum;
}

// What the row reads, along the window that tiles at a border lack a part of.
ContractionEmitter::Beside ContractionEmitter::beside(const Tile &tile,
                                                      int64_t row) {
  const ContractionNest::SizedBorder *window = nest.rowWindow();
  if (tile.border != Tile::Clamped || tile.rows == 1)
    return {};
  // Only rows at the ends of the image lack taps, and so many at each.
  std::optional<int64_t> front = getConstantIntValue(window->front);
  bool isFirst = !front || row * window->scale < *front;
  bool isLast = ShapedType::isDynamic(window->high) ||
                (tile.rows - 1 - row) * window->scale < window->high;
  if (!isFirst && !isLast)
    return {};
  OpFoldResult index = indexOf(tile, row);
  OpFoldResult nearest =
      maximum(b, minimum(b, index, subtract(b, window->size, number(b, 1))),
              number(b, 0));
  OpFoldResult shift = multiply(b, subtract(b, nearest, index), window->pitch);
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                       asValue(b, nearest), asValue(b, index));
  Value count = arith::SelectOp::create(b, exists, asValue(b, number(b, lanes)),
                                        asValue(b, number(b, 0)));
  return {asValue(b, shift), firstLanes(b, lanes, count)};
}

//===-- Lanes along a sum -------------------------------------------------===//

// Every column of a row is a vector of partial sums.
void ContractionEmitter::accumulateAlongSum(Tile &tile, int64_t row,
                                            Accumulators &sums) {
  Beside beside = this->beside(tile, row);
  Cell cell{row, 0, tile.isCutShort ? restOfSum : Value()};
  int64_t columns = sumsOfRow(tile);
  Tile at = tile;
  for (int64_t column = 0; column < columns; ++column) {
    at.loops[nest.roles.vector] = number(b, column);
    SmallVector<Value> operands;
    for (OpOperand *input : root.getDpsInputOperands())
      operands.push_back(read(*alongSum, input, at, cell, beside));
    Value &sum = sums[row * columns + column];
    operands.push_back(sum);
    sum = fuseMultiplyAdd(b, values.call(root.getBody(), operands));
  }
}

// A vector of the sums of all lanes of each of `parts`, in their order: halves
// of two are added in one vector, which holds half as much of each.
static Value sumsOfLanes(ImplicitLocOpBuilder &b, SmallVector<Value> parts) {
  auto type = cast<VectorType>(parts.front().getType());
  int64_t lanes = type.getNumElements();
  size_t count = llvm::PowerOf2Ceil(parts.size());
  parts.resize(count, parts.back());
  for (int64_t each = lanes; each > 1; each /= 2) {
    // Of what a vector holds, `each` lanes a part.
    bool isPair = parts.size() > 1;
    SmallVector<Value> halves;
    for (size_t i = 0; i < parts.size(); i += isPair ? 2 : 1) {
      SmallVector<int64_t> low, high;
      for (int64_t lane = 0; lane < (isPair ? 2 : 1) * lanes; ++lane)
        (lane % each < each / 2 ? low : high).push_back(lane);
      low.resize(lanes, 0);
      high.resize(lanes, 0);
      Value other = parts[isPair ? i + 1 : i];
      halves.push_back(arith::AddFOp::create(
          b, vector::ShuffleOp::create(b, parts[i], other, low),
          vector::ShuffleOp::create(b, parts[i], other, high)));
    }
    parts = halves;
  }
  return parts.front();
}

void ContractionEmitter::addPartialSums(Tile &tile, Accumulators &sums) {
  int64_t columns = sumsOfRow(tile);
  auto type = cast<VectorType>(sums.front().getType());
  Value zeros = arith::ConstantOp::create(b, b.getZeroAttr(type));
  Accumulators partial(tile.rows * columns, zeros);
  reduce(nest.roles.reductions, tile, {0, tile.rows}, partial);
  for (int64_t row = 0; row < tile.rows; ++row) {
    auto ofRow = ArrayRef(partial).slice(row * columns, columns);
    sums[row] = arith::AddFOp::create(
        b, sums[row], sumsOfLanes(b, SmallVector<Value>(ofRow)));
  }
}

//===-- One step of a sum -------------------------------------------------===//

// Padding is selected for whole vectors: LLVM would make a loop of its own of
// each case of a condition that is no vector.
Value ContractionEmitter::read(TileValues &values, OpOperand *input,
                               const Tile &tile, Cell at, Beside beside) {
  AffineMap map = root.getMatchingIndexingMap(input);
  if (!beside.shift || nest.rowWindow()->padded != input->get())
    return values.at(input->get(), map, tile.loops, at);
  at.shift = beside.shift;
  Value value = values.at(input->get(), map, tile.loops, at);
  auto type = cast<VectorType>(value.getType());
  Value padding = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, nest.rowWindow()->padding));
  return arith::SelectOp::create(b, beside.lanes, value, padding);
}

void ContractionEmitter::accumulate(Tile &tile, int64_t row,
                                    Accumulators &sums) {
  Beside beside = this->beside(tile, row);
  for (int64_t vector = 0; vector < tile.vectors; ++vector) {
    Cell at = cell(tile, row, vector);
    SmallVector<Value> operands;
    for (OpOperand *input : root.getDpsInputOperands()) {
      AffineMap map = root.getMatchingIndexingMap(input);
      operands.push_back(root.payloadUsesValueFromOperand(input)
                             ? read(values, input, tile, at, beside)
                             : Value());
      if (tile.leaves && row == 0 && input == panels)
        values.store(operands.back(), room(), map, tile.loops,
                     {0, at.column, Value()});
    }
    Value &sum = sums[row * tile.vectors + vector];
    operands.push_back(sum);
    Value next = fuseMultiplyAdd(b, values.call(root.getBody(), operands));
    sum = asExtreme(b, next, /*before=*/sum);
  }
}

} // namespace onnxc::contraction
