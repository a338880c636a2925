#include "lowering/loops/Winograd.h"
#include "lowering/Estimate.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/PointProducts.h"
#include "lowering/loops/RowTiles.h"
#include "lowering/memory/EntryFormulas.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace onnxc {

namespace {

// Fewer channels than this do not pay for the transforms.
constexpr int64_t fewestChannels = 24;
// Winograd is less exact, so it must be worth it.
constexpr double leastGain = 1.15;
// What rows and columns of an image are taken for of which nothing is known,
// and inputs of the model that the image comes from: a choice has to be good
// for small and for large ones.
constexpr int64_t usualExtent = 64;
constexpr int64_t usualInputs[] = {96, 224, 448};

// What the transforms of one tile and one vector of channels cost, in cycles of
// a core with one multiply-add per cycle.
struct TransformCost {
  int64_t tile;
  double input, output;
};
constexpr TransformCost transformCosts[] = {{4, 190, 120}, {2, 50, 34}};

// The sum of two different loops that an index is, pixel first.
bool isWindowIndex(AffineExpr index, linalg::GenericOp root, unsigned &pixel,
                   unsigned &tap) {
  auto sum = dyn_cast<AffineBinaryOpExpr>(index);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return false;
  auto lhs = dyn_cast<AffineDimExpr>(sum.getLHS());
  auto rhs = dyn_cast<AffineDimExpr>(sum.getRHS());
  if (!lhs || !rhs)
    return false;
  pixel = lhs.getPosition();
  tap = rhs.getPosition();
  auto isReduction = [&](unsigned loop) {
    return root.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
  };
  if (isReduction(pixel))
    std::swap(pixel, tap);
  return !isReduction(pixel) && isReduction(tap);
}

struct Image {
  int64_t rows, columns;
  bool isFixed;
  int64_t tileRows(int64_t tile) const { return llvm::divideCeil(rows, tile); }
  int64_t tileColumns(int64_t tile) const {
    return llvm::divideCeil(columns, tile);
  }
};

Image imageOf(const SquareConvolution &conv,
              llvm::function_ref<int64_t(unsigned)> unknown) {
  auto extentOf = [&](unsigned loop) {
    int64_t extent = conv.extent(loop);
    return ShapedType::isDynamic(extent) ? unknown(loop) : extent;
  };
  return {extentOf(conv.row), extentOf(conv.column), conv.hasFixedImage()};
}

// The image where all unknown sizes of the model's inputs are `size`.
Image imageOfInputs(const SquareConvolution &conv, int64_t size) {
  linalg::GenericOp root = conv.root;
  AffineMap output = root.getIndexingMapsArray().back();
  Block scratch;
  OpBuilder builder(root.getContext());
  builder.setInsertionPointToEnd(&scratch);
  EntryFormulas formulas(builder, [&](BlockArgument input, int64_t) {
    return arith::ConstantIndexOp::create(builder, input.getLoc(), size);
  });
  return imageOf(conv, [&](unsigned loop) -> int64_t {
    AffineExpr index = getAffineDimExpr(loop, root.getContext());
    Value extent =
        formulas.sizeOf(root.getResult(0), *output.getResultPosition(index));
    int64_t known = extent ? estimate(extent, size) : 0;
    return known > 0 ? known : usualExtent;
  });
}

// Cycles until weights have come by once; none where they stay in L2.
double cyclesOfWeights(int64_t bytes, TargetAttr target) {
  if (bytes <= target.getL2ForBlocks() / 2)
    return 0;
  return double(bytes) / (isBehindCaches(bytes, target)
                              ? target.getMemoryBytesPerCycle()
                              : target.getL3BytesPerCycle());
}

// Cycles of the products of all points, and how many rows of tiles they do at
// once.
struct Products {
  double cycles = std::numeric_limits<double>::infinity();
  int64_t tileRows = 1;
};

// Where memory is far away, weights that are much more than L2 come by as
// seldom as the rows of a block fit there: 14 x 14 pixels of 256 channels took
// Emerald Rapids 0.87 of the time in one block instead of three, and 40 x 40 of
// 128, whose weights are a little more than L2, 1.03 in three instead of five.
int64_t rowsOfFewestBlocks(int64_t rows, int64_t rowBytes, int64_t weights,
                           TargetAttr target) {
  constexpr double mostOfL2 = 0.8, muchMore = 1.5;
  int64_t most = mostOfL2 * target.getL2Bytes() / rowBytes;
  if (!isFarFromMemory(target) || most == 0 ||
      weights <= muchMore * target.getL2Bytes())
    return 1;
  return balancedTiles(rows, most).front().rows;
}

// All weights are read for each block of rows of tiles, beside the
// multiplications; what lies between the transforms and the products is written
// and read once, behind L2 where a block's does not fit there. The smallest
// block of those that take the least time; but a larger one while it is little
// beside the weights, which all cores stream at once. Where only the run knows
// the image, its tiles count as rows of one. What far memory adds to the rows
// is not in the cycles.
Products chooseBlocks(const SquareConvolution &conv, Image image, int64_t tile,
                      double perCycle, TargetAttr target) {
  int64_t rows = image.tileRows(tile), columns = image.tileColumns(tile),
          points = (tile + 2) * (tile + 2);
  int64_t inputs = conv.extent(conv.input), outputs = conv.extent(conv.output);
  double multiplications =
      double(points) * rows * columns * inputs * outputs / perCycle;
  if (!image.isFixed)
    rows *= std::exchange(columns, 1);
  int64_t weights = points * inputs * outputs * 4;
  int64_t rowBytes = points * columns * (inputs + outputs) * 4;
  Products best;
  for (int64_t most = 1; most <= rows; ++most) {
    int64_t block = balancedTiles(rows, most).front().rows;
    // What is a little more than half of L2 stays there for the most part.
    double half = target.getL2ForBlocks() / 2.0,
           far = std::clamp((block * rowBytes - half) / half, 0.0, 1.0);
    bool isFar = far > 0;
    double blocks = llvm::divideCeil(rows, block);
    double streaming = blocks * cyclesOfWeights(weights, target);
    double cycles = std::max(multiplications, streaming) +
                    far * 2.0 * rowBytes * rows / target.getL3BytesPerCycle();
    bool isLittle = !isFar || block * rowBytes <= weights / 4;
    if (cycles < best.cycles || (cycles == best.cycles && isLittle))
      best = {cycles, block};
  }
  int64_t block = rowsOfFewestBlocks(rows, rowBytes, weights, target);
  best.tileRows = std::max(best.tileRows, block);
  return best;
}

} // namespace

FailureOr<SquareConvolution> matchSquareConvolution(linalg::GenericOp root) {
  if (root.getNumLoops() != 7 || root.getNumReductionLoops() != 3 ||
      root.getNumDpsInputs() != 2 || root.getNumDpsInits() != 1 ||
      !isMultiplyAdd(root))
    return failure();
  SquareConvolution conv{};
  conv.root = root;
  for (OpOperand *input : root.getDpsInputOperands()) {
    AffineMap map = root.getMatchingIndexingMap(input);
    (map.isProjectedPermutation() ? conv.filter : conv.image) = input;
    if (!cast<RankedTensorType>(input->get().getType())
             .getElementType()
             .isF32())
      return failure();
  }
  if (!conv.image || !conv.filter)
    return failure();
  AffineMap image = root.getMatchingIndexingMap(conv.image);
  AffineMap filter = root.getMatchingIndexingMap(conv.filter);
  AffineMap output = root.getIndexingMapsArray().back();
  if (image.getNumResults() != 4 || filter.getNumResults() != 4 ||
      !output.isProjectedPermutation() || output.getNumResults() != 4)
    return failure();
  auto loopOf = [](AffineExpr index) {
    auto dim = dyn_cast<AffineDimExpr>(index);
    return dim ? int64_t(dim.getPosition()) : -1;
  };
  int64_t batch = loopOf(output.getResult(0)),
          row = loopOf(output.getResult(1)),
          column = loopOf(output.getResult(2)),
          last = loopOf(output.getResult(3)), input = -1;
  conv.imageOrder.fill(-1);
  for (auto [i, index] : llvm::enumerate(image.getResults())) {
    unsigned pixel, tap;
    if (isWindowIndex(index, root, pixel, tap)) {
      bool isRow = pixel == row;
      if (!isRow && pixel != column)
        return failure();
      conv.imageOrder[isRow ? 1 : 2] = i;
      (isRow ? conv.filterRow : conv.filterColumn) = tap;
    } else if (loopOf(index) == batch) {
      conv.imageOrder[0] = i;
    } else {
      conv.imageOrder[3] = i;
      input = loopOf(index);
    }
  }
  if (llvm::is_contained(conv.imageOrder, -1) || input < 0)
    return failure();
  conv.batch = batch, conv.row = row, conv.column = column;
  conv.input = input, conv.output = last;
  for (auto [loop, extent] : llvm::enumerate(root.getStaticLoopRanges()))
    if (ShapedType::isDynamic(extent) && int64_t(loop) != batch &&
        loop != conv.row && loop != conv.column)
      return failure();
  int64_t expected[] = {last, input, conv.filterRow, conv.filterColumn};
  for (auto [index, loop] : llvm::zip(filter.getResults(), expected))
    if (loopOf(index) != loop)
      return failure();
  if (conv.extent(conv.filterRow) != 3 || conv.extent(conv.filterColumn) != 3)
    return failure();
  return conv;
}

// Cycles of the direct convolution of one image that Winograd has to beat.
static double directCycles(const SquareConvolution &conv, Image image,
                           double perCycle, TargetAttr target) {
  double inputs = conv.extent(conv.input), pixels = image.rows * image.columns;
  double channels = inputs * conv.extent(conv.output);
  double moved = llvm::is_sorted(conv.imageOrder) ? 0 : pixels * inputs;
  return std::max(9 * pixels * channels / perCycle,
                  cyclesOfWeights(36 * channels, target)) /
             leastGain -
         cyclesOfTranspose * moved;
}

WinogradAttr chooseWinograd(const SquareConvolution &conv, TargetAttr target) {
  if (!target || target.getVectorBits() < 128)
    return {};
  double lanes = target.getVectorBits() / 32,
         perCycle = lanes * target.getFmaPerCycle();
  int64_t inputs = conv.extent(conv.input), outputs = conv.extent(conv.output);
  if (std::min(inputs, outputs) < fewestChannels)
    return {};
  Image large = imageOf(conv, [](unsigned) { return usualExtent; });
  SmallVector<Image> images = {large};
  if (!large.isFixed)
    images = llvm::map_to_vector(
        usualInputs, [&](int64_t size) { return imageOfInputs(conv, size); });
  // By the mean of ratios.
  auto costOf = [&](llvm::function_ref<double(Image)> cyclesOf) {
    double sum = 0;
    for (Image image : images)
      sum += std::log(std::max(cyclesOf(image), 1.0));
    return sum;
  };
  double best = costOf(
      [&](Image image) { return directCycles(conv, image, perCycle, target); });
  WinogradAttr schedule;
  for (auto [tile, input, output] : transformCosts) {
    double cost =
        costOf([&, tile = tile, input = input, output = output](Image image) {
          double tiles = image.tileRows(tile) * image.tileColumns(tile);
          return chooseBlocks(conv, image, tile, perCycle, target).cycles +
                 tiles * (inputs * input + outputs * output) / perCycle;
        });
    if (cost >= best)
      continue;
    best = cost;
    int64_t block = chooseBlocks(conv, large, tile, perCycle, target).tileRows;
    ContractionAttr product = scheduleOf(
        {(tile + 2) * (tile + 2), inputs, outputs},
        block * (large.isFixed ? large.tileColumns(tile) : 1), target);
    // Whole register tiles in all blocks but the last one.
    if (!large.isFixed && block > product.getRows())
      block -= block % product.getRows();
    schedule = WinogradAttr::get(target.getContext(), tile, block, product);
  }
  return schedule;
}

} // namespace onnxc
