// Winograd's filtering is for windows in two dimensions. In three dimensions a
// window of 1x3x3 slides over frames that do not meet, so they are images of a
// larger batch; of kx3x3, over the channels of k frames side by side. One of
// kx1x1 slides over images whose columns are the pixels of a frame.
#include "dialects/onnx/Constants.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/Passes.h"
#include "lowering/loops/IndexMath.h"
#include "lowering/loops/Winograd.h"
#include "lowering/tensor/PermuteConstant.h"
#include "lowering/tensor/Transposed.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_FOLDFRAMES
#include "lowering/Passes.h.inc"

namespace {

using Maps = SmallVector<AffineMap>;

// Of a convolution whose result is NDHWC: batch, frame, row, column, map, the
// window's frame, row and column, channel.
enum Loop { N, D, H, W, M, KD, KH, KW, C, loopCount };

// Elements in front of a dimension and behind it.
using ZerosBeside = std::pair<OpFoldResult, OpFoldResult>;

struct FrameConvolution {
  linalg::GenericOp root;
  OpOperand *image, *filter;
  ElementsAttr weights = {};      // [M, C, KD, KH, KW]
  mutable tensor::PadOp pad = {}; // null where nothing is padded
  int64_t stride = 1, dilation = 1;
  SmallVector<int64_t> order = {0, 1, 2, 3, 4}; // NDHWC in the image
  int64_t taps(unsigned dim) const {
    return weights.getShapedType().getDimSize(2 + dim);
  }
  int64_t frames() const { return taps(0); }
  Value source(ImplicitLocOpBuilder &b) const {
    Value value = pad ? pad.getSource() : image->get();
    return llvm::is_sorted(order) ? value
                                  : transposed(b, b.getLoc(), value, order);
  }
  // Elements that are padded in front of a dimension of NDHWC and behind it.
  ZerosBeside padding(unsigned dim) const {
    if (!pad)
      return {};
    return {pad.getMixedLowPad()[order[dim]],
            pad.getMixedHighPad()[order[dim]]};
  }
  bool isPadded(unsigned dim) const {
    return pad && pad.getPaddedDims().test(order[dim]);
  }
};

bool isPaddedWithKnownZeros(tensor::PadOp pad) {
  Value constant = pad.getConstantPaddingValue();
  return constant && matchPattern(constant, m_AnyZeroFloat()) &&
         !ShapedType::isDynamicShape(pad.getStaticLow()) &&
         !ShapedType::isDynamicShape(pad.getStaticHigh());
}

FailureOr<FrameConvolution> match(linalg::GenericOp root) {
  FrameConvolution conv{root, root.getDpsInputOperand(0),
                        root.getDpsInputOperand(1)};
  conv.weights = constantOf(conv.filter->get());
  conv.pad = conv.image->get().getDefiningOp<tensor::PadOp>();
  if (!conv.weights || conv.weights.isSplat() ||
      !conv.weights.getElementType().isF32() ||
      !getElementTypeOrSelf(conv.image->get()).isF32() ||
      conv.weights.getShapedType().getRank() != 5 ||
      (conv.pad && !isPaddedWithKnownZeros(conv.pad)))
    return failure();
  MLIRContext *context = root.getContext();
  auto dim = [&](unsigned loop) { return getAffineDimExpr(loop, context); };
  Maps maps = root.getIndexingMapsArray();
  if (maps[0].getNumResults() != 5)
    return failure();
  if (maps[0].getResult(1) == dim(C))
    conv.order = {0, 2, 3, 4, 1};
  AffineExpr frame = maps[0].getResult(conv.order[1]);
  conv.stride = coefficient(frame, D);
  conv.dilation = coefficient(frame, KD);
  auto mapOf = [&](ArrayRef<AffineExpr> indices) {
    return AffineMap::get(loopCount, 0, indices, context);
  };
  SmallVector<AffineExpr> window = {
      dim(N), dim(D) * conv.stride + dim(KD) * conv.dilation, dim(H) + dim(KH),
      dim(W) + dim(KW), dim(C)};
  Maps expected = {
      mapOf(applyPermutation(window, invertPermutationVector(conv.order))),
      mapOf({dim(M), dim(C), dim(KD), dim(KH), dim(KW)}),
      mapOf({dim(N), dim(D), dim(H), dim(W), dim(M)})};
  if (maps != expected || conv.isPadded(0) || conv.isPadded(4))
    return failure();
  return conv;
}

Value paddedWithZeros(ImplicitLocOpBuilder &b, Value value,
                      ArrayRef<ZerosBeside> padding) {
  SmallVector<OpFoldResult> low, high;
  bool any = false;
  for (auto [before, behind] : padding) {
    low.push_back(before ? before : number(b, 0));
    high.push_back(behind ? behind : number(b, 0));
    any |= !isConstantIntValue(low.back(), 0) ||
           !isConstantIntValue(high.back(), 0);
  }
  if (!any)
    return value;
  Value zero =
      arith::ConstantOp::create(b, b.getZeroAttr(getElementTypeOrSelf(value)));
  return tensor::PadOp::create(b, Type(), value, low, high, zero);
}

// The frames that each window slides over, their channels side by side.
Value framesOfWindows(ImplicitLocOpBuilder &b, const FrameConvolution &conv) {
  Value source =
      paddedWithZeros(b, conv.source(b), {{}, conv.padding(1), {}, {}, {}});
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), source);
  linalg::GenericOp root = conv.root;
  sizes[1] = tensor::getMixedSize(b, b.getLoc(), root.getDpsInits()[0], 1);
  sizes.insert(sizes.begin() + 4, b.getIndexAttr(conv.frames()));
  auto dim = [&](unsigned at) { return b.getAffineDimExpr(at); };
  AffineExpr frame = dim(1) * conv.stride + dim(4) * conv.dilation;
  SmallVector<AffineMap> maps = {
      AffineMap::get(6, 0, {dim(0), frame, dim(2), dim(3), dim(5)},
                     b.getContext()),
      b.getMultiDimIdentityMap(6)};
  Value empty = tensor::EmptyOp::create(b, sizes, getElementTypeOrSelf(source));
  SmallVector<utils::IteratorType> loops(6, utils::IteratorType::parallel);
  auto body = [](OpBuilder &inside, Location loc, ValueRange elements) {
    linalg::YieldOp::create(inside, loc, elements.front());
  };
  return linalg::GenericOp::create(b, empty.getType(), source, empty, maps,
                                   loops, body)
      .getResult(0);
}

// [N * D, H, W, KD * C], padded along H and W.
Value imageOf(ImplicitLocOpBuilder &b, const FrameConvolution &conv) {
  bool isSingle = conv.frames() == 1 && conv.stride == 1 && !conv.isPadded(1);
  SmallVector<ReassociationIndices> joined = {{0, 1}, {2}, {3}, {4}};
  if (!isSingle)
    joined.back().push_back(5);
  Value frames = isSingle ? conv.source(b) : framesOfWindows(b, conv);
  Value images = tensor::CollapseShapeOp::create(b, frames, joined);
  return paddedWithZeros(b, images, {{}, conv.padding(2), conv.padding(3), {}});
}

// [M, KD * C, KH, KW]
Value filterOf(ImplicitLocOpBuilder &b, const FrameConvolution &conv) {
  ElementsAttr turned = permuteConstant(conv.weights, {0, 2, 1, 3, 4});
  ArrayRef<int64_t> shape = turned.getShapedType().getShape();
  auto type = RankedTensorType::get(
      {shape[0], shape[1] * shape[2], shape[3], shape[4]}, b.getF32Type());
  return arith::ConstantOp::create(b, retype(turned, type));
}

// [M, C, KD, 1]
Value filterOfPixels(ImplicitLocOpBuilder &b, const FrameConvolution &conv) {
  ShapedType type = conv.weights.getShapedType();
  return arith::ConstantOp::create(
      b, retype(conv.weights, RankedTensorType::get(type.getShape().drop_back(),
                                                    type.getElementType())));
}

// [N, Hi, Wi, C] by `filter` to [N, H, W, M], summed as `root` does and on top
// of `start`; taps of rows lie `dilation` apart. Null, with nothing left that
// is used, where Winograd's filtering is not for it.
linalg::GenericOp filteredConvolution(ImplicitLocOpBuilder &b,
                                      linalg::GenericOp root, Value image,
                                      Value filter, Value start,
                                      int64_t dilation) {
  enum Loop { N, H, W, M, KH, KW, C, loopCount };
  auto dim = [&](unsigned loop) { return b.getAffineDimExpr(loop); };
  auto mapOf = [&](ArrayRef<AffineExpr> indices) {
    return AffineMap::get(loopCount, 0, indices, b.getContext());
  };
  Maps maps = {
      mapOf({dim(N), dim(H) + dim(KH) * dilation, dim(W) + dim(KW), dim(C)}),
      mapOf({dim(M), dim(C), dim(KH), dim(KW)}),
      mapOf({dim(N), dim(H), dim(W), dim(M)})};
  SmallVector<utils::IteratorType> loops(loopCount,
                                         utils::IteratorType::parallel);
  for (unsigned loop : {KH, KW, C})
    loops[loop] = utils::IteratorType::reduction;
  auto made = linalg::GenericOp::create(
      b, start.getType(), ValueRange{image, filter}, start, maps, loops);
  IRMapping mapping;
  root.getRegion().cloneInto(&made.getRegion(), mapping);
  FailureOr<FilteredConvolution> conv = matchFilteredConvolution(made);
  auto target = root->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>(
      targetAttrName);
  if (succeeded(conv) && chooseWinograd(*conv, target))
    return made;
  made.erase();
  return {};
}

void fold(linalg::GenericOp root) {
  FailureOr<FrameConvolution> conv = match(root);
  if (failed(conv))
    return;
  bool isOfPixels = conv->taps(1) == 1 && conv->taps(2) == 1;
  if (isOfPixels &&
      (conv->stride != 1 || conv->isPadded(2) || conv->isPadded(3)))
    return;
  ImplicitLocOpBuilder b(root.getLoc(), root);
  SmallVector<ReassociationIndices> joined = {{0, 1}, {2}, {3}, {4}};
  if (isOfPixels)
    joined = {{0}, {1}, {2, 3}, {4}};
  Value init = root.getDpsInits()[0],
        start = tensor::CollapseShapeOp::create(b, init, joined), image, filter;
  if (isOfPixels) {
    image = tensor::CollapseShapeOp::create(b, conv->source(b), joined);
    image = paddedWithZeros(b, image, {{}, conv->padding(1), {}, {}});
    filter = filterOfPixels(b, *conv);
  } else {
    image = imageOf(b, *conv);
    filter = filterOf(b, *conv);
  }
  linalg::GenericOp images = filteredConvolution(
      b, root, image, filter, start, isOfPixels ? conv->dilation : 1);
  if (!images)
    return;
  root.replaceAllUsesWith(ValueRange{tensor::ExpandShapeOp::create(
      b, init.getType(), images.getResult(0), joined,
      tensor::getMixedSizes(b, b.getLoc(), init))});
  root.erase();
}

struct FoldFrames : impl::FoldFramesBase<FoldFrames> {
  void runOnOperation() override {
    if (isStrict(getOperation()) || isSmall(getOperation()))
      return;
    SmallVector<linalg::GenericOp> roots;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.getNumLoops() == loopCount && op.getNumReductionLoops() > 1 &&
          op.getNumDpsInputs() == 2 && op.getNumDpsInits() == 1)
        roots.push_back(op);
    });
    llvm::for_each(roots, fold);
  }
};

} // namespace
} // namespace onnxc
