// Pools and depthwise convolutions of an image that is NCHW before and behind
// them: a model of few operations, or its first and last ones. Two transposes
// would cost more than what is between them. Each channel is an image of its
// own, so that vectors lie as well along its rows.
#include "lowering/Passes.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/Contraction.h"
#include "lowering/tensor/ChannelsFirst.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_TURNLONEWINDOWS
#include "lowering/Passes.h.inc"

namespace {

// Cycles until a sum can be added to, and for a tap of a vector of channels, or
// of half a line of them with weights; how much longer than counted rows take,
// and such of weights by half lines, few of which lie in two.
constexpr double latency = 4, tapOfChannels = 0.75, tapOfHalves = 0.5,
                 slack = 1.4, slackOfHalves = 0.85;
// With weights of few taps, sums of neighbouring rows are under way at once; of
// many, nearly all vectors lie in two lines.
constexpr double fewTaps = 9, latencyOfFew = 2.5, slackOfMany = 2;
// Cycles for a vector of a row that is a tile with others, and for a tap of it
// with a weight; the same of half a line.
constexpr double shared = 4, tapOfShared = 0.85, sharedHalf = 2,
                 tapOfSharedHalf = 0.6;

// The image of `root`, if windows of each channel slide over it.
OpOperand *imageOf(linalg::GenericOp root) {
  AffineMap output = root.getIndexingMapsArray().back();
  if (root.getNumDpsInputs() != 2 || failed(inferLoopRoles(root)) ||
      output.getNumResults() < 3)
    return nullptr;
  AffineExpr channel = output.getResults().back();
  for (OpOperand *input : root.getDpsInputOperands()) {
    AffineMap map = root.getMatchingIndexingMap(input);
    if (map.getNumResults() == output.getNumResults() &&
        map.getResults().back() == channel)
      return input;
  }
  return nullptr;
}

bool readsImageOnly(linalg::GenericOp root) {
  auto isRead = [&](OpOperand *input) {
    return root.payloadUsesValueFromOperand(input);
  };
  return llvm::count_if(root.getDpsInputOperands(), isRead) == 1;
}

// A row of a channel's result, and how windows pass it.
struct Row {
  double pixels = 1, taps = 1;
  double step = 1, read = 1; // elements of a row, and of the image, for a pixel
  double count = 1;          // of all rows whose number is known
  bool isKnown = true;       // how long it is
  bool slidesDown = false;   // a plane, with others in one tile
};

Row rowOf(linalg::GenericOp root, OpOperand *image) {
  Row row;
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  ArrayRef<AffineExpr> output = root.getIndexingMapsArray().back().getResults();
  AffineMap map = root.getMatchingIndexingMap(image);
  unsigned along = 0;
  for (int64_t i = 1, last = output.size() - 2; i <= last; ++i) {
    along = cast<AffineDimExpr>(output[i]).getPosition();
    row.step = coefficient(map.getResult(i), along);
    row.read *= row.step;
    row.isKnown = !ShapedType::isDynamic(extents[along]);
    row.pixels = row.isKnown ? extents[along] : usualRow;
  }
  auto isDown = [&](unsigned tap) {
    ArrayRef<AffineExpr> dims = map.getResults();
    return llvm::any_of(dims.slice(1, dims.size() - 3), [&](AffineExpr index) {
      return index.isFunctionOfDim(tap);
    });
  };
  for (auto [loop, extent] : llvm::enumerate(extents)) {
    bool isDynamic = ShapedType::isDynamic(extent);
    if (linalg::isReductionIterator(root.getIteratorTypesArray()[loop])) {
      row.taps *= isDynamic ? 0 : extent;
      row.slidesDown |= extent >= leastTapsDown && isDown(loop);
    } else if (loop != along && !isDynamic) {
      row.count *= extent;
    }
  }
  row.slidesDown &=
      areWorthSharing(row.taps, row.pixels, row.count * row.pixels) &&
      !isStrict(root->getParentOfType<ModuleOp>());
  return row;
}

// Whether several rows of a channel become one tile, as where windows move by
// one. Lanes at the ends of rows of unknown length are told from what is beside
// the image by the run, which takes too long for a single row, and for weights.
bool sharesRows(const Row &row, bool hasWeights) {
  return row.read == 1 && (!hasWeights || (row.isKnown && row.slidesDown));
}

// Cycles for a row. Along it each sum waits for the one before, unless several
// rows are one tile, or for its loads, two where elements are two apart.
double cyclesInRows(const Row &row, bool hasWeights, TargetAttr target) {
  constexpr double half = lineBytes / 8.; // of a line, in elements
  double lanes = target.getVectorBits() / 32;
  bool isShared = sharesRows(row, hasWeights);
  if (isShared && hasWeights) {
    double vectors = std::ceil(row.pixels / lanes);
    return lanes <= half ? vectors * (sharedHalf + tapOfSharedHalf * row.taps)
                         : vectors * (shared + tapOfShared * row.taps);
  }
  bool byHalves = hasWeights && (lanes <= half ||
                                 joinsHalves(lanes, target.getFmaPerCycle()));
  double vectors = std::ceil(row.pixels / (byHalves ? half : lanes)),
         waiting = isShared ? 1 : latency, longer = slack;
  if (byHalves) {
    longer = slackOfHalves;
  } else if (hasWeights) {
    bool areFew = row.taps <= fewTaps;
    waiting = areFew ? latencyOfFew : latency;
    longer = areFew ? slack : slackOfMany;
  }
  return longer * row.taps * std::max(waiting, vectors * (1 + row.step) / 2);
}

// Channels last, every element of image and result is moved once.
double cyclesInChannels(const Row &row, bool hasWeights, TargetAttr target) {
  double lanes = target.getVectorBits() / 32;
  bool areHalves = 8 * lanes <= lineBytes;
  double tap = hasWeights && areHalves ? tapOfHalves : tapOfChannels,
         moved = row.pixels * (row.read + 1),
         bytes = sizeof(float) * row.count * moved / 2;
  return cyclesOfTransposes(target, bytes) * moved +
         row.taps * row.pixels / lanes * tap;
}

bool isFasterInRows(linalg::GenericOp root, OpOperand *image,
                    TargetAttr target) {
  Row row = rowOf(root, image);
  bool hasWeights = !readsImageOnly(root);
  if ((!row.isKnown && !sharesRows(row, hasWeights)) || row.taps == 0 ||
      (row.step != 1 && row.step != 2))
    return false;
  return cyclesInRows(row, hasWeights, target) <
         cyclesInChannels(row, hasWeights, target);
}

struct TurnLoneWindows : impl::TurnLoneWindowsBase<TurnLoneWindows> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    // Narrower machines pay for each lane of a masked access.
    if (!target || target.getVectorBits() < 256)
      return;
    SmallVector<std::pair<linalg::GenericOp, OpOperand *>> windows;
    getOperation().walk([&](linalg::GenericOp root) {
      OpOperand *image = root.getNumReductionLoops() ? imageOf(root) : nullptr;
      if (image && getElementTypeOrSelf(image->get()).isF32() &&
          root.getOutputs()[0].getDefiningOp<linalg::FillOp>() &&
          comesChannelsFirst(image->get()) &&
          goesChannelsFirst(root.getResult(0)) &&
          isFasterInRows(root, image, target))
        windows.push_back({root, image});
    });
    for (auto [root, image] : windows)
      runChannelsFirst(root, image);
  }
};

} // namespace
} // namespace onnxc
