// Convolutions to a few channels. In NHWC most lanes of a vector of output
// channels would stay empty; along the rows of an image all are used. So the
// image is brought to NCHW, which costs one move per element, and the
// convolution's vectors lie along its innermost loop over pixels.
#include "lowering/Passes.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/RegisterTile.h"
#include "lowering/tensor/ChannelsFirst.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_TURNNARROWCONVOLUTIONS
#include "lowering/Passes.h.inc"

namespace {

// Cycles to move an element of the image or of the result.
constexpr double move = 0.5;
// The time that has to be left of what it was, and of that with vectors along
// the sum.
constexpr double worthwhile = 0.7, worthwhileOfSums = 0.85;

// The image of a convolution with channels last whose windows move by one along
// the rows; null if `root` is none.
OpOperand *slidingImage(linalg::GenericOp root) {
  AffineMap output = root.getIndexingMapsArray().back();
  OpOperand *image = imageOf(root, output.getNumResults() - 1);
  if (!image)
    return nullptr;
  auto beforeLast = [](AffineMap map) {
    return map.getResults().drop_back().back();
  };
  unsigned pixel = cast<AffineDimExpr>(beforeLast(output)).getPosition();
  AffineExpr along = beforeLast(root.getMatchingIndexingMap(image));
  bool slides = coefficient(along, pixel) == 1 && !isa<AffineDimExpr>(along);
  return slides ? image : nullptr;
}

// Compares cycles per pixel: multiply-adds of vectors, of which two are done at
// once, and in NCHW the moves of the image and of the result. Where vectors may
// lie along the sum, so that they need no columns, pixels have to be known.
bool isFasterInRows(linalg::GenericOp root, OpOperand *image,
                    TargetAttr target) {
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  AffineMap output = root.getIndexingMapsArray().back();
  auto extent = [&](AffineExpr loop) {
    return extents[cast<AffineDimExpr>(loop).getPosition()];
  };
  int64_t outputs = extent(output.getResults().back());
  int64_t pixels = extent(output.getResults().drop_back().back());
  int64_t inputs =
      extent(root.getMatchingIndexingMap(image).getResults().back());
  double sums = 1;
  for (auto [size, kind] : llvm::zip(extents, root.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction) {
      if (ShapedType::isDynamic(size))
        return false;
      sums *= size;
    }
  double lanes =
      target.getVectorBits() /
      getElementTypeOrSelf(root.getResult(0)).getIntOrFloatBitWidth();
  if (ShapedType::isDynamic(outputs) || outputs >= lanes)
    return false;
  double used = ShapedType::isDynamic(pixels)
                    ? 1
                    : pixels / (std::ceil(pixels / lanes) * lanes);
  double both = std::max<int64_t>(target.getFmaPerCycle(), 1);
  double inRows =
      outputs * sums / (lanes * used * both) + move * (inputs + outputs);
  if (chooseAlongSum(root, *inferLoopRoles(root), target)) {
    double steps = sums / inputs * std::ceil(inputs / lanes);
    return !ShapedType::isDynamic(pixels) &&
           inRows < worthwhileOfSums * outputs * (steps / both + foldOfLanes);
  }
  // Vectors of one channel are gathered along the rows instead.
  double inChannels = outputs == 1 ? sums : sums / both;
  return inRows < worthwhile * inChannels;
}

struct TurnNarrowConvolutions
    : impl::TurnNarrowConvolutionsBase<TurnNarrowConvolutions> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    if (!target || target.getVectorBits() == 0)
      return;
    SmallVector<std::pair<linalg::GenericOp, OpOperand *>> narrow;
    getOperation().walk([&](linalg::GenericOp root) {
      OpOperand *image = slidingImage(root);
      if (image && root.getOutputs()[0].getDefiningOp<linalg::FillOp>() &&
          isFasterInRows(root, image, target))
        narrow.push_back({root, image});
    });
    for (auto [root, image] : narrow)
      runChannelsFirst(root, image);
  }
};

} // namespace
} // namespace onnxc
