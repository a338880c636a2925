// Pools and depthwise convolutions of an image that is NCHW before and behind
// them: a model of few operations, or its first and last ones. Two transposes
// would cost more than what is between them. Each channel is an image of its
// own, so that vectors lie as well along its rows.
#include "lowering/Passes.h"
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

// Whether several rows of a channel become one tile, as in pools that move by
// one. Lanes at the ends of rows of unknown length are told from what is beside
// the image by the run, which takes too long for a single row.
bool sharesRows(linalg::GenericOp root, double moved) {
  return moved == 1 && readsImageOnly(root);
}

// Compares cycles for a row of a channel's result. Along a row each sum waits
// for the one before, unless several rows are one tile, or for its loads, two
// where elements are two apart. Channels last, every element of image and
// result is moved once.
bool isFasterInRows(linalg::GenericOp root, OpOperand *image,
                    TargetAttr target) {
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  ArrayRef<AffineExpr> output = root.getIndexingMapsArray().back().getResults();
  AffineMap map = root.getMatchingIndexingMap(image);
  double read = 1, step = 1, pixels = 1;
  bool isKnown = true;
  for (int64_t i = 1, last = output.size() - 2; i <= last; ++i) {
    unsigned loop = cast<AffineDimExpr>(output[i]).getPosition();
    step = coefficient(map.getResult(i), loop);
    read *= step;
    isKnown = !ShapedType::isDynamic(extents[loop]);
    pixels = isKnown ? extents[loop] : usualRow;
  }
  double taps = 1;
  for (unsigned loop = 0; loop < extents.size(); ++loop)
    if (linalg::isReductionIterator(root.getIteratorTypesArray()[loop]))
      taps *= ShapedType::isDynamic(extents[loop]) ? 0 : extents[loop];
  bool isShared = sharesRows(root, read);
  if ((!isKnown && !isShared) || taps == 0 || (step != 1 && step != 2))
    return false;
  constexpr double half = lineBytes / 8.; // of a line, in elements
  double lanes = target.getVectorBits() / 32;
  bool hasWeights = !readsImageOnly(root), areHalves = lanes <= half,
       byHalves = hasWeights &&
                  (areHalves || joinsHalves(lanes, target.getFmaPerCycle()));
  double vectors = std::ceil(pixels / (byHalves ? half : lanes));
  double inRows = (byHalves ? slackOfHalves : slack) * taps *
                  std::max(isShared ? 1 : latency, vectors * (1 + step) / 2);
  double tap = hasWeights && areHalves ? tapOfHalves : tapOfChannels;
  double inChannels =
      cyclesOfTranspose * pixels * (read + 1) + taps * pixels / lanes * tap;
  return inRows < inChannels;
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
