// A contraction as loops around a register tile: `rows` pixels by `columns`
// output channels are accumulated in vector registers over all reduction loops,
// so that every input element is loaded once per tile and every output element
// is written once, its epilogue applied.
//
// Borders are peeled. Where an input is padded, the taps that would only
// multiply zeros are left out: an outer pixel restricts the range of its tap, a
// tile at the end of a row has its taps unrolled, each with the rows that live.
#include "lowering/loops/EmitContraction.h"
#include "lowering/loops/ContractionNest.h"
#include "lowering/loops/RowTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace onnxc {

namespace {

// More copies of the reduction than this cost more in instructions than the
// border's zeros cost in multiplications.
constexpr int64_t mostBorderCopies = 32;
// Reduction loops that are this short have no loop.
constexpr int64_t shortReduction = 4, shortDepthwiseReduction = 8;

// Bytes of weights between what is asked for and what is read.
constexpr int64_t streamAhead = 16384;

// Elements of a panel that is copied onto the stack.
constexpr int64_t mostScratch = 1 << 13;

struct Rows {
  int64_t begin, end;
};

struct Tile {
  SmallVector<OpFoldResult> loops; // at the tile's first element
  int64_t rows = 1, vectors = 1;
  Value mask; // of the last vector's lanes; null where all exist
  // How the row's window is handled: every tap is inside, the live taps of
  // each row are known here, or the only row restricts the taps' range.
  enum { Inside, Unrolled, Clamped } border = Inside;
  int64_t firstRow = 0; // where Unrolled
  // Of a blocked product: the panels of a group, and a piece of the reduction
  // with whether it begins and ends the sums.
  OpFoldResult firstPanel, lastPanel, from, to;
  bool begins = true, ends = true;
};

class Emitter {
public:
  Emitter(ImplicitLocOpBuilder &b, KernelOp kernel, TileValues &values,
          const ContractionNest &nest)
      : b(b), kernel(kernel), values(values), nest(nest), root(nest.root),
        lanes(nest.schedule.getVector()) {}

  void emit();

private:
  // Else the number of a loop.
  enum Step { Panels = -1, RowTilesStep = -2, Groups = -3, PanelsOfGroup = -4 };

  void walk(ArrayRef<int> steps, Tile tile);
  void walkPanels(ArrayRef<int> steps, Tile tile);
  void walkPanel(ArrayRef<int> steps, Tile &tile);
  void walkGroups(ArrayRef<int> steps, Tile tile);
  void walkPieces(ArrayRef<int> steps, Tile tile);
  void walkPanelsOfGroup(ArrayRef<int> steps, Tile tile);
  bool isWorthCopying(OpOperand *input);
  void copyPanel(OpOperand *input, Tile tile, Access &scratch);
  void walkRows(ArrayRef<int> steps, Tile tile);
  void walkStaticRows(ArrayRef<int> steps, Tile tile, int64_t extent);
  void walkDynamicRows(ArrayRef<int> steps, Tile tile);
  void walkRowRange(ArrayRef<int> steps, Tile tile, OpFoldResult begin,
                    OpFoldResult end);
  void forEach(OpFoldResult begin, OpFoldResult end, int64_t step,
               llvm::function_ref<void(OpFoldResult)> body);

  void emitTile(Tile &tile);
  void finish(const Tile &tile, Cell at, Value sum);
  Cell cell(const Tile &tile, int64_t row, int64_t vector) {
    return {row, vector * lanes,
            vector + 1 == tile.vectors ? tile.mask : Value()};
  }
  using Accumulators = SmallVector<Value>;
  void reduce(ArrayRef<unsigned> loops, Tile &tile, Rows live,
              Accumulators &sums);
  void reduceInLoop(ArrayRef<unsigned> loops, Tile &tile, Rows live,
                    Accumulators &sums);
  void reduceUnrolled(ArrayRef<unsigned> loops, Tile &tile, Rows live,
                      Accumulators &sums, int64_t extent);
  bool readsWeightsOnce();
  void prefetchWeights(const Tile &tile);
  void accumulate(Tile &tile, int64_t row, Accumulators &sums);
  bool isUnrolled(ArrayRef<unsigned> loops, const Tile &tile);
  Rows liveRows(const Tile &tile, unsigned tap, int64_t at, Rows live);
  std::pair<OpFoldResult, OpFoldResult>
  tapRange(const ContractionNest::SizedBorder &window, const Tile &tile);
  bool isAllInside(int64_t start, int64_t rows);

  ImplicitLocOpBuilder &b;
  KernelOp kernel;
  TileValues &values;
  const ContractionNest &nest;
  linalg::GenericOp root;
  int64_t lanes;
};

//===--- outer loops ---------------------------------------------------------//

void Emitter::emit() {
  SmallVector<int> steps(nest.batches.begin(), nest.batches.end());
  bool isBlocked = nest.schedule.getGroup() > 1 || nest.schedule.getDepth();
  if (isBlocked)
    steps.push_back(Groups);
  else if (nest.schedule.getOuter() == LoopOrder::Panels)
    steps.push_back(Panels);
  steps.append(nest.pixels.begin(), nest.pixels.end());
  steps.push_back(RowTilesStep);
  if (isBlocked)
    steps.push_back(PanelsOfGroup);
  else if (nest.schedule.getOuter() == LoopOrder::Pixels)
    steps.push_back(Panels);
  Tile tile;
  tile.loops.assign(nest.sizes.size() + 1, number(b, 0));
  walk(steps, tile);
}

void Emitter::forEach(OpFoldResult begin, OpFoldResult end, int64_t step,
                      llvm::function_ref<void(OpFoldResult)> body) {
  std::optional<int64_t> from = getConstantIntValue(begin),
                         to = getConstantIntValue(end);
  if (from && to && *to <= *from)
    return;
  values.forgetLoads();
  if (from && to && *from + step >= *to)
    return body(begin);
  auto loop = scf::ForOp::create(b, asValue(b, begin), asValue(b, end),
                                 asValue(b, number(b, step)));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(OpFoldResult(loop.getInductionVar()));
  values.forgetLoads();
}

void Emitter::walk(ArrayRef<int> steps, Tile tile) {
  if (steps.empty())
    return emitTile(tile);
  int step = steps.front();
  if (step == Panels)
    return walkPanels(steps.drop_front(), tile);
  if (step == RowTilesStep)
    return walkRows(steps.drop_front(), tile);
  if (step == Groups)
    return walkGroups(steps.drop_front(), tile);
  if (step == PanelsOfGroup)
    return walkPanelsOfGroup(steps.drop_front(), tile);
  forEach(number(b, 0), nest.sizes[step], 1, [&](OpFoldResult at) {
    tile.loops[step] = at;
    walk(steps.drop_front(), tile);
  });
}

// Elements that lie apart would be gathered again for every tile of rows; a
// panel of them is copied once, onto the stack.
bool Emitter::isWorthCopying(OpOperand *input) {
  AffineMap map = root.getMatchingIndexingMap(input);
  auto entry = values.accesses.find({input->get(), map});
  if (entry == values.accesses.end() || !nest.row ||
      nest.schedule.getOuter() != LoopOrder::Panels || lanes == 1)
    return false;
  auto &strides = entry->second.strides;
  int64_t elements = nest.schedule.getColumns();
  for (unsigned loop : nest.roles.reductions)
    elements *= getConstantIntValue(nest.sizes[loop]).value_or(mostScratch);
  return elements <= mostScratch &&
         !isConstantIntValue(strides[nest.roles.vector], 0) &&
         !isConstantIntValue(strides[nest.roles.vector], 1) &&
         isConstantIntValue(strides[*nest.row], 0) &&
         llvm::all_of(nest.pixels, [&](unsigned loop) {
           return isConstantIntValue(strides[loop], 0);
         });
}

void Emitter::copyPanel(OpOperand *input, Tile tile, Access &scratch) {
  AffineMap map = root.getMatchingIndexingMap(input);
  int64_t elements = nest.schedule.getColumns();
  scratch.offset = number(b, 0);
  scratch.strides.assign(tile.loops.size(), number(b, 0));
  scratch.strides[nest.roles.vector] = number(b, 1);
  for (unsigned loop : llvm::reverse(nest.roles.reductions)) {
    scratch.strides[loop] = number(b, elements);
    elements *= *getConstantIntValue(nest.sizes[loop]);
  }
  Block *entry = b.getInsertionBlock();
  while (isa<scf::ForOp>(entry->getParentOp()))
    entry = entry->getParentOp()->getBlock();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    Type element = getElementTypeOrSelf(input->get());
    scratch.buffer = memref::AllocaOp::create(
        b, MemRefType::get({elements}, element), b.getI64IntegerAttr(64));
  }
  std::function<void(ArrayRef<unsigned>, OpFoldResult)> copy =
      [&](ArrayRef<unsigned> loops, OpFoldResult offset) {
        if (!loops.empty())
          return forEach(
              number(b, 0), nest.sizes[loops.front()], 1, [&](OpFoldResult at) {
                tile.loops[loops.front()] = at;
                copy(loops.drop_front(),
                     add(b, offset,
                         multiply(b, at, scratch.strides[loops.front()])));
              });
        for (int64_t vector = 0; vector < tile.vectors; ++vector)
          vector::StoreOp::create(
              b,
              values.at(input->get(), map, tile.loops, cell(tile, 0, vector)),
              scratch.buffer,
              asValue(b, add(b, offset, number(b, vector * lanes))));
      };
  copy(nest.roles.reductions, tile.loops[nest.roles.vector]);
  values.forgetLoads();
}

void Emitter::walkPanel(ArrayRef<int> steps, Tile &tile) {
  SmallVector<std::pair<Access *, Access>> originals;
  for (OpOperand *input : root.getDpsInputOperands()) {
    if (!isWorthCopying(input))
      continue;
    Access scratch;
    copyPanel(input, tile, scratch);
    Access &access =
        values.access(input->get(), root.getMatchingIndexingMap(input));
    originals.push_back({&access, access});
    access = scratch;
  }
  walk(steps, tile);
  for (auto &[access, original] : originals)
    *access = original;
}

void Emitter::walkPanels(ArrayRef<int> steps, Tile tile) {
  unsigned panel = values.panelLoop(), vector = nest.roles.vector;
  int64_t columns = nest.schedule.getColumns();
  OpFoldResult size = nest.sizes[vector];
  OpFoldResult full = floorDivide(b, size, columns);
  tile.vectors = columns / lanes;
  forEach(number(b, 0), full, 1, [&](OpFoldResult at) {
    tile.loops[panel] = at;
    walkPanel(steps, tile);
  });

  tile.loops[panel] = full;
  OpFoldResult rest = subtract(b, size, multiply(b, full, number(b, columns)));
  if (std::optional<int64_t> count = getConstantIntValue(rest)) {
    if (*count == 0)
      return;
    tile.vectors = llvm::divideCeil(*count, lanes);
    if (*count % lanes)
      tile.mask = firstLanes(b, lanes, number(b, *count % lanes));
    return walkPanel(steps, tile);
  }
  // Of unknown size: single vectors, the last one masked.
  tile.vectors = 1;
  OpFoldResult whole =
      multiply(b, floorDivide(b, rest, lanes), number(b, lanes));
  forEach(number(b, 0), whole, lanes, [&](OpFoldResult at) {
    tile.loops[vector] = at;
    walkPanel(steps, tile);
  });
  forEach(whole, rest, lanes, [&](OpFoldResult at) {
    tile.loops[vector] = at;
    tile.mask = firstLanes(b, lanes, subtract(b, rest, at));
    walkPanel(steps, tile);
  });
}

void Emitter::walkGroups(ArrayRef<int> steps, Tile tile) {
  int64_t group = nest.schedule.getGroup();
  OpFoldResult panels = floorDivide(b, nest.sizes[nest.roles.vector],
                                    nest.schedule.getColumns());
  tile.vectors = nest.schedule.getColumns() / lanes;
  forEach(number(b, 0), panels, group, [&](OpFoldResult first) {
    tile.firstPanel = first;
    tile.lastPanel = minimum(b, add(b, first, number(b, group)), panels);
    walkPieces(steps, tile);
  });
}

void Emitter::walkPieces(ArrayRef<int> steps, Tile tile) {
  int64_t depth = nest.schedule.getDepth();
  if (!depth)
    return walk(steps, tile);
  int64_t size = 1;
  for (unsigned loop : nest.roles.reductions)
    size *= *getConstantIntValue(nest.sizes[loop]);
  int64_t last = (size - 1) / depth * depth;
  auto piece = [&](OpFoldResult from, OpFoldResult to, bool begins, bool ends) {
    tile.from = from;
    tile.to = to;
    tile.begins = begins;
    tile.ends = ends;
    walk(steps, tile);
  };
  piece(number(b, 0), number(b, depth), true, false);
  forEach(number(b, depth), number(b, last), depth, [&](OpFoldResult from) {
    piece(from, add(b, from, number(b, depth)), false, false);
  });
  piece(number(b, last), number(b, size), false, true);
}

void Emitter::walkPanelsOfGroup(ArrayRef<int> steps, Tile tile) {
  forEach(tile.firstPanel, tile.lastPanel, 1, [&](OpFoldResult at) {
    tile.loops[values.panelLoop()] = at;
    walkPanel(steps, tile);
  });
}

void Emitter::walkRows(ArrayRef<int> steps, Tile tile) {
  if (!nest.row)
    return walk(steps, tile);
  std::optional<int64_t> extent = getConstantIntValue(nest.sizes[*nest.row]);
  const ContractionNest::SizedBorder *window = nest.rowWindow();
  if (!extent || (window && !getConstantIntValue(window->size)))
    return walkDynamicRows(steps, tile);
  if (window) {
    int64_t taps = *getConstantIntValue(nest.sizes[window->tap]), borders = 0;
    for (RowTiles group : balancedTiles(*extent, nest.schedule.getRows()))
      for (int64_t i = 0; i < group.count; ++i)
        borders += !isAllInside(group.start + i * group.rows, group.rows);
    if (borders * taps > mostBorderCopies)
      return walkDynamicRows(steps, tile);
  }
  walkStaticRows(steps, tile, *extent);
}

bool Emitter::isAllInside(int64_t start, int64_t rows) {
  const ContractionNest::SizedBorder *window = nest.rowWindow();
  if (!window)
    return true;
  int64_t taps = *getConstantIntValue(nest.sizes[window->tap]);
  int64_t last = (start + rows - 1) * window->scale +
                 (taps - 1) * window->dilation - window->low;
  return start * window->scale - window->low >= 0 &&
         last < *getConstantIntValue(window->size);
}

void Emitter::walkStaticRows(ArrayRef<int> steps, Tile tile, int64_t extent) {
  for (RowTiles group : balancedTiles(extent, nest.schedule.getRows())) {
    tile.rows = group.rows;
    auto start = [&](int64_t i) { return group.start + i * group.rows; };
    for (int64_t i = 0; i < group.count;) {
      int64_t end = i;
      while (end < group.count && isAllInside(start(end), group.rows))
        ++end;
      tile.border = end > i ? Tile::Inside : Tile::Unrolled;
      tile.firstRow = start(i);
      end = std::max(end, i + 1);
      forEach(number(b, start(i)), number(b, start(end)), group.rows,
              [&](OpFoldResult at) {
                tile.loops[*nest.row] = at;
                walk(steps, tile);
              });
      i = end;
    }
  }
}

// Rows of unknown number: those at a border one by one, the others in whole
// tiles and a rest.
void Emitter::walkDynamicRows(ArrayRef<int> steps, Tile tile) {
  OpFoldResult extent = nest.sizes[*nest.row];
  const ContractionNest::SizedBorder *window = nest.rowWindow();
  if (!window)
    return walkRowRange(steps, tile, number(b, 0), extent);
  OpFoldResult taps = nest.sizes[window->tap];
  int64_t scale = std::max<int64_t>(window->scale, 1);
  OpFoldResult reach =
      multiply(b, subtract(b, taps, number(b, 1)), number(b, window->dilation));
  OpFoldResult begin = minimum(
      b, number(b, llvm::divideCeil(std::max<int64_t>(window->low, 0), scale)),
      extent);
  OpFoldResult lastInside =
      subtract(b, add(b, window->size, number(b, window->low - 1)), reach);
  OpFoldResult end = minimum(
      b,
      maximum(b, add(b, floorDivide(b, lastInside, scale), number(b, 1)),
              begin),
      extent);
  auto clamped = [&](OpFoldResult from, OpFoldResult to) {
    Tile border = tile;
    border.rows = 1;
    border.border = Tile::Clamped;
    forEach(from, to, 1, [&](OpFoldResult at) {
      border.loops[*nest.row] = at;
      walk(steps, border);
    });
  };
  clamped(number(b, 0), begin);
  walkRowRange(steps, tile, begin, end);
  clamped(end, extent);
}

void Emitter::walkRowRange(ArrayRef<int> steps, Tile tile, OpFoldResult begin,
                           OpFoldResult end) {
  for (int64_t rows = nest.schedule.getRows(); rows > 0;
       rows = rows > 2 ? 2 : rows - 1) {
    tile.rows = rows;
    OpFoldResult tiles = floorDivide(b, subtract(b, end, begin), rows);
    OpFoldResult rest = add(b, begin, multiply(b, tiles, number(b, rows)));
    forEach(begin, rest, rows, [&](OpFoldResult at) {
      tile.loops[*nest.row] = at;
      walk(steps, tile);
    });
    begin = rest;
  }
}

//===--- one tile ------------------------------------------------------------//

void Emitter::emitTile(Tile &tile) {
  values.forgetLoads();
  BlockArgument output =
      kernel.getBlockArgument(*kernel.getDpsInitOperand(0));
  Accumulators sums;
  Value init = tile.begins ? root.getDpsInits()[0] : Value(output);
  AffineMap position =
      tile.begins ? nest.outputPosition : nest.yieldedPositions[0];
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t vector = 0; vector < tile.vectors; ++vector)
      sums.push_back(
          values.at(init, position, tile.loops, cell(tile, row, vector)));
  reduce(nest.roles.reductions, tile, {0, tile.rows}, sums);
  for (unsigned loop : nest.roles.reductions)
    tile.loops[loop] = number(b, 0);
  values.forgetLoads();
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t vector = 0; vector < tile.vectors; ++vector) {
      Value sum = sums[row * tile.vectors + vector];
      if (tile.ends)
        finish(tile, cell(tile, row, vector), sum);
      else
        values.store(sum, output, nest.yieldedPositions[0], tile.loops,
                     cell(tile, row, vector));
    }
}

// Applies what follows the sum.
void Emitter::finish(const Tile &tile, Cell at, Value sum) {
  values.known[root.getResult(0)] = sum;
  for (auto [i, yielded, position] :
       llvm::enumerate(kernel.getYielded(), nest.yieldedPositions))
    values.store(values.at(yielded, position, tile.loops, at),
                 kernel.getBlockArgument(*kernel.getDpsInitOperand(i)),
                 position, tile.loops, at);
  values.known.clear();
}

bool Emitter::isUnrolled(ArrayRef<unsigned> loops, const Tile &tile) {
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
  bool depthwise = llvm::all_of(root.getDpsInputOperands(), [&](auto *input) {
    return root.getMatchingIndexingMap(input).isFunctionOfDim(
        nest.roles.vector);
  });
  return *extent == 1 ||
         (loops.size() == 1 &&
          *extent <= (depthwise ? shortDepthwiseReduction : shortReduction));
}

void Emitter::reduce(ArrayRef<unsigned> loops, Tile &tile, Rows live,
                     Accumulators &sums) {
  if (loops.empty()) {
    for (int64_t row = live.begin; row < live.end; ++row)
      accumulate(tile, row, sums);
    return;
  }
  if (isUnrolled(loops, tile))
    return reduceUnrolled(loops, tile, live, sums,
                          *getConstantIntValue(nest.sizes[loops.front()]));
  reduceInLoop(loops, tile, live, sums);
}

// The rows of the tile for which the tap lies inside of the input.
Rows Emitter::liveRows(const Tile &tile, unsigned tap, int64_t at, Rows live) {
  const ContractionNest::SizedBorder *window = nest.rowWindow();
  if (tile.border != Tile::Unrolled || !window || window->tap != tap)
    return live;
  int64_t size = *getConstantIntValue(window->size);
  auto isOutside = [&](int64_t row) {
    int64_t index = (tile.firstRow + row) * window->scale +
                    at * window->dilation - window->low;
    return index < 0 || index >= size;
  };
  while (live.begin < live.end && isOutside(live.begin))
    ++live.begin;
  while (live.begin < live.end && isOutside(live.end - 1))
    --live.end;
  return live;
}

void Emitter::reduceUnrolled(ArrayRef<unsigned> loops, Tile &tile, Rows live,
                             Accumulators &sums, int64_t extent) {
  unsigned loop = loops.front();
  if (loops.size() > 1) {
    for (int64_t at = 0; at < extent; ++at) {
      tile.loops[loop] = number(b, at);
      Rows rows = liveRows(tile, loop, at, live);
      if (rows.begin < rows.end)
        reduce(loops.drop_front(), tile, rows, sums);
    }
    return;
  }
  // In the order of the input's pixels, so that a pixel that several taps see
  // is loaded once and forgotten soon.
  int64_t scale = 0, dilation = 1;
  for (OpOperand *input : root.getDpsInputOperands())
    for (AffineExpr index : root.getMatchingIndexingMap(input).getResults())
      if (nest.row && coefficient(index, *nest.row) &&
          coefficient(index, loop)) {
        scale = coefficient(index, *nest.row);
        dilation = coefficient(index, loop);
      }
  SmallVector<std::tuple<int64_t, int64_t, int64_t>> updates;
  for (int64_t at = 0; at < extent; ++at) {
    Rows rows = liveRows(tile, loop, at, live);
    for (int64_t row = rows.begin; row < rows.end; ++row)
      updates.push_back({row * scale + at * dilation, at, row});
  }
  llvm::sort(updates);
  for (auto [pixel, at, row] : updates) {
    tile.loops[loop] = number(b, at);
    accumulate(tile, row, sums);
  }
}

// The taps of a window that lie inside of the input at the tile's pixel.
std::pair<OpFoldResult, OpFoldResult>
Emitter::tapRange(const ContractionNest::SizedBorder &window,
                  const Tile &tile) {
  OpFoldResult taps = nest.sizes[window.tap];
  bool isRow = &window == nest.rowWindow();
  if (isRow && tile.border == Tile::Inside)
    return {number(b, 0), taps};
  OpFoldResult first = number(b, -window.low);
  if (window.pixel)
    first =
        add(b, first,
            multiply(b, tile.loops[*window.pixel], number(b, window.scale)));
  int64_t dilation = window.dilation;
  OpFoldResult below =
      floorDivide(b, subtract(b, number(b, dilation - 1), first), dilation);
  OpFoldResult behind = add(
      b,
      floorDivide(b, subtract(b, subtract(b, window.size, number(b, 1)), first),
                  dilation),
      number(b, 1));
  return {maximum(b, number(b, 0), below), minimum(b, taps, behind)};
}

void Emitter::reduceInLoop(ArrayRef<unsigned> loops, Tile &tile, Rows live,
                           Accumulators &sums) {
  unsigned loop = loops.front();
  OpFoldResult begin = number(b, 0), end = nest.sizes[loop];
  if (!tile.begins || !tile.ends)
    std::tie(begin, end) = std::pair(tile.from, tile.to);
  if (const ContractionNest::SizedBorder *window = nest.windowOf(loop))
    std::tie(begin, end) = tapRange(*window, tile);
  auto liveSums = MutableArrayRef<Value>(sums).slice(
      live.begin * tile.vectors, (live.end - live.begin) * tile.vectors);
  auto scfLoop = scf::ForOp::create(b, asValue(b, begin), asValue(b, end),
                                    asValue(b, number(b, 1)), liveSums);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(scfLoop.getBody());
    values.forgetLoads();
    tile.loops[loop] = OpFoldResult(scfLoop.getInductionVar());
    llvm::copy(scfLoop.getRegionIterArgs(), liveSums.begin());
    reduce(loops.drop_front(), tile, live, sums);
    if (loops.size() == 1)
      prefetchWeights(tile);
    scf::YieldOp::create(b, liveSums);
  }
  llvm::copy(scfLoop.getResults(), liveSums.begin());
  values.forgetLoads();
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

// Whether one tile of rows is all there is, so that each weight is read once.
bool Emitter::readsWeightsOnce() {
  std::optional<int64_t> rows =
      nest.row ? getConstantIntValue(nest.sizes[*nest.row]) : 1;
  return nest.pixels.empty() && rows && *rows <= nest.schedule.getRows();
}

// Weights come from far away. Where a panel of them is read by several tiles of
// rows, they ask for the next panel in time; where each weight is read once, for
// what follows a little later.
void Emitter::prefetchWeights(const Tile &tile) {
  if (nest.schedule.getOuter() != LoopOrder::Panels)
    return;
  for (OpOperand *input : root.getDpsInputOperands())
    if (input->get().getDefiningOp<linalg::UnPackOp>()) {
      Tile next = tile;
      bool once = readsWeightsOnce();
      OpFoldResult &ahead = next.loops[once ? nest.roles.reductions.back()
                                            : values.panelLoop()];
      int64_t rowBytes = nest.schedule.getColumns() *
                         getElementTypeOrSelf(input->get())
                             .getIntOrFloatBitWidth() / 8;
      ahead = add(b, ahead,
                  number(b, once ? llvm::divideCeil(streamAhead, rowBytes) : 1));
      for (int64_t vector = 0; vector < tile.vectors; ++vector)
        values.prefetch(input->get(), root.getMatchingIndexingMap(input),
                        next.loops, cell(tile, 0, vector));
    }
}

void Emitter::accumulate(Tile &tile, int64_t row, Accumulators &sums) {
  for (int64_t vector = 0; vector < tile.vectors; ++vector) {
    Cell at = cell(tile, row, vector);
    SmallVector<Value> operands;
    for (OpOperand *input : root.getDpsInputOperands())
      operands.push_back(root.payloadUsesValueFromOperand(input)
                             ? values.at(input->get(),
                                         root.getMatchingIndexingMap(input),
                                         tile.loops, at)
                             : Value());
    Value &sum = sums[row * tile.vectors + vector];
    operands.push_back(sum);
    sum = fuseMultiplyAdd(b, values.call(root.getBody(), operands));
  }
}

} // namespace

FailureOr<linalg::GenericOp> findContraction(KernelOp kernel) {
  linalg::GenericOp root;
  for (auto generic : kernel.getBodyBlock()->getOps<linalg::GenericOp>()) {
    if (generic.getNumReductionLoops() == 0)
      continue;
    if (root)
      return failure();
    root = generic;
  }
  if (!root || failed(inferLoopRoles(root)))
    return failure();
  return root;
}

LogicalResult emitContraction(ImplicitLocOpBuilder &b, KernelOp kernel,
                              ValueRange arguments, const LoopRanges &ranges) {
  auto schedule = cast<ContractionAttr>(kernel.getSchedule());
  FailureOr<linalg::GenericOp> root = findContraction(kernel);
  if (failed(root))
    return kernel.emitOpError("expected one contraction in the body");
  LoopRoles roles = *inferLoopRoles(*root);
  TileValues values(b, arguments, root->getNumLoops() + 1, roles.vector,
                    schedule.getVector(), schedule.getColumns());
  FailureOr<ContractionNest> nest =
      buildContractionNest(b, kernel, arguments, values, *root, roles, ranges);
  if (failed(nest))
    return kernel.emitOpError("expected elementwise operations around the "
                              "contraction");
  Emitter(b, kernel, values, *nest).emit();
  return success();
}

} // namespace onnxc
