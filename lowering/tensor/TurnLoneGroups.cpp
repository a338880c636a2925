// Convolutions of small groups whose image is NCHW before and behind them. With
// channels last, a vector is of several groups, and image and result are moved.
// Along rows the maps of a group are what a tile shares its image with.
#include "lowering/Passes.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/Contraction.h"
#include "lowering/tensor/ChannelsFirst.h"
#include "lowering/tensor/Windowing.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_TURNLONEGROUPS
#include "lowering/Passes.h.inc"

namespace {

// A result of (n, image..., map) that sums channels of each map's group.
struct GroupedConvolution {
  linalg::GenericOp root;
  OpOperand *image, *weights;
  GroupIndex index; // of the image's channel
  int64_t groups;
  AffineMap imageMap, outputMap, weightsMap;
};

// Whether the image, before it is padded, has so many channels, all of them.
bool hasChannels(Value image, int64_t channels) {
  auto pad = image.getDefiningOp<tensor::PadOp>();
  auto type =
      cast<RankedTensorType>(pad ? pad.getSource().getType() : image.getType());
  return type.getShape().back() == channels &&
         (!pad || (isConstantIntValue(pad.getMixedLowPad().back(), 0) &&
                   isConstantIntValue(pad.getMixedHighPad().back(), 0)));
}

std::optional<GroupedConvolution> matchGrouped(linalg::GenericOp root) {
  AffineMap output = root.getIndexingMapsArray().back();
  if (root.getNumDpsInputs() != 2 || output.getNumResults() < 3 ||
      !output.isProjectedPermutation() || failed(inferLoopRoles(root)))
    return std::nullopt;
  for (OpOperand *input : root.getDpsInputOperands()) {
    OpOperand *other = root.getDpsInputOperand(1 - input->getOperandNumber());
    AffineMap image = root.getMatchingIndexingMap(input),
              weights = root.getMatchingIndexingMap(other);
    std::optional<GroupIndex> index =
        image.getNumResults() == output.getNumResults()
            ? groupIndex(image.getResults().back())
            : std::nullopt;
    if (!index || !index->within || !weights.isProjectedPermutation() ||
        !weights.isFunctionOfDim(index->lane) ||
        output.getDimPosition(output.getNumResults() - 1) != index->lane)
      continue;
    int64_t maps = root.getStaticLoopRanges()[index->lane],
            groups = maps / index->maps;
    if (ShapedType::isDynamic(maps) ||
        !hasChannels(input->get(), groups * index->channels))
      continue;
    return GroupedConvolution{root,   input, other,  *index,
                              groups, image, output, weights};
  }
  return std::nullopt;
}

// Compares cycles for an image, of known size, that windows slide over by one.
bool isFasterInRows(const GroupedConvolution &op, TargetAttr target) {
  linalg::GenericOp root = op.root;
  SmallVector<int64_t> ranges = root.getStaticLoopRanges();
  ArrayRef<AffineExpr> image = op.imageMap.getResults();
  double sums = 1, rows = 1, pixels = 1;
  for (auto [range, kind] :
       llvm::zip_equal(ranges, root.getIteratorTypesArray()))
    if (linalg::isReductionIterator(kind))
      sums *= ShapedType::isDynamic(range) ? 0 : range;
  unsigned along = 0;
  for (unsigned i = 1; i + 1 < image.size(); ++i) {
    along = op.outputMap.getDimPosition(i);
    if (ShapedType::isDynamic(ranges[along]))
      return false;
    rows *= std::exchange(pixels, ranges[along]);
  }
  if (sums == 0 || coefficient(image.drop_back().back(), along) != 1)
    return false;
  double lanes = target.getVectorBits() / 32,
         perCycle = std::max<int64_t>(target.getFmaPerCycle(), 1),
         maps = op.groups * op.index.maps,
         channels = op.groups * op.index.channels,
         vectors = std::ceil(pixels / lanes),
         rest = vectors * lanes > pixels ? maskedStore : 0,
         moved = rows * pixels * (maps + channels);
  double inRows = maps * rows * (sums * vectors / perCycle + rest),
         inChannels =
             std::ceil(maps / lanes) * sums * rows * pixels / perCycle +
             cyclesOfTransposes(target, sizeof(float) * moved / 2) * moved;
  return inRows < inChannels;
}

// What is of (n, image..., channel) as (n, group, channel, image...).
template <typename T>
SmallVector<T> byGroups(ArrayRef<T> channelsLast, T group, T channel) {
  SmallVector<T> result = {channelsLast.front(), group, channel};
  llvm::append_range(result, channelsLast.drop_front().drop_back());
  return result;
}

// Each dimension by itself, but for two of them from `dim` on, which are one.
SmallVector<ReassociationIndices> pairAt(int64_t dim, int64_t rank) {
  SmallVector<ReassociationIndices> parts;
  for (int64_t i = 0; i < rank; ++i)
    if (i == dim + 1)
      parts.back().push_back(i);
    else
      parts.push_back({i});
  return parts;
}

// The dimension of channels as groups of them.
Value grouped(ImplicitLocOpBuilder &b, Value value, int64_t dim,
              int64_t groups) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= groups;
  shape.insert(shape.begin() + dim, groups);
  return tensor::ExpandShapeOp::create(b, type.clone(shape), value,
                                       pairAt(dim, shape.size()));
}

// Padded as it was.
Value imageByGroups(ImplicitLocOpBuilder &b, const GroupedConvolution &op) {
  Value image = op.image->get();
  auto pad = image.getDefiningOp<tensor::PadOp>();
  Value source = pad ? pad.getSource() : image,
        result = grouped(b, toChannelsFirst(b, source), 1, op.groups);
  if (!pad)
    return result;
  auto borders = [&](ArrayRef<OpFoldResult> sizes) {
    return byGroups<OpFoldResult>(sizes, b.getIndexAttr(0), sizes.back());
  };
  return tensor::PadOp::create(b, Type(), result, borders(pad.getMixedLowPad()),
                               borders(pad.getMixedHighPad()),
                               pad.getConstantPaddingValue());
}

// The loop over all maps becomes one over groups, and there is another one over
// the maps of a group.
SmallVector<AffineMap> mapsByGroups(const GroupedConvolution &op) {
  MLIRContext *context = op.imageMap.getContext();
  unsigned loops = op.imageMap.getNumDims();
  AffineExpr group = getAffineDimExpr(op.index.lane, context),
             channel = getAffineDimExpr(*op.index.within, context),
             map = getAffineDimExpr(loops, context);
  SmallVector<AffineExpr> weights(op.weightsMap.getResults());
  weights.insert(llvm::find(weights, group) + 1, map);
  SmallVector<AffineMap> maps(3);
  auto set = [&](unsigned operand, ArrayRef<AffineExpr> results) {
    maps[operand] = AffineMap::get(loops + 1, 0, results, context);
  };
  set(op.image->getOperandNumber(),
      byGroups(op.imageMap.getResults(), group, channel));
  set(op.weights->getOperandNumber(), weights);
  set(2, byGroups(op.outputMap.getResults(), group, map));
  return maps;
}

void runByGroups(const GroupedConvolution &op) {
  linalg::GenericOp root = op.root;
  ImplicitLocOpBuilder b(root.getLoc(), root);
  auto fill = root.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  SmallVector<OpFoldResult> sizes = byGroups<OpFoldResult>(
      tensor::getMixedSizes(b, b.getLoc(), fill.getOutputs()[0]),
      b.getIndexAttr(op.groups), b.getIndexAttr(op.index.maps));
  Value empty = tensor::EmptyOp::create(
      b, sizes, getElementTypeOrSelf(root.getResult(0)));
  Value start = linalg::FillOp::create(b, fill.getInputs(), empty).getResult(0);
  unsigned mapDim = *op.weightsMap.getResultPosition(
      getAffineDimExpr(op.index.lane, b.getContext()));
  SmallVector<Value> inputs(2);
  inputs[op.image->getOperandNumber()] = imageByGroups(b, op);
  inputs[op.weights->getOperandNumber()] =
      grouped(b, op.weights->get(), mapDim, op.groups);
  SmallVector<utils::IteratorType> kinds = root.getIteratorTypesArray();
  kinds.push_back(utils::IteratorType::parallel);
  auto turned = linalg::GenericOp::create(b, start.getType(), inputs, start,
                                          mapsByGroups(op), kinds);
  turned.getRegion().takeBody(root.getRegion());
  Value joined = tensor::CollapseShapeOp::create(b, turned.getResult(0),
                                                 pairAt(1, sizes.size()));
  root->replaceAllUsesWith(ValueRange(toChannelsLast(b, joined)));
  root.erase();
}

struct TurnLoneGroups : impl::TurnLoneGroupsBase<TurnLoneGroups> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    // Narrower machines pay for each lane of a masked access.
    if (!target || target.getVectorBits() < 256)
      return;
    SmallVector<GroupedConvolution> lone;
    getOperation().walk([&](linalg::GenericOp root) {
      std::optional<GroupedConvolution> found = matchGrouped(root);
      if (found && getElementTypeOrSelf(found->image->get()).isF32() &&
          root.getOutputs()[0].getDefiningOp<linalg::FillOp>() &&
          comesChannelsFirst(found->image->get()) &&
          goesChannelsFirst(root.getResult(0)) &&
          isFasterInRows(*found, target))
        lone.push_back(*found);
    });
    for (const GroupedConvolution &op : lone)
      runByGroups(op);
  }
};

} // namespace
} // namespace onnxc
