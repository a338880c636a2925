// Convolutions of an image that is NCHW before and behind them: a model of few
// operations, or a branch of one. With channels last they read it as it is, but
// their result has to be moved. So vectors lie along its rows where that takes
// less time.
#include "lowering/Passes.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/Contraction.h"
#include "lowering/loops/Winograd.h"
#include "lowering/tensor/ChannelsFirst.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_TURNLONECONVOLUTIONS
#include "lowering/Passes.h.inc"

namespace {

// The time that has to be left of what it was.
constexpr double worthwhile = 0.97;
// Cycles to copy an element of a panel whose elements lie apart.
constexpr double copyApart = 1;

// The image of a convolution that reads it in NCHW; null if `root` is none.
OpOperand *imageInRows(linalg::GenericOp root) {
  OpOperand *image = imageOf(root, 1);
  if (!image)
    return nullptr;
  ArrayRef<AffineExpr> output = root.getIndexingMapsArray().back().getResults();
  unsigned column =
      cast<AffineDimExpr>(output.drop_back().back()).getPosition();
  AffineExpr along = root.getMatchingIndexingMap(image).getResults().back();
  return along.isFunctionOfDim(column) ? image : nullptr;
}

struct Extents {
  double sums = 1, rows = 1, pixels = 1, channels = 1; // pixels of a row
  bool slides = false;                                 // a window over them
  bool leaps = false;                                  // along a row
  double outputs() const { return rows * pixels * channels; }
};

// Nothing where one is not known. Pixels that no window slides over are one
// row.
std::optional<Extents> extentsOf(linalg::GenericOp root, OpOperand *image) {
  SmallVector<int64_t> ranges = root.getStaticLoopRanges();
  ArrayRef<AffineExpr> output = root.getIndexingMapsArray().back().getResults();
  AffineMap map = withoutUnitLoops(root, root.getMatchingIndexingMap(image));
  Extents extents;
  extents.slides = image->get().getDefiningOp<tensor::PadOp>() != nullptr;
  for (auto [loop, kind] : llvm::enumerate(root.getIteratorTypesArray())) {
    if (output[0] == getAffineDimExpr(loop, root.getContext()))
      continue;
    if (ShapedType::isDynamic(ranges[loop]))
      return std::nullopt;
    if (linalg::isReductionIterator(kind))
      extents.sums *= ranges[loop];
  }
  for (size_t i = 1; i < output.size(); ++i) {
    unsigned loop = cast<AffineDimExpr>(output[i]).getPosition();
    if (i + 1 == output.size()) {
      extents.channels = ranges[loop];
      continue;
    }
    extents.rows *= std::exchange(extents.pixels, ranges[loop]);
    extents.slides |= !isa<AffineDimExpr>(map.getResult(i + 1));
    if (i + 2 == output.size())
      extents.leaps = coefficient(map.getResult(i + 1), loop) != 1;
  }
  if (!extents.slides)
    extents.pixels *= std::exchange(extents.rows, 1);
  return extents;
}

// Whether elements of a row that lie apart are gathered once for all channels:
// there is one row, and a panel of it, of many columns, is worth a copy.
bool copiesPanels(const Extents &extents, TargetAttr target) {
  int64_t columns =
      target.getVectorBits() / 32 * target.getVectorRegisters() / 4;
  return extents.rows == 1 && extents.sums * columns <= mostCopied;
}

// Compares cycles for an image: multiply-adds of vectors, with channels last
// the moves of the result unless it is moved anyway, and along rows those of
// what lies apart.
bool isFasterInRows(linalg::GenericOp root, OpOperand *image, TargetAttr target,
                    bool isMoved) {
  std::optional<Extents> extents = extentsOf(root, image);
  // Narrower machines pay for each lane of a masked access.
  if (!extents || (extents->slides && target.getVectorBits() < 256) ||
      (extents->leaps && !copiesPanels(*extents, target)))
    return false;
  double lanes = target.getVectorBits() / 32,
         perCycle = std::max<int64_t>(target.getFmaPerCycle(), 1);
  double vectors = std::ceil(extents->pixels / lanes),
         rest = vectors * lanes > extents->pixels;
  double inRows = extents->channels * extents->rows *
                  (extents->sums * vectors / perCycle + rest * maskedStore);
  if (extents->leaps)
    inRows += copyApart * extents->sums * extents->pixels;
  double inChannels = std::ceil(extents->channels / lanes) * extents->sums *
                          extents->rows * extents->pixels / perCycle +
                      (isMoved ? 0 : cyclesOfTranspose * extents->outputs());
  return inRows < worthwhile * inChannels;
}

struct TurnLoneConvolutions
    : impl::TurnLoneConvolutionsBase<TurnLoneConvolutions> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    if (!target || target.getVectorBits() == 0)
      return;
    SmallVector<linalg::GenericOp> lone;
    getOperation().walk([&](linalg::GenericOp root) {
      OpOperand *image = imageInRows(root);
      if (!image || !getElementTypeOrSelf(image->get()).isF32() ||
          !root.getOutputs()[0].getDefiningOp<linalg::FillOp>() ||
          isFiltered(root, target))
        return;
      bool isMoved = goesToPhases(root.getResult(0));
      if ((isMoved || goesChannelsFirst(root.getResult(0))) &&
          isFasterInRows(root, image, target, isMoved))
        lone.push_back(root);
    });
    for (linalg::GenericOp root : lone)
      runChannelsFirst(root, nullptr);
  }
};

} // namespace
} // namespace onnxc
