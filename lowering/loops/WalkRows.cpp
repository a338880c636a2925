// How a contraction walks along rows: in tiles, each of which knows which taps
// of a padded window its rows have.
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/ContractionEmitter.h"
#include "lowering/loops/RegisterTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <numeric>

using namespace mlir;

namespace onnxc::contraction {

// Panels that so few rows take at once where they may be all that there are,
// for their sums in one would wait for each other.
int64_t ContractionEmitter::panelsTogether(const Tile &tile, int64_t rows,
                                           bool inGroup) {
  int64_t columns = nest.schedule.getColumns(),
          group = nest.schedule.getGroup();
  std::optional<int64_t> size =
      getConstantIntValue(nest.sizes[nest.roles.vector]);
  bool isWhole = tile.vectors * lanes == columns && !tile.mask,
       isPlain = nest.batches.empty() && !nest.schedule.getDepth();
  if (!size || !isWhole || !nest.pixels.empty() ||
      nest.schedule.getOuter() != LoopOrder::Panels || nest.fold || panels ||
      alongSum || backwards || !readsFarPanels() ||
      rows >= nest.schedule.getRows() || !(isPlain || readsSeveralPlaces()))
    return 1;
  auto target = moduleOf(b)->getAttrOfType<TargetAttr>(targetAttrName);
  int64_t together = panelsOfFewRows(*size / columns, rows, tile.vectors,
                                     target.getVectorRegisters());
  return inGroup ? std::gcd(together, group) : together;
}

// All rows, of panels of a group or by the first of such panels in the place of
// the others; and in the place of all pieces, which are for more rows.
void ContractionEmitter::walkTogether(ArrayRef<int> steps, Tile tile,
                                      int64_t panels) {
  OpBuilder::InsertionGuard guard(b);
  if (tile.isPiece()) {
    auto branch = scf::IfOp::create(b, tile.isFirst, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    tile.from = tile.to = OpFoldResult();
    tile.isFirst = tile.isLast = Value();
  }
  tile.vectors *= panels;
  tile.loops[*nest.row] = number(b, 0);
  tile.isAll = true;
  tile.together = panels;
  if (!steps.empty())
    return walk(steps, tile);
  OpFoldResult panel = tile.loops[values.panelLoop()],
               group = floorDivide(b, panel, panels);
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, asValue(b, panel),
                            asValue(b, multiply(b, group, number(b, panels))));
  auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  emitTile(tile);
}

// One row, two rows, or more.
void ContractionEmitter::walkFewRows(ArrayRef<int> steps, Tile tile) {
  int64_t rows = tile.least,
          panels = panelsTogether(tile, rows, /*inGroup=*/!steps.empty());
  if (panels == 1)
    return walkDynamicRows(steps, tile);
  Value areAll = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                       asValue(b, nest.sizes[*nest.row]),
                                       asValue(b, number(b, rows)));
  auto branch = scf::IfOp::create(b, areAll, /*withElseRegion=*/true);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    forgetLoads();
    Tile next = tile;
    if (block == branch.thenBlock()) {
      next.rows = rows;
      walkTogether(steps, next, panels);
    } else {
      ++next.least;
      walkFewRows(steps, next);
    }
  }
  forgetLoads();
}

void ContractionEmitter::walkRows(ArrayRef<int> steps, Tile tile) {
  if (!nest.row)
    return walk(steps, tile);
  std::optional<int64_t> extent = getConstantIntValue(nest.sizes[*nest.row]);
  if (extent && tile.blockEnd)
    return walkRowsOfBlock(steps, tile);
  const ContractionNest::SizedBorder *border = nest.rowWindow();
  if (!extent && !border)
    return walkFewRows(steps, tile);
  if (!extent || (border && !(getConstantIntValue(border->size) &&
                              getConstantIntValue(border->front))))
    return walkDynamicRows(steps, tile);
  if (bordersOfRows() == RowBorders::Single)
    return walkDynamicRows(steps, tile);
  walkStaticRows(steps, tile, *extent);
}

// Of rows whose number is known, as their window is.
RowBorders ContractionEmitter::bordersOfRows() {
  std::optional<RowWindow> window = staticRowWindow();
  if (!window)
    return RowBorders::Peeled;
  const ContractionNest::SizedBorder &border = *nest.rowWindow();
  bool mayAsk = border.padded && isWorthAsking(root, nest.roles, border.tap);
  return bordersOf(*window, *getConstantIntValue(nest.sizes[*nest.row]),
                   nest.schedule.getRows(), mayAsk,
                   mostBorderCopies(root, nest.roles));
}

std::optional<RowWindow> ContractionEmitter::staticRowWindow() {
  const ContractionNest::SizedBorder *border = nest.rowWindow();
  if (!border)
    return std::nullopt;
  int64_t taps = *getConstantIntValue(nest.sizes[border->tap]);
  return RowWindow{border->scale, *getConstantIntValue(border->front),
                   (taps - 1) * border->dilation + 1, taps,
                   *getConstantIntValue(border->size)};
}

// Where copies of the panels lie: a group of them, of one piece each.
Access ContractionEmitter::accessOfRoom(const Tile &tile) {
  int64_t columns = nest.schedule.getColumns(),
          depth = nest.schedule.getDepth();
  Access access{nest.room, number(b, 0),
                SmallVector<OpFoldResult>(tile.loops.size(), number(b, 0))};
  access.strides[nest.roles.vector] = number(b, 1);
  OpFoldResult panel = number(b, depth ? depth * columns : columns);
  for (unsigned loop : nest.roles.reductions) {
    access.strides[loop] = number(b, columns);
    if (!depth)
      panel = multiply(b, panel, nest.sizes[loop]);
  }
  if (tile.firstPanel) {
    access.strides[values.panelLoop()] = panel;
    access.offset =
        multiply(b, panel, subtract(b, number(b, 0), tile.firstPanel));
  }
  if (tile.from)
    access.offset =
        subtract(b, access.offset, multiply(b, tile.from, number(b, columns)));
  return access;
}

// The first tile leaves copies of its panels, which the others read.
void ContractionEmitter::walkCopied(Tile &tile,
                                    llvm::function_ref<void()> first,
                                    llvm::function_ref<void()> others) {
  AffineMap map = root.getMatchingIndexingMap(panels);
  Access copies = accessOfRoom(tile);
  values.accesses[{room(), map}] = copies;
  Access &access = values.access(panels->get(), map);
  Access original = access;
  tile.leaves = true;
  first();
  tile.leaves = false;
  access = copies;
  others();
  access = original;
}

void ContractionEmitter::walkStaticRows(ArrayRef<int> steps, Tile tile,
                                        int64_t extent) {
  int64_t most = nest.schedule.getRows();
  std::vector<RowTiles> groups =
      mayRepeatRows() ? equalTiles(extent, most) : balancedTiles(extent, most);
  if (panels) {
    RowTiles first = groups.front();
    groups.front() = {first.start + first.rows, first.rows, first.count - 1};
    first.count = 1;
    return walkCopied(
        tile, [&] { walkTiles(steps, tile, first); },
        [&] {
          for (RowTiles group : groups)
            walkTiles(steps, tile, group);
        });
  }
  for (RowTiles group : groups)
    walkTiles(steps, tile, group);
}

void ContractionEmitter::walkRowsOfBlock(ArrayRef<int> steps, Tile tile) {
  auto walkTile = [&](OpFoldResult at) {
    tile.loops[*nest.row] = at;
    walk(steps, tile);
  };
  auto walkFrom = [&](OpFoldResult begin) {
    forEach(begin, tile.blockEnd, tile.rows, walkTile, RowTilesStep);
  };
  if (!panels)
    return walkFrom(tile.blockBegin);
  walkCopied(
      tile, [&] { walkTile(tile.blockBegin); },
      [&] { walkFrom(add(b, tile.blockBegin, number(b, tile.rows))); });
}

void ContractionEmitter::walkTiles(ArrayRef<int> steps, Tile tile,
                                   RowTiles group) {
  tile.rows = group.rows;
  std::optional<RowWindow> window = staticRowWindow();
  auto insideFrom = [&](int64_t i) {
    while (i < group.count &&
           (!window || window->isInside(group.startOf(i), group.rows)))
      ++i;
    return i;
  };
  bool asks = bordersOfRows() == RowBorders::Asked;
  OpFoldResult last = number(b, group.startOf(group.count - 1));
  for (int64_t i = 0; i < group.count;) {
    int64_t end = insideFrom(i);
    tile.border = end > i ? Tile::Inside : Tile::Unrolled;
    tile.firstRow = group.startOf(i);
    if (asks && end < group.count) {
      tile.border = Tile::Clamped;
      end = group.count;
    }
    end = std::max(end, i + 1);
    auto body = [&](OpFoldResult at) {
      tile.loops[*nest.row] = group.shared ? minimum(b, at, last) : at;
      walk(steps, tile);
    };
    auto begin = [&](int64_t i) { return group.start + i * group.rows; };
    forEach(number(b, begin(i)), number(b, begin(end)), group.rows, body,
            RowTilesStep);
    i = end;
  }
}

// Rows of unknown number. Where a window slides along them, tiles at an end of
// the image read padding beside it. A tap of a depthwise window is too little
// work for that: rows there are computed one by one, by one loop.
void ContractionEmitter::walkDynamicRows(ArrayRef<int> steps, Tile tile) {
  OpFoldResult extent = nest.sizes[*nest.row];
  const ContractionNest::SizedBorder *window = nest.rowWindow();
  if (tile.blockEnd)
    return walkRowRange(steps, tile, tile.blockBegin, tile.blockEnd);
  if (!window || readsBeside(*window))
    return walkRowRange(steps, tile, number(b, 0), extent);
  auto [begin, end] = rowsInside(*window);
  OpFoldResult inside = subtract(b, end, begin),
               outside = subtract(b, extent, inside);
  auto single = [&](OpFoldResult from, OpFoldResult to) {
    Tile border = tile;
    border.border = Tile::Clamped;
    auto body = [&](OpFoldResult at) {
      Value isBefore = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                             asValue(b, at), asValue(b, begin));
      border.loops[*nest.row] =
          arith::SelectOp::create(b, isBefore, asValue(b, at),
                                  asValue(b, add(b, at, inside)))
              .getResult();
      walk(steps, border);
    };
    forEach(from, to, 1, body, RowTilesStep);
  };
  // A fold begins with the first row.
  std::optional<int64_t> front = getConstantIntValue(window->front);
  OpFoldResult before = outside; // of the rows outside, one after another
  if (front && *front <= 0)
    before = number(b, 0);
  else if (!front && nest.fold)
    before = begin;
  single(number(b, 0), before);
  walkRowRange(steps, tile, begin, end);
  if (before != outside)
    single(before, outside);
}

// Whether a tile may hold rows that lack a tap.
bool ContractionEmitter::readsBeside(
    const ContractionNest::SizedBorder &window) {
  return window.padded && !isDepthwise(root, nest.roles);
}

// The rows for which all taps lie inside of the image.
std::pair<OpFoldResult, OpFoldResult>
ContractionEmitter::rowsInside(const ContractionNest::SizedBorder &window) {
  OpFoldResult extent = nest.sizes[*nest.row], taps = nest.sizes[window.tap];
  int64_t scale = std::max<int64_t>(window.scale, 1);
  OpFoldResult reach =
      multiply(b, subtract(b, taps, number(b, 1)), number(b, window.dilation));
  OpFoldResult begin = minimum(
      b,
      ceilDivide(b, maximum(b, window.front, number(b, 0)), number(b, scale)),
      extent);
  OpFoldResult lastInside = subtract(
      b, add(b, window.size, subtract(b, window.front, number(b, 1))), reach);
  OpFoldResult end = minimum(
      b,
      maximum(b, add(b, floorDivide(b, lastInside, scale), number(b, 1)),
              begin),
      extent);
  return {begin, end};
}

// Not where a sum is continued or waits in the output: another task may do the
// same rows at that time.
bool ContractionEmitter::mayRepeatRows() {
  Tile tile;
  tile.rows = nest.schedule.getRows();
  tile.vectors = nest.schedule.getColumns() / lanes;
  return tile.rows > 1 && !nest.fold && !isDepthwise(root, nest.roles) &&
         !panels && !nest.schedule.getDepth() && !finishesInLoop(tile) &&
         llvm::none_of(kernel.getDpsInitsMutable(), [&](OpOperand &output) {
           return kernel.readsOutput(output);
         });
}

// `count` where `index` is at least `least`.
static OpFoldResult noneBelow(ImplicitLocOpBuilder &b, OpFoldResult index,
                              int64_t least, OpFoldResult count) {
  Value isEnough =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, asValue(b, index),
                            asValue(b, number(b, least)));
  return OpFoldResult(arith::SelectOp::create(b, isEnough, asValue(b, count),
                                              asValue(b, number(b, 0)))
                          .getResult());
}

// How many tiles of `rows` rows `all` rows begin with if the last tile may
// overlap the one before. Of a rest, two tiles of half the rows take one whole
// tile along if they can; less than half a tile is enough for it otherwise.
static OpFoldResult wholeTiles(ImplicitLocOpBuilder &b, OpFoldResult all,
                               int64_t rows) {
  int64_t half = llvm::PowerOf2Ceil(rows) / 2;
  OpFoldResult last = subtract(b, all, number(b, 1));
  auto tilesFrom = [&](int64_t rest) {
    return floorDivide(b, add(b, last, number(b, rows - rest)), rows);
  };
  OpFoldResult tiles = subtract(
      b, add(b, tilesFrom(2 * half - rows), tilesFrom(half)), tilesFrom(0));
  return noneBelow(b, all, rows, tiles);
}

// One where `index` is `value`, else none.
static OpFoldResult oneIfEqual(ImplicitLocOpBuilder &b, OpFoldResult index,
                               int64_t value) {
  Value equal =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, asValue(b, index),
                            asValue(b, number(b, value)));
  return OpFoldResult(arith::SelectOp::create(b, equal,
                                              asValue(b, number(b, 1)),
                                              asValue(b, number(b, 0)))
                          .getResult());
}

// As many as the rest is, if more than half of the last one is left.
static OpFoldResult tilesOfRest(ImplicitLocOpBuilder &b, OpFoldResult rest,
                                int64_t rows) {
  OpFoldResult some = maximum(b, rest, number(b, 0));
  return floorDivide(b, add(b, some, number(b, (rows - 1) / 2)), rows);
}

// Of packed weights, where their size is known.
int64_t ContractionEmitter::bytesOfPanels() {
  OpOperand *weights = packedWeights();
  if (!weights)
    return 0;
  auto type = cast<ShapedType>(weights->get().getType());
  return type.hasStaticShape()
             ? type.getNumElements() * type.getElementTypeBitWidth() / 8
             : 0;
}

// Whether few rows of unknown number get more of the weights from several
// panels at once, each of which lies in one place, with nothing asked for: on
// Zen 3 a single row took 0.68 of the time.
bool ContractionEmitter::readsSeveralPlaces() {
  auto target = moduleOf(b)->getAttrOfType<TargetAttr>(targetAttrName);
  return target && seesLittleAhead(target) && !isFarFromMemory(target) &&
         bytesOfPanels() > target.getL2Bytes();
}

// Whether few rows of unknown number, where they may be all, had better be one
// tile: weights that do not stay in L1 are fetched for each tile. Images have
// more.
bool ContractionEmitter::readsFarPanels() {
  auto target = moduleOf(b)->getAttrOfType<TargetAttr>(targetAttrName);
  return target && bytesOfPanels() > target.getL1Bytes() &&
         nest.schedule.getRows() <= mostExactRows &&
         llvm::all_of(root.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

// Whether weights come from behind L2, where a mesh lies.
bool ContractionEmitter::readsFarMemory() {
  auto target = moduleOf(b)->getAttrOfType<TargetAttr>(targetAttrName);
  return target && isFarFromMemory(target) &&
         bytesOfPanels() > target.getL2Bytes();
}

// In whole tiles but for a rest and the one in front of it, whose rows are two
// tiles of half as many each: all tiles fetch the same weights, which takes as
// long for one row as for a few. A single whole tile stays whole where the
// first one waits for memory: 9 to 12 tokens took DistilBERT 0.89 to 0.94 of
// the time on Emerald Rapids.
void ContractionEmitter::walkExactRows(ArrayRef<int> steps, Tile tile,
                                       OpFoldResult begin, OpFoldResult end) {
  int64_t most = nest.schedule.getRows();
  bool isFar = readsFarMemory();
  OpFoldResult all = subtract(b, end, begin), whole = floorDivide(b, all, most),
               rest = subtract(b, all, multiply(b, whole, number(b, most))),
               mayShare = isFar ? floorDivide(b, whole, 2) : whole,
               shared = minimum(b, mayShare, minimum(b, rest, number(b, 1))),
               tail = add(b, rest, multiply(b, shared, number(b, most))),
               second = multiply(b, shared, floorDivide(b, tail, 2)),
               first = subtract(b, tail, second);
  int64_t least = isFar ? 1 : std::min(tile.least, (most + 1) / 2); // of a rest
  for (int64_t rows = most; rows >= least; --rows) {
    tile.rows = rows;
    OpFoldResult tiles =
        add(b, oneIfEqual(b, first, rows), oneIfEqual(b, second, rows));
    if (rows == most)
      tiles = add(b, tiles, subtract(b, whole, shared));
    OpFoldResult behind = add(b, begin, multiply(b, tiles, number(b, rows)));
    auto body = [&](OpFoldResult at) {
      tile.loops[*nest.row] = at;
      walkWhereInside(steps, tile);
    };
    forEach(begin, behind, rows, body, RowTilesStep);
    begin = behind;
  }
}

// In whole tiles and a rest in halves of one. Rows may be computed twice rather
// than one by one: what all rows are multiplied with comes from further away
// than they do, so a row alone takes about as long as half a tile.
void ContractionEmitter::walkRowRange(ArrayRef<int> steps, Tile tile,
                                      OpFoldResult begin, OpFoldResult end) {
  bool isUnknown = !getConstantIntValue(nest.sizes[*nest.row]),
       repeats = isUnknown && mayRepeatRows();
  if (isUnknown && readsFarPanels())
    return walkExactRows(steps, tile, begin, end);
  int64_t whole = nest.schedule.getRows();
  OpFoldResult all = subtract(b, end, begin);
  auto tilesOf = [&](OpFoldResult rest, int64_t rows) {
    if (!repeats)
      return floorDivide(b, rest, rows);
    return rows == whole ? wholeTiles(b, all, rows)
                         : noneBelow(b, all, rows, tilesOfRest(b, rest, rows));
  };
  for (int64_t rows = whole; rows > 0; rows = llvm::PowerOf2Ceil(rows) / 2) {
    tile.rows = rows;
    OpFoldResult tiles = tilesOf(subtract(b, end, begin), rows);
    OpFoldResult behind = add(b, begin, multiply(b, tiles, number(b, rows)));
    OpFoldResult last = subtract(b, end, number(b, rows));
    auto body = [&](OpFoldResult at) {
      tile.loops[*nest.row] = repeats ? minimum(b, at, last) : at;
      walkWhereInside(steps, tile);
    };
    forEach(begin, behind, rows, body, RowTilesStep);
    begin = behind;
  }
}

// Few whole tiles are at a border, and the others need not ask which taps they
// have.
void ContractionEmitter::walkWhereInside(ArrayRef<int> steps, Tile tile) {
  const ContractionNest::SizedBorder *window = nest.rowWindow();
  if (!window || !readsBeside(*window))
    return walk(steps, tile);
  if (tile.rows < nest.schedule.getRows()) {
    tile.border = Tile::Clamped;
    return walk(steps, tile);
  }
  auto [begin, end] = rowsInside(*window);
  OpFoldResult first = tile.loops[*nest.row],
               behind = add(b, first, number(b, tile.rows));
  auto isAtMost = [&](OpFoldResult lhs, OpFoldResult rhs) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sle, asValue(b, lhs),
                                 asValue(b, rhs));
  };
  Value inside =
      arith::AndIOp::create(b, isAtMost(begin, first), isAtMost(behind, end));
  auto branch = scf::IfOp::create(b, inside, /*withElseRegion=*/true);
  for (auto border : {Tile::Inside, Tile::Clamped}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(border == Tile::Inside ? branch.thenBlock()
                                                      : branch.elseBlock());
    forgetLoads();
    tile.border = border;
    walk(steps, tile);
  }
  forgetLoads();
}

} // namespace onnxc::contraction
