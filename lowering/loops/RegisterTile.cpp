// The register tile: `rows` x `columns` accumulators, the vectors of one row of
// weights and one broadcast element must fit the registers; one register too
// many spills inside of the multiply-add loop, and its speed then depends on
// the caller's stack alignment. Among the tiles that fit, the one that costs
// least by a count of what a core does per cycle.
#include "lowering/loops/RegisterTile.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/ConstantViews.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/RowTiles.h"

#include <limits>

using namespace mlir;

namespace onnxc {

namespace {

// Cycles until a multiply-add's result can be added to.
constexpr double latency = 4;
constexpr int64_t mostRows = 14;
// Steps of a reduction after which partial sums may wait in memory.
constexpr int64_t leastDepth = 512, mostDepth = 1024;
// Blocks of rows read weights again for each of them, groups of panels read
// rows again, which are nearer while they are few. With 1024 x 1024 rows AVX2
// reached 97 % of the peak of Zen 4 in blocks and 93 % in groups, with 128 x
// 768 whole transformers took 1.05 to 1.1 times as long in blocks. Pieces of
// longer rows lie apart and collide in L2.
constexpr int64_t manyHalves = 8, mostWhole = 2048;
// Tiles that a block has at least, for which a panel is warm.
constexpr int64_t leastTiles = 4;
// What a single row counts where it may be all that there are, or a single
// vector of columns.
constexpr double weightOfSingle = 0.05;
// Rows that lie a multiple of a page apart share one set of the first cache.
constexpr int64_t mostRowsOfOneSet = 8;
// Of an image whose width only the run knows: what is left of a row is in tiles
// of few rows, and tiles at its ends ask which taps they have. On Zen 4 eleven
// networks took 0.91 to 1.01 of the time that they took with 14 rows, and ten
// convolutions of stride 2 0.88 to 1.01 in tiles of two vectors, though one
// streams less. Where there is one vector only, few rows are too few sums at
// once: 35 to 16 channels took 1.5 times as long on Zen 5.
constexpr int64_t mostRowsOfUnknownImage = 7;
// A tile is written out row by row, epilogue and all.
constexpr int64_t mostRowsOfSmallCode = 4;
// Cycles that multiplications do not hide of streaming a byte where a line
// takes L1 two cycles: on Zen 3, tiles of 4 x 24 reached 79 % of the peak where
// 6 x 16 reached 90 %.
constexpr double stallOfHalfLines = 0.004;
// Loads per cycle beside two multiply-adds of half vectors. On Zen 4, tiles of
// 10 x 2 and 13 x 2 of them took 1.16 times as long as their multiply-adds,
// 9 x 3 and 5 x 5 no longer.
constexpr double loadsOfHalves = 1;
// Of the two vectors that a core may load per cycle, what it does load beside
// two multiply-adds. On Zen 4 by AVX2, tiles of 10 to 14 rows of one vector
// took 1.13 to 1.25 times as long as their multiply-adds, 5 x 2 and 4 x 3 as
// long.
constexpr double loadsBesideSums = 1.85;
// What has to be left of other instructions where lanes lie along a sum.
constexpr double worthwhile = 0.8;
// Vectors that stay warm, as a part of those that the sets they share hold: a
// tile needs some of them only. On Zen 5, windows of 7x7 just above took 0.97
// of the time with panels outermost, of 3x3 at 1.75 times as many 1.01 to 1.06,
// and so did those whose vectors, all together, take 1.1 of the cache.
constexpr double warmPart = 1.25;
// Memory that a core finds without a walk through tables of pages (most of
// the 3072 pages that Zen 4 remembers), and pixels of a page that share one.
constexpr int64_t foundBytes = 10 << 20, pixelsOfWalk = 4;
// What counts of cycles do not tell apart.
constexpr double nearlyBest = 1.01;
// What a tile may cost with many rows that takes less time with few. On Zen 5,
// 8 x 48 took 0.68 to 0.9 of the time of 8 x 32 with 1 to 9 rows by 1024 x 1024
// weights, and 1.015 with 64.
constexpr double worthFewRows = 1.04;
// What has to be left of them for panels of two widths, which are code twice.
constexpr double clearlyLess = 0.95;

struct Machine {
  int64_t lanes, registers;
  double multiplyAdds; // per cycle
  int64_t l1Bytes;
  double stall; // cycles per byte that is streamed from L2
  double loads = loadsPerCycle;
  int64_t closeBytes = std::numeric_limits<int64_t>::max(); // of apart lines
};

Machine machineOf(TargetAttr target, int64_t elementBits) {
  Machine machine{1, 16, 1, target ? target.getL1Bytes() : 0, 0};
  if (!target || target.getVectorBits() == 0)
    return machine;
  machine.lanes = std::max<int64_t>(1, target.getVectorBits() / elementBits);
  machine.registers = target.getVectorRegisters();
  machine.multiplyAdds = std::max<int64_t>(1, target.getFmaPerCycle());
  if (target.getL2BytesPerCycle() < lineBytes)
    machine.stall = stallOfHalfLines;
  if (machine.lanes * elementBits < 8 * lineBytes)
    machine.loads = loadsBesideSums;
  if (isFarFromMemory(target))
    machine.closeBytes = target.getL2Bytes() / 2;
  return machine;
}

struct RegisterTile {
  int64_t rows, vectors;
};

int64_t mostRowsOf(const Machine &machine, const ContractionShape &shape,
                   int64_t vectors) {
  if (shape.isSmall)
    return mostRowsOfSmallCode;
  bool mayBeWide = shape.columns > machine.lanes;
  if (ShapedType::isDynamic(shape.rowsOfImage) && (vectors > 1 || mayBeWide))
    return mostRowsOfUnknownImage;
  return shape.rowStride % pageBytes ? mostRows : mostRowsOfOneSet;
}

// Whether a window slides along vectors, so that most of those that are as long
// as a line lie in two.
bool overlapsAlongVectors(const ContractionShape &shape) {
  return shape.streamed < shape.reduction;
}

// Lines that a vector of the input lies in.
double linesOfVector(const Machine &machine, const ContractionShape &shape) {
  double part = machine.lanes * shape.elementBits / (8. * lineBytes);
  return overlapsAlongVectors(shape) ? 1 + part : 1;
}

// Cycles of one step of the reduction over all rows of a panel.
double costOfPanel(const Machine &machine, int64_t rows, int64_t vectors,
                   int64_t rowExtent, const ContractionShape &shape) {
  double sum = 0, stream = 0, stall = 0;
  int64_t panelBytes = vectors * machine.lanes * shape.elementBits / 8;
  if (shape.streamed * panelBytes > machine.l1Bytes / 2) {
    stream = panelBytes / l2BytesPerCycle;
    stall = panelBytes * machine.stall;
  }
  for (RowTiles group : balancedTiles(rowExtent, rows)) {
    double work = group.rows * vectors / machine.multiplyAdds;
    double loads = std::max(
        (group.rows + vectors * linesOfVector(machine, shape)) / machine.loads,
        stream);
    // What a tile costs beside its multiplications, and a preference among
    // equals for the tile that loads less.
    double overhead = 0.02 * (group.rows + vectors) + stall;
    sum += group.count * (std::max({work, loads, latency}) + overhead);
  }
  return sum;
}

// The same of all columns, and where the last panel has fewer vectors, with
// that counted as a whole one or as it is.
double cost(const Machine &machine, RegisterTile tile, int64_t rowExtent,
            int64_t columnExtent, const ContractionShape &shape,
            bool wholePanels) {
  int64_t vectors = llvm::divideCeil(columnExtent, machine.lanes),
          rest = vectors % tile.vectors;
  auto ofPanel = [&](int64_t vectors) {
    return costOfPanel(machine, tile.rows, vectors, rowExtent, shape);
  };
  double sum = vectors / tile.vectors * ofPanel(tile.vectors);
  return rest ? sum + ofPanel(wholePanels ? tile.vectors : rest) : sum;
}

// All that the registers hold; the smallest one first. On Zen 4 a row by a
// matrix of the run of 2 to 8 MB took AVX2 0.43 to 0.6 of the time in panels of
// eight vectors that it took in four; AVX-512 took as long with 16 as with 8.
std::vector<RegisterTile> tilesFor(const Machine &machine,
                                   const ContractionShape &shape) {
  bool hasHalfLines = machine.lanes * shape.elementBits < 8 * lineBytes;
  std::vector<RegisterTile> tiles = {{1, 1}};
  for (int64_t vectors = 1; vectors <= machine.registers / 2; ++vectors)
    for (int64_t rows = 1; rows <= mostRowsOf(machine, shape, vectors); ++rows)
      // A single row takes what it is multiplied with from memory.
      if (int64_t read = rows == 1 && hasHalfLines ? 1 : vectors;
          rows * vectors + read + 1 <= machine.registers - shape.taken)
        tiles.push_back({rows, vectors});
  return tiles;
}

// sum + first * second, in floating point.
bool isPlainProduct(linalg::GenericOp root) {
  Block *body = root.getBody();
  auto sum =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum || root.getNumDpsInputs() != 2 || body->getOperations().size() != 3)
    return false;
  Value out = body->getArgument(2);
  Value term = sum.getLhs() == out ? sum.getRhs() : sum.getLhs();
  auto product = term.getDefiningOp<arith::MulFOp>();
  return product && (sum.getLhs() == out || sum.getRhs() == out) &&
         product.getLhs() != product.getRhs();
}

// Whether one vector of each pixel that a depthwise window reaches stays in the
// first cache from row to row where all vectors would not. Pixels lie as far
// apart as they have channels, so they may share few of its sets. A part of a
// line would be fetched, and written by several tasks, in vain. Behind a mesh
// single lines come late: images beyond L2 took up to 1.4 times as long.
bool staysWarm(const ContractionShape &shape, const Machine &machine) {
  // Every vector passes all pages of the image and of the result.
  bool isKnown = !ShapedType::isDynamic(shape.pixels);
  int64_t bytes = isKnown ? 2 * shape.pixels * shape.rowStride
                          : std::numeric_limits<int64_t>::max();
  bool isFound = shape.rowStride * pixelsOfWalk <= pageBytes || !isKnown ||
                 bytes <= foundBytes;
  if (ShapedType::isDynamic(shape.pixelsReached) || !isFound ||
      bytes > machine.closeBytes ||
      machine.lanes * shape.elementBits < 8 * lineBytes ||
      shape.rowStride % lineBytes != 0 ||
      shape.pixelsReached * shape.rowStride < warmPart * machine.l1Bytes)
    return false;
  return shape.pixelsReached <=
         warmPart * setsAtPitch(shape.rowStride) * waysOfL1(machine.l1Bytes);
}

// How many panels a depthwise window passes at once where only the run knows
// how long rows are: as many as leave most of the first cache to the image
// while their taps stay in it from tile to tile.
int64_t panelsOfGroup(const ContractionShape &shape, const Machine &machine) {
  if (!ShapedType::isDynamic(shape.pixelsReached) ||
      ShapedType::isDynamic(shape.columns) || shape.columns % machine.lanes ||
      2 * shape.weightBytes <= machine.l1Bytes)
    return 1;
  int64_t panels = shape.columns / machine.lanes,
          group = std::max<int64_t>(
              panels * machine.l1Bytes / (3 * shape.weightBytes), 1);
  while (panels % group)
    --group;
  return group;
}

// Rows of a depthwise window's tile, which keeps its sums, a row of taps and
// one input. Of a long row of taps it keeps but one; where rows are known, many
// of them share what they read, and leave few tiles at the ends of the image.
// Lines that hold several vectors are to stay for the next one. On Zen 4
// windows of 9 to 31 taps took 0.64 to 0.9 of the time of 7 rows, by AVX2 0.7
// to 0.9.
int64_t rowsOfWindow(const ContractionShape &shape, const Machine &machine) {
  constexpr int64_t shortRow = 8, usual = 7, most = 14;
  bool staysOrGoes =
      machine.lanes * shape.elementBits >= 8 * lineBytes ||
      std::min(most + shape.taps, shape.rows) <=
          setsAtPitch(shape.rowStride) * waysOfL1(machine.l1Bytes);
  if (shape.taps > shortRow && !ShapedType::isDynamic(shape.rows) &&
      !shape.isSmall && staysOrGoes)
    return std::clamp<int64_t>(machine.registers - 2, 1, most);
  int64_t taps = std::clamp<int64_t>(shape.taps, 1, shortRow);
  return std::clamp<int64_t>(machine.registers - taps - 2, 1, usual);
}

// Whether lanes along the loop read one input side by side.
bool liesAlong(AffineMap map, unsigned loop) {
  return map.getNumResults() > 0 &&
         map.getResults().back() == getAffineDimExpr(loop, map.getContext()) &&
         llvm::none_of(map.getResults().drop_back(), [&](AffineExpr index) {
           return index.isFunctionOfDim(loop);
         });
}

// Whether the kernel would find the ends of the last dimension by itself.
bool isPaddedLast(Value input) {
  auto pad = input.getDefiningOp<tensor::PadOp>();
  return pad && (!isConstantIntValue(pad.getMixedLowPad().back(), 0) ||
                 !isConstantIntValue(pad.getMixedHighPad().back(), 0));
}

} // namespace

// Whether one row reads so many weights that it only waits for them.
static bool isStreamOfWeights(TargetAttr target,
                              const ContractionShape &shape) {
  return target && shape.rows == 1 && shape.hasWeights &&
         shape.weightBytes > target.getL2Bytes();
}

// The machine with half vectors, of which it takes two for one where it has one
// multiply-add of whole vectors per cycle: columns may fill them better. In a
// row that waits for weights, half as wide a tile of them asks for what is
// ahead in every step: by 67 MB that took Zen 4 0.8 of the time. Fewer of them
// cross lines: depthwise windows along rows took 0.57 to 0.97.
static std::optional<Machine> halved(const Machine &machine, TargetAttr target,
                                     const ContractionShape &shape) {
  int64_t half = machine.lanes / 2;
  bool waits = isStreamOfWeights(target, shape);
  if (!joinsHalves(machine.lanes, machine.multiplyAdds) || shape.depthwise ||
      ShapedType::isDynamic(shape.columns) ||
      (llvm::alignTo(shape.columns, half) % machine.lanes == 0 && !waits &&
       !overlapsAlongVectors(shape)))
    return std::nullopt;
  Machine other = machine;
  if (waits)
    other.registers /= 2;
  other.lanes = half;
  other.multiplyAdds *= 2;
  other.loads = loadsOfHalves;
  return other;
}

// Columns whose weights are a line if they are as wide as the sums.
static int64_t columnsOfLine(const ContractionShape &shape) {
  return 8 * lineBytes / shape.elementBits;
}

// Of what one row of a product reads beside weights.
static int64_t rowBytesOf(const ContractionShape &shape) {
  return shape.reduction * llvm::divideCeil(shape.elementBits, 8);
}

// Whether only the run knows how many rows a product has, which then come in
// blocks that stay in L2, by weights that do, too. Fewer rows than columns are
// usual where these are many.
static bool staysInBlocks(const ContractionShape &shape, int64_t halfOfL2) {
  constexpr int64_t manyColumns = 128;
  return shape.isProduct && shape.hasWeights && !shape.isMerged &&
         ShapedType::isDynamic(shape.rows) && shape.rowsOfImage == 0 &&
         shape.columns >= manyColumns && shape.weightBytes <= halfOfL2 &&
         leastTiles * mostRows * rowBytesOf(shape) <= halfOfL2;
}

// Whether all rows pass a panel before the next one does. Rows were computed
// last, so while L2 holds them they are read again for less than weights, which
// come from farther away and are asked for a panel ahead. On Emerald Rapids
// products of 16 to 196 rows by 256 and 512 KB took 0.74 to 0.9 of the time.
// Tasks then share panels, and what the next kernel reads lies with both cores:
// where rows were more than columns, a ShuffleNet took 1.2 times as long.
static bool readsPanelsOnce(const ContractionShape &shape,
                            const Machine &machine, int64_t halfOfL2) {
  bool keepsRows = staysInBlocks(shape, halfOfL2);
  if (shape.isProduct && shape.hasWeights &&
      !ShapedType::isDynamic(shape.pixels))
    keepsRows = shape.pixels * rowBytesOf(shape) <=
                std::min(halfOfL2, shape.weightBytes);
  return shape.weightBytes > (keepsRows ? machine.l1Bytes : halfOfL2);
}

static ContractionAttr chooseSchedule(MLIRContext *context, TargetAttr target,
                                      const ContractionShape &shape,
                                      const Machine &machine, double &least) {
  if (shape.depthwise) {
    return ContractionAttr::get(
        context, rowsOfWindow(shape, machine), machine.lanes, machine.lanes,
        staysWarm(shape, machine) ? LoopOrder::Panels : LoopOrder::Pixels,
        /*block=*/0, panelsOfGroup(shape, machine),
        /*depth=*/0, /*partial=*/0);
  }
  int64_t rowExtent =
      ShapedType::isDynamic(shape.rows) ? usualLoopExtent : shape.rows;
  int64_t columnExtent =
      ShapedType::isDynamic(shape.columns) ? usualLoopExtent : shape.columns;
  bool mayBeSingle =
      ShapedType::isDynamic(shape.rows) && shape.rowsOfImage == 0;
  auto costOf = [&](RegisterTile tile, int64_t extent,
                    bool wholePanels = true) {
    double all = cost(machine, tile, extent, columnExtent, shape, wholePanels);
    auto weigh = [&](int64_t rows, int64_t columns) {
      double single = cost(machine, tile, rows, columns, shape, false);
      all *= std::pow(single, weightOfSingle);
    };
    if (mayBeSingle)
      weigh(1, columnExtent);
    if (shape.isProduct && ShapedType::isDynamic(shape.columns))
      weigh(extent, machine.lanes);
    return all;
  };
  std::vector<RegisterTile> tiles = tilesFor(machine, shape);
  auto bestTile = [&](int64_t extent) {
    return *llvm::min_element(tiles, [&](RegisterTile one, RegisterTile other) {
      return costOf(one, extent) < costOf(other, extent);
    });
  };
  RegisterTile tile = bestTile(rowExtent);
  double most = nearlyBest * costOf(tile, rowExtent);
  // Rows of an image may turn out not to follow each other.
  if (shape.rowsOfImage > 0)
    if (RegisterTile other = bestTile(shape.rowsOfImage);
        costOf(other, rowExtent) <= most)
      tile = other;
  // A rest of few columns may be worth panels of another width, and be smaller
  // where there are panels of two widths anyway.
  int64_t vectors = llvm::divideCeil(columnExtent, machine.lanes);
  for (RegisterTile other : tiles) {
    double enough = vectors % tile.vectors ? 1 / nearlyBest : clearlyLess;
    if (costOf(other, rowExtent, /*wholePanels=*/false) <
        enough * costOf(tile, rowExtent, /*wholePanels=*/false))
      tile = other;
  }
  LoopOrder outer =
      readsPanelsOnce(shape, machine, target ? target.getL2ForBlocks() / 2 : 0)
          ? LoopOrder::Panels
          : LoopOrder::Pixels;
  // What does not stay in L1 is read once for as many rows as are worth their
  // code, and few rows are enough sums at once only where they are wide.
  if (mayBeSingle && shape.weightBytes > machine.l1Bytes) {
    double most = worthFewRows * costOf(tile, rowExtent);
    // Panels that fill L2 are cut into pieces, where they leave no rest.
    int64_t half = target ? target.getL2Bytes() / 2 : 0;
    auto staysInL2 = [&](RegisterTile tile) {
      int64_t columns = tile.vectors * machine.lanes;
      return rowBytesOf(shape) * columns <= half || columnExtent % columns == 0;
    };
    for (RegisterTile other : tiles) {
      bool isBetter = tile.rows != mostExactRows ||
                      other.vectors > tile.vectors || !staysInL2(tile);
      if (other.rows == mostExactRows && isBetter && staysInL2(other) &&
          costOf(other, rowExtent) <= most)
        tile = other;
    }
  }
  least = costOf(tile, rowExtent, /*wholePanels=*/false);
  return ContractionAttr::get(context, tile.rows, tile.vectors * machine.lanes,
                              machine.lanes, outer);
}

// Of a panel that a tile reads beside others. Where several rows leave
// registers for few sums, half a line is a vector, and there are more places.
static int64_t columnsOfPlace(TargetAttr target,
                              const ContractionShape &shape) {
  if (shape.rows == 1 || isFarFromMemory(target))
    return columnsOfLine(shape);
  return machineOf(target, shape.elementBits).lanes;
}

// How many such panels the registers hold sums of all rows for, and their
// weights if several rows share them; none where there are many rows.
static int64_t panelsOfRows(TargetAttr target, const ContractionShape &shape) {
  constexpr int64_t most = 8;
  Machine machine = machineOf(target, shape.elementBits);
  int64_t columns = columnsOfPlace(target, shape),
          vectors = columns / machine.lanes;
  // At least two tiles, for these are what tasks share.
  int64_t panels =
      std::min<int64_t>(most, llvm::divideCeil(shape.columns, 2 * columns));
  auto fits = [&](int64_t panels) {
    int64_t read = panels * vectors, sums = shape.rows * read;
    return sums <= machine.registers * 3 / 4 &&
           (shape.rows == 1 || sums + read + 1 <= machine.registers);
  };
  while (panels > 0 && !fits(panels))
    --panels;
  return panels;
}

// Few rows wait for weights that L2 does not hold. From several places at once
// a core gets more of them than from one: behind a mesh, on Emerald
// Rapids, 13.7 GB/s from one place, 17 from four and 18.5 from eight; on Zen 3
// 17, 20 and 23. So panels are a line wide or half of one, and a tile has
// several: behind a mesh a row by 411 MB took 0.8 of the time, two to twelve by
// 67 MB 0.63 to 0.9, and on Zen 3 one to four by 67 MB 0.7, five and six 0.82
// to 0.98.
static bool readsLines(TargetAttr target, const ContractionShape &shape) {
  constexpr int64_t usualColumns = 48;
  bool arePanels = shape.hasWeights && !shape.depthwise && !shape.isMerged &&
                   shape.weightElementBits == shape.elementBits;
  if (!target || !arePanels || shape.weightBytes <= target.getL2Bytes() ||
      !seesLittleAhead(target) ||
      (shape.packedColumns &&
       shape.packedColumns != columnsOfPlace(target, shape)))
    return false;
  if (ShapedType::isDynamic(shape.rows))
    return isFarFromMemory(target) && shape.isProduct &&
           shape.rowsOfImage == 0 &&
           rowBytesOf(shape) * usualColumns <= target.getL2Bytes() / 2;
  return (shape.isProduct || shape.rows == 1) && shape.pixels == shape.rows &&
         panelsOfRows(target, shape) > 1;
}

int64_t panelsOfTile(ContractionAttr schedule, TargetAttr target,
                     const ContractionShape &shape) {
  if (!readsLines(target, shape))
    return 1;
  int64_t columns = columnsOfPlace(target, shape),
          panels = schedule.getColumns() / columns;
  return panels * columns == schedule.getColumns() ? panels : 1;
}

ContractionAttr chooseSchedule(MLIRContext *context, TargetAttr target,
                               const ContractionShape &shape) {
  if (readsLines(target, shape) && !ShapedType::isDynamic(shape.rows))
    return ContractionAttr::get(
        context, shape.rows,
        panelsOfRows(target, shape) * columnsOfPlace(target, shape),
        machineOf(target, shape.elementBits).lanes, LoopOrder::Panels);
  Machine machine = machineOf(target, shape.elementBits);
  double least = 0, leastOfHalf = 0;
  ContractionAttr schedule =
      chooseSchedule(context, target, shape, machine, least);
  if (std::optional<Machine> half = halved(machine, target, shape)) {
    ContractionAttr other =
        chooseSchedule(context, target, shape, *half, leastOfHalf);
    bool sharesNoLoads = overlapsAlongVectors(shape) && schedule.getRows() == 1;
    bool isHalf = shape.columns <= half->lanes;
    if (leastOfHalf < clearlyLess * least || sharesNoLoads || isHalf ||
        isStreamOfWeights(target, shape))
      return other;
  }
  return schedule;
}

ContractionAttr chooseAlongSum(linalg::GenericOp root, const LoopRoles &roles,
                               TargetAttr target) {
  if (!target || isStrict(root->getParentOfType<ModuleOp>()) ||
      roles.reductions.empty() || !isPlainProduct(root))
    return {};
  Type element = getElementTypeOrSelf(root.getResult(0));
  Machine machine = machineOf(target, element.getIntOrFloatBitWidth());
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  unsigned along = roles.reductions.back();
  int64_t columns = extents[roles.vector], lanes = machine.lanes;
  bool isSingle = rowsOf(root, roles) == 1;
  auto isStatic = [&](unsigned loop) {
    return !ShapedType::isDynamic(extents[loop]);
  };
  if (!isa<FloatType>(element) || !isStatic(roles.vector) ||
      (isSingle ? 1 : 2) * columns > lanes ||
      !llvm::all_of(roles.reductions, isStatic) || extents[along] < lanes)
    return {};
  for (OpOperand *input : root.getDpsInputOperands()) {
    AffineMap map = root.getMatchingIndexingMap(input);
    bool isConstant = constantBehind(input->get()) &&
                      map.isProjectedPermutation() &&
                      map.isFunctionOfDim(along);
    bool isRead = map.isFunctionOfDim(roles.vector)
                      ? isConstant
                      : liesAlong(map, along) && !isPaddedLast(input->get());
    if (!isRead || getElementTypeOrSelf(input->get()) != element)
      return {};
  }
  double sums = 1;
  for (unsigned loop : roles.reductions)
    sums *= extents[loop];
  double steps =
             sums / extents[along] * llvm::divideCeil(extents[along], lanes),
         alongSum = columns * (steps + foldOfLanes);
  // The only sum of a single row waits for itself.
  if (alongSum > worthwhile * sums * (isSingle ? latency : 1))
    return {};
  // One register is left for what LLVM moves around.
  int64_t rows = std::clamp<int64_t>(
      (machine.registers - columns - 2) / columns, 1, mostRowsOfOneSet);
  return ContractionAttr::get(root.getContext(), rows, lanes, lanes,
                              LoopOrder::Pixels, 0, 1, 0, columns);
}

// How many channels of a window's panel are read at once, all rows of the image
// by them: no tile of rows finds a panel that is larger than L2 there. Zero
// where it is not.
static int64_t channelsOfPiece(const ContractionShape &shape,
                               int64_t panelBytes, int64_t half) {
  constexpr int64_t channelsOfLine = 16;
  if (shape.depthwise || shape.isSmall || !shape.weightBytes || half == 0 ||
      panelBytes <= 4 * half)
    return 0;
  int64_t pieces = llvm::divideCeil(panelBytes, half);
  int64_t channels =
      llvm::alignTo(llvm::divideCeil(shape.channels, pieces), channelsOfLine);
  return channels < shape.channels ? channels : 0;
}

// A matrix of the run lies in memory row by row. Where L2 does not hold it, a
// tile's columns are in another page at each step, and nothing is fetched
// ahead. So a piece is few steps, which all panels of a group take one after
// another, along as many rows of the matrix: one, four and sixteen rows by 4096
// x 4096 took 0.55, 0.42 and 0.5 of the time. Where L3 does not hold it either,
// Zen 4 took 0.54 to 0.91 of it for 17 to 64 rows, and 0.4 to 0.57 where a rest
// of the columns is a panel; by 6 and 8 MB those took 1.2 times as long. Null
// for other products, and machines without pages.
static ContractionAttr alongRowsOfMatrix(ContractionAttr schedule,
                                         TargetAttr target,
                                         const ContractionShape &shape) {
  constexpr int64_t fewRows = 16, mostRows = 64, rowsOfTile = 4, sumsOfTile = 8,
                    steps = 8, leastShared = 1024, columnsOfGroup = 2048;
  bool isMatrix = shape.isProduct && !shape.hasWeights && !shape.isMerged &&
                  shape.weightElementBits == shape.elementBits &&
                  shape.channels == shape.reduction &&
                  !ShapedType::isDynamic(shape.columns);
  if (!target || !target.getHeap() || !isMatrix ||
      ShapedType::isDynamic(shape.rows) || shape.pixels != shape.rows ||
      shape.weightBytes <= target.getL2Bytes())
    return {};
  bool isBehindL3 = shape.weightBytes > l3BytesOf(target);
  int64_t rows = std::min(shape.rows, rowsOfTile),
          most = sumsOfTile / rows * schedule.getVector(), columns = most;
  while (shape.columns % columns && columns > schedule.getVector())
    columns /= 2;
  bool hasRest = shape.columns % columns;
  if (shape.rows > (isBehindL3 ? mostRows : fewRows) ||
      (hasRest && !isBehindL3))
    return {};
  if (hasRest)
    columns = most;
  // Tasks share the groups.
  int64_t groups = std::max<int64_t>(shape.columns < leastShared ? 1 : 2,
                                     shape.columns / columnsOfGroup),
          group = llvm::divideCeil(shape.columns / columns, groups);
  return ContractionAttr::get(schedule.getContext(), rows, columns,
                              schedule.getVector(), LoopOrder::Panels,
                              /*block=*/0, group, steps, /*partial=*/0);
}

ContractionAttr blockedForCache(ContractionAttr schedule, TargetAttr target,
                                const ContractionShape &shape,
                                bool holdsPartialSums) {
  int64_t columns = schedule.getColumns(), bytes = shape.elementBits / 8,
          half = target ? target.getL2ForBlocks() / 2 : 0,
          rows =
              ShapedType::isDynamic(shape.rows) ? usualLoopExtent : shape.rows,
          rowBytes = rowBytesOf(shape);
  auto blocked = [&](int64_t block, int64_t group, int64_t depth) {
    return ContractionAttr::get(schedule.getContext(), schedule.getRows(),
                                columns, schedule.getVector(),
                                schedule.getOuter(), block, group, depth,
                                /*partial=*/0);
  };
  if (ContractionAttr found = alongRowsOfMatrix(schedule, target, shape);
      found && holdsPartialSums)
    return found;
  if (schedule.getOuter() == LoopOrder::Panels && staysInBlocks(shape, half))
    return blocked(llvm::alignDown(half / rowBytes, schedule.getRows()), 1, 0);
  bool hasLines = readsLines(target, shape);
  if (hasLines && !ShapedType::isDynamic(shape.rows))
    return schedule;
  // What is left of whole panels would be steps of their own.
  if (schedule.getOuter() != LoopOrder::Panels || shape.isMerged ||
      ShapedType::isDynamic(shape.columns) || shape.columns % columns)
    return schedule;
  if (!shape.isProduct) {
    int64_t depth =
        holdsPartialSums ? channelsOfPiece(shape, rowBytes * columns, half) : 0;
    return depth ? blocked(0, 1, depth) : schedule;
  }
  // Behind a mesh rows may have half of L2 if their sums are in one piece: 256
  // of 3 KB took 0.91 of the time on Granite Rapids, but 40 of 24 KB 3.5 times
  // as long. Of an unknown number, the run tells.
  bool mayHaveMore = target && isFarFromMemory(target) &&
                     !ShapedType::isDynamic(shape.rows) &&
                     shape.reduction <= mostDepth;
  if (rows * rowBytes <= (mayHaveMore ? bytesForRows(target) : half))
    return schedule;
  // A matrix of the run would be copied anew for each block: groups take 2048 x
  // 2048 by as many 0.69 of the time on Zen 4, by AVX2 0.50, and 1024 x 1024
  // 0.96 and 0.93.
  if (!ShapedType::isDynamic(shape.rows) && shape.hasWeights &&
      shape.reduction <= mostWhole && rows * rowBytes > manyHalves * half) {
    int64_t tiles = half / (rowBytes * schedule.getRows());
    return blocked(std::max(tiles, leastTiles) * schedule.getRows(), 1, 0);
  }
  int64_t pieces = llvm::divideCeil(shape.reduction, mostDepth);
  int64_t depth = llvm::divideCeil(shape.reduction, pieces);
  if (hasLines && pieces > 1) // which would lie apart
    return schedule;
  // At least two groups, for these are what tasks share.
  int64_t group =
      std::min(half / (depth * columns * bytes), shape.columns / columns / 2);
  if (group < 1 || depth < leastDepth || !holdsPartialSums ||
      (pieces > 1 && shape.channels != shape.reduction))
    return schedule;
  return blocked(0, group, pieces > 1 ? depth : 0);
}

} // namespace onnxc
