#include "lowering/loops/Winograd.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/ConstantViews.h"
#include "lowering/Estimate.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/KernelWork.h"
#include "lowering/loops/PointProducts.h"
#include "lowering/loops/RowTiles.h"
#include "lowering/memory/EntryFormulas.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace onnxc {

namespace {

// Fewer channels than this, or than a vector has lanes, do not pay for the
// transforms.
constexpr int64_t fewestChannels = 8, fewestOfLine = 16;
// The transforms of each group of taps are code of their own.
constexpr int64_t mostGroups = 12;
// Tiles of taps that lie further apart would be mostly empty in small images;
// so few where only the run knows how large they are.
constexpr int64_t mostDilation = 8, mostOfLine = 32;
// As many times the bytes of the filter, at most: 2x2 takes nine, 3x3 with
// stride 2 would take sixteen, and be hardly faster.
constexpr int64_t mostGrowth = 9;
// Winograd is less exact, so it must be worth it.
constexpr double leastGain = 1.15;
// Pixels of a row that a direct convolution does at once, all with the same
// taps.
constexpr int64_t rowsOfTile = 6;
// As many times as long take rows of a length that only the run knows, which
// tiles do not divide.
constexpr double restOfRows = 1.2;
// What rows and columns of an image are taken for of which nothing is known,
// the length of a line, and inputs of the model that they come from: a choice
// has to be good for small and for large ones.
constexpr int64_t usualExtent = 64, usualLength = 256;
constexpr int64_t usualInputs[] = {96, 224, 448};

// What the transforms of one tile and one vector of channels cost, in cycles of
// a core with one multiply-add per cycle: of all lines in both directions, or
// of a single one.
struct TransformCost {
  int64_t tile;
  double input, output, inputOfLine, outputOfLine;
};
constexpr TransformCost transformCosts[] = {{4, 190, 120, 30, 22},
                                            {2, 50, 34, 15, 12},
                                            {3, 190, 95, 30, 18},
                                            {5, 190, 150, 30, 26}};

int64_t usualExtentOf(const FilteredConvolution &conv) {
  return conv.isLine() ? usualLength : usualExtent;
}

struct Image {
  int64_t rows, columns;
  bool isFixed;
};

Image imageOf(const FilteredConvolution &conv,
              llvm::function_ref<int64_t(unsigned)> unknown) {
  auto extentOf = [&](const FilteredDirection &direction) {
    return ShapedType::isDynamic(direction.extent) ? unknown(direction.pixel)
                                                   : direction.extent;
  };
  return {extentOf(conv.rows), extentOf(conv.columns), conv.hasFixedImage()};
}

// The image where all unknown sizes of the model's inputs are `size`.
Image imageOfInputs(const FilteredConvolution &conv, int64_t size) {
  linalg::GenericOp root = conv.root;
  AffineMap output = root.getIndexingMapsArray().back();
  Block scratch;
  OpBuilder builder(root.getContext());
  builder.setInsertionPointToEnd(&scratch);
  EntryFormulas formulas(builder, [&](BlockArgument input, int64_t) {
    return arith::ConstantIndexOp::create(builder, input.getLoc(), size);
  });
  Image image = imageOf(conv, [&](unsigned loop) -> int64_t {
    AffineExpr index = getAffineDimExpr(loop, root.getContext());
    Value extent =
        formulas.sizeOf(root.getResult(0), *output.getResultPosition(index));
    int64_t known = extent ? estimate(extent, size) : 0;
    return known > 0 ? known : usualExtentOf(conv);
  });
  formulas.eraseReified();
  return image;
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

// Rows of the longer share where two workers do so many, `block` at a time.
int64_t longerShare(int64_t rows, int64_t block) {
  int64_t count = llvm::divideCeil(rows, block), ofFirst = count / 2,
          first = ofFirst * (rows / count) + std::min(ofFirst, rows % count);
  return std::max(first, rows - first);
}

// Rows of a block, about `block`, so that two workers are busy equally long if
// they can be, where such a block does not take one longer: Inception-v3, which
// has 17 x 17 pixels in two blocks instead of three, took two cores of Emerald
// Rapids 0.945 of the time, and one 0.997.
int64_t rowsForTwo(int64_t rows, int64_t block,
                   llvm::function_ref<bool(int64_t)> isAsFast) {
  constexpr double clearlyLess = 0.9;
  int64_t count = llvm::divideCeil(rows, block);
  if (count == 1)
    return block;
  for (int64_t other : {count + 1, count - 1}) {
    if (other == 1 || other > rows)
      continue;
    int64_t evener = llvm::divideCeil(rows, other);
    if (longerShare(rows, evener) < clearlyLess * longerShare(rows, block) &&
        isAsFast(evener))
      return evener;
  }
  return block;
}

// All weights are read for each block of rows of tiles, beside the
// multiplications; what lies between the transforms and the products is written
// and read once, behind L2 where a block's does not fit there. The smallest
// block of those that take the least time; but a larger one while it is little
// beside the weights, which all cores stream at once. Where only the run knows
// the image, its tiles count as rows of one. What far memory adds to the rows
// is not in the cycles.
Products chooseBlocks(const FilteredConvolution &conv, Image image,
                      int64_t tile, double perCycle, TargetAttr target) {
  int64_t rows = conv.rows.tiles(image.rows, tile),
          columns = conv.columns.tiles(image.columns, tile),
          points = conv.points(tile);
  int64_t inputs = conv.terms(tile), outputs = conv.extent(conv.output);
  double multiplications =
      double(points) * rows * columns * inputs * outputs / perCycle;
  if (!image.isFixed)
    rows *= std::exchange(columns, 1);
  int64_t weights = points * inputs * outputs * 4;
  int64_t rowBytes = points * columns * (inputs + outputs) * 4;
  // What is a little more than half of L2 stays there for the most part.
  double half = target.getL2ForBlocks() / 2.0;
  auto cyclesOf = [&](int64_t block) {
    double far = std::clamp((block * rowBytes - half) / half, 0.0, 1.0),
           streaming =
               llvm::divideCeil(rows, block) * cyclesOfWeights(weights, target);
    return std::max(multiplications, streaming) +
           far * 2.0 * rowBytes * rows / target.getL3BytesPerCycle();
  };
  Products best;
  // Each size of blocks that there is, from the smallest one on.
  for (int64_t count = rows; count > 0; --count) {
    int64_t block = llvm::divideCeil(rows, count);
    count = llvm::divideCeil(rows, block);
    double cycles = cyclesOf(block);
    bool isLittle = block * rowBytes <= half || block * rowBytes <= weights / 4;
    if (cycles < best.cycles || (cycles == best.cycles && isLittle))
      best = {cycles, block};
  }
  int64_t block = rowsOfFewestBlocks(rows, rowBytes, weights, target);
  best.tileRows = std::max(best.tileRows, block);
  // Two fifths of L2 stay there beside what streams by.
  auto isAsFast = [&](int64_t block) {
    return block > best.tileRows
               ? block * rowBytes <= target.getL2Bytes() / 5 * 2
               : cyclesOf(block) <= cyclesOf(best.tileRows);
  };
  if (image.isFixed && hasThreads(target))
    best.tileRows = rowsForTwo(rows, best.tileRows, isAsFast);
  return best;
}

} // namespace

double FilteredDirection::usefulTaps(int64_t size, int64_t together) const {
  int64_t image =
              (size - 1) * stride + 1 + (taps - 1) * dilation - before - behind,
          useful = 0;
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t front = before - tap * dilation, // pixels to the image
        first = std::max<int64_t>(llvm::divideCeilSigned(front, stride), 0),
            end = std::min(size, llvm::divideCeilSigned(front + image, stride));
    if (first < end)
      useful += std::min(size, int64_t(llvm::alignTo(end, together))) -
                llvm::alignDown(first, together);
  }
  return double(useful) / std::max<int64_t>(size, 1);
}

int64_t FilteredDirection::tiles(int64_t size, int64_t tile) const {
  int64_t span = outputs(tile) * dilation;
  return size / span * dilation + std::min(dilation, size % span);
}

int64_t FilteredDirection::start(int64_t index, int64_t tile) const {
  return index + index / dilation * (outputs(tile) - 1) * dilation;
}

// The direction of an image along which `pixel` walks, which it reads at
// `index`.
static FailureOr<FilteredDirection>
directionOf(AffineExpr index, unsigned pixel, linalg::GenericOp root) {
  MLIRContext *context = root.getContext();
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  for (auto [tap, kind] : llvm::enumerate(root.getIteratorTypesArray())) {
    if (kind != utils::IteratorType::reduction)
      continue;
    int64_t stride = coefficient(index, pixel),
            dilation = coefficient(index, tap);
    AffineExpr start = getAffineDimExpr(pixel, context) * stride,
               further = getAffineDimExpr(tap, context) * dilation;
    bool isSum = index == start + further || index == further + start;
    if (extents[tap] == 1)
      dilation = 1;
    if (isSum && stride > 0 && dilation > 0 && std::min(stride, dilation) == 1)
      return FilteredDirection{pixel,        unsigned(tap), extents[pixel],
                               extents[tap], stride,        dilation};
  }
  return failure();
}

// As much as the image keeps its size where only the run knows how much.
static void addPadding(FilteredDirection &direction, tensor::PadOp pad,
                       int64_t dimension) {
  int64_t reach =
              (direction.taps - 1) * direction.dilation + 1 - direction.stride,
          low = pad.getStaticLow()[dimension],
          high = pad.getStaticHigh()[dimension];
  direction.before = ShapedType::isDynamic(low) ? reach / 2 : low;
  direction.behind =
      ShapedType::isDynamic(high) ? reach - direction.before : high;
}

// Loops of the convolution, and how it reads its image.
static LogicalResult matchImage(FilteredConvolution &conv) {
  linalg::GenericOp root = conv.root;
  AffineMap image = root.getMatchingIndexingMap(conv.image),
            output = root.getIndexingMapsArray().back();
  size_t rank = output.getNumResults();
  if ((rank != 3 && rank != 4) || image.getNumResults() != rank ||
      !output.isProjectedPermutation())
    return failure();
  auto loopOf = [](AffineExpr index) {
    auto dim = dyn_cast<AffineDimExpr>(index);
    return dim ? int64_t(dim.getPosition()) : -1;
  };
  conv.batch = output.getDimPosition(0);
  conv.output = output.getDimPosition(rank - 1);
  conv.imageOrder.assign(rank, -1);
  int64_t input = -1;
  for (auto [i, index] : llvm::enumerate(image.getResults())) {
    int64_t loop = loopOf(index);
    if (loop == int64_t(conv.batch)) {
      conv.imageOrder[0] = i;
      continue;
    }
    if (loop >= 0) {
      conv.imageOrder[rank - 1] = i;
      input = loop;
      continue;
    }
    for (size_t dim = 1; dim + 1 < rank; ++dim) {
      FailureOr<FilteredDirection> found =
          directionOf(index, output.getDimPosition(dim), root);
      if (failed(found))
        continue;
      conv.imageOrder[dim] = i;
      (dim == 1 ? conv.rows : conv.columns) = *found;
    }
  }
  if (llvm::is_contained(conv.imageOrder, -1))
    return failure();
  conv.input = input;
  if (conv.isLine())
    conv.columns = {root.getNumLoops(), root.getNumLoops() + 1, 1, 1, 1, 1};
  Value padded = conv.image->get();
  auto turned = padded.getDefiningOp<linalg::TransposeOp>();
  if (turned) // it may move in front of the padding later
    padded = turned.getInput();
  auto dimensionOf = [&](unsigned direction) {
    int64_t dim = conv.imageOrder[direction];
    return turned ? turned.getPermutation()[dim] : dim;
  };
  if (auto pad = padded.getDefiningOp<tensor::PadOp>()) {
    addPadding(conv.rows, pad, dimensionOf(1));
    if (!conv.isLine())
      addPadding(conv.columns, pad, dimensionOf(2));
  }
  return success();
}

FailureOr<FilteredConvolution>
matchFilteredConvolution(linalg::GenericOp root) {
  if (root.getNumDpsInputs() != 2 || root.getNumDpsInits() != 1 ||
      !isMultiplyAdd(root))
    return failure();
  FilteredConvolution conv{};
  conv.root = root;
  for (OpOperand *input : root.getDpsInputOperands()) {
    AffineMap map = root.getMatchingIndexingMap(input);
    (map.isProjectedPermutation() ? conv.filter : conv.image) = input;
    if (!getElementTypeOrSelf(input->get()).isF32())
      return failure();
  }
  if (!conv.image || !conv.filter || failed(matchImage(conv)))
    return failure();
  SmallVector<AffineExpr> expected;
  for (unsigned loop :
       {conv.output, conv.input, conv.rows.tap, conv.columns.tap})
    expected.push_back(getAffineDimExpr(loop, root.getContext()));
  if (conv.isLine())
    expected.pop_back();
  unsigned loops = conv.isLine() ? 5 : 7;
  auto isKnown = [&](unsigned loop) {
    return !ShapedType::isDynamic(conv.extent(loop));
  };
  if (root.getNumLoops() != loops ||
      root.getMatchingIndexingMap(conv.filter).getResults() !=
          ArrayRef(expected) ||
      !isKnown(conv.input) || !isKnown(conv.output) ||
      ShapedType::isDynamic(conv.rows.taps) ||
      ShapedType::isDynamic(conv.columns.taps) ||
      conv.rows.taps * conv.columns.taps < 2)
    return failure();
  return conv;
}

// Cycles of the direct convolution of one image that Winograd has to beat.
static double directCycles(const FilteredConvolution &conv, Image image,
                           double perCycle, TargetAttr target) {
  double inputs = conv.extent(conv.input), pixels = image.rows * image.columns,
         taps = conv.rows.taps * conv.columns.taps,
         useful = conv.rows.usefulTaps(image.rows, /*together=*/1) *
                  conv.columns.usefulTaps(image.columns, rowsOfTile);
  double channels = inputs * conv.extent(conv.output);
  double moved = llvm::is_sorted(conv.imageOrder)
                     ? 0
                     : pixels * conv.rows.stride * conv.columns.stride * inputs;
  double multiplications = useful * pixels * channels / perCycle;
  if (!image.isFixed)
    multiplications *= restOfRows;
  return std::max(multiplications,
                  cyclesOfWeights(4 * taps * channels, target)) /
             leastGain -
         cyclesOfTranspose * moved;
}

// Cycles of one tile's transforms.
static double transformCycles(const FilteredConvolution &conv,
                              const TransformCost &cost, TargetAttr target) {
  auto vectors = [&](unsigned loop) {
    return llvm::divideCeil(conv.extent(loop), target.getVectorBits() / 32);
  };
  bool isLine = conv.isInOneDirection();
  return (conv.groups(cost.tile) * vectors(conv.input) *
              (isLine ? cost.inputOfLine : cost.input) +
          vectors(conv.output) * (isLine ? cost.outputOfLine : cost.output)) /
         target.getFmaPerCycle();
}

WinogradAttr chooseWinograd(const FilteredConvolution &conv,
                            TargetAttr target) {
  if (!target || target.getVectorBits() < 128)
    return {};
  double lanes = target.getVectorBits() / 32,
         perCycle = lanes * target.getFmaPerCycle();
  int64_t inputs = conv.extent(conv.input), outputs = conv.extent(conv.output);
  int64_t fewest = conv.isInOneDirection() ? fewestOfLine : fewestChannels;
  if (std::min(inputs, outputs) <
      std::max<int64_t>(fewest, target.getVectorBits() / 32))
    return {};
  auto isFar = [&](const FilteredDirection &direction) {
    return ShapedType::isDynamic(direction.extent) &&
           direction.dilation > (conv.isLine() ? mostOfLine : mostDilation);
  };
  if (isFar(conv.rows) || isFar(conv.columns))
    return {};
  Image large = imageOf(conv, [&](unsigned) { return usualExtentOf(conv); });
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
  for (const TransformCost &transforms : transformCosts) {
    int64_t tile = transforms.tile;
    if (conv.groups(tile) > mostGroups ||
        conv.points(tile) * conv.groups(tile) >
            mostGrowth * conv.rows.taps * conv.columns.taps)
      continue;
    double cost = costOf([&](Image image) {
      double tiles = conv.rows.tiles(image.rows, tile) *
                     conv.columns.tiles(image.columns, tile);
      return chooseBlocks(conv, image, tile, perCycle, target).cycles +
             tiles * transformCycles(conv, transforms, target);
    });
    if (cost >= best)
      continue;
    best = cost;
    int64_t block = chooseBlocks(conv, large, tile, perCycle, target).tileRows;
    int64_t inRow = large.isFixed ? conv.columns.tiles(large.columns, tile) : 1;
    ContractionAttr product = scheduleOf(
        {conv.points(tile), conv.terms(tile), outputs}, block * inRow, target);
    // Whole register tiles in all blocks but the last one.
    if (!large.isFixed && block > product.getRows())
      block -= block % product.getRows();
    schedule =
        WinogradAttr::get(target.getContext(), tile, block, conv.rows.stride,
                          conv.columns.stride, product);
  }
  return schedule;
}

bool isFiltered(linalg::GenericOp root, TargetAttr target) {
  auto module = root->getParentOfType<ModuleOp>();
  FailureOr<FilteredConvolution> conv = matchFilteredConvolution(root);
  return succeeded(conv) && !isStrict(module) && !isSmall(module) &&
         constantBehind(conv->filter->get()) && chooseWinograd(*conv, target);
}

} // namespace onnxc
