// Winograd's filtering is for windows of 3x3. In three dimensions a window of
// 1x3x3 slides over frames that do not meet, so they are images of a larger
// batch; of kx3x3, over the channels of k frames side by side.
#include "dialects/onnx/Constants.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/Passes.h"
#include "lowering/loops/Winograd.h"
#include "lowering/tensor/PermuteConstant.h"
#include "lowering/tensor/Transposed.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
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

struct FrameConvolution {
  linalg::GenericOp root;
  OpOperand *image, *filter;
  ElementsAttr weights = {};      // [M, C, KD, 3, 3]
  mutable tensor::PadOp pad = {}; // null where nothing is padded
  int64_t stride = 1, dilation = 1;
  SmallVector<int64_t> order = {0, 1, 2, 3, 4}; // NDHWC in the image
  int64_t frames() const { return weights.getShapedType().getDimSize(2); }
  Value source(ImplicitLocOpBuilder &b) const {
    Value value = pad ? pad.getSource() : image->get();
    return llvm::is_sorted(order) ? value
                                  : transposed(b, b.getLoc(), value, order);
  }
  // Elements that are padded in front of a dimension of NDHWC and behind it.
  std::pair<int64_t, int64_t> padding(unsigned dim) const {
    if (!pad)
      return {0, 0};
    return {pad.getStaticLow()[order[dim]], pad.getStaticHigh()[order[dim]]};
  }
};

bool isPaddedWithKnownZeros(tensor::PadOp pad) {
  Value constant = pad.getConstantPaddingValue();
  return constant && matchPattern(constant, m_AnyZeroFloat()) &&
         !ShapedType::isDynamicShape(pad.getStaticLow()) &&
         !ShapedType::isDynamicShape(pad.getStaticHigh());
}

FailureOr<FrameConvolution> match(linalg::GenericOp root) {
  if (root.getNumLoops() != loopCount || root.getNumReductionLoops() != 4 ||
      root.getNumDpsInputs() != 2 || root.getNumDpsInits() != 1)
    return failure();
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
  if (maps != expected)
    return failure();
  return conv;
}

Value padded(ImplicitLocOpBuilder &b, Value value,
             ArrayRef<std::pair<int64_t, int64_t>> padding) {
  SmallVector<OpFoldResult> low, high;
  for (auto [before, behind] : padding) {
    low.push_back(b.getIndexAttr(before));
    high.push_back(b.getIndexAttr(behind));
  }
  if (llvm::all_of(padding, [](auto sides) {
        return sides == std::pair<int64_t, int64_t>(0, 0);
      }))
    return value;
  Value zero =
      arith::ConstantOp::create(b, b.getZeroAttr(getElementTypeOrSelf(value)));
  return tensor::PadOp::create(b, Type(), value, low, high, zero);
}

// The frames that each window slides over, their channels side by side.
Value framesOfWindows(ImplicitLocOpBuilder &b, const FrameConvolution &conv) {
  Value source = padded(b, conv.source(b), {{}, conv.padding(1), {}, {}, {}});
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), source);
  linalg::GenericOp root = conv.root;
  sizes[1] = tensor::getMixedSize(b, b.getLoc(), root.getDpsInits()[0], 1);
  sizes.insert(sizes.begin() + 4, b.getIndexAttr(conv.frames()));
  Value empty = tensor::EmptyOp::create(b, sizes, getElementTypeOrSelf(source));
  auto dim = [&](unsigned at) { return b.getAffineDimExpr(at); };
  AffineExpr frame = dim(1) * conv.stride + dim(4) * conv.dilation;
  Maps maps = {AffineMap::get(6, 0, {dim(0), frame, dim(2), dim(3), dim(5)},
                              b.getContext()),
               b.getMultiDimIdentityMap(6)};
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
  bool isSingle = conv.frames() == 1 && conv.stride == 1 &&
                  conv.padding(1) == std::pair<int64_t, int64_t>(0, 0);
  SmallVector<ReassociationIndices> joined = {{0, 1}, {2}, {3}, {4}};
  if (!isSingle)
    joined.back().push_back(5);
  Value frames = isSingle ? conv.source(b) : framesOfWindows(b, conv);
  Value images = tensor::CollapseShapeOp::create(b, frames, joined);
  return padded(b, images, {{}, conv.padding(2), conv.padding(3), {}});
}

// [M, KD * C, 3, 3]
Value filterOf(ImplicitLocOpBuilder &b, const FrameConvolution &conv) {
  ElementsAttr turned = permuteConstant(conv.weights, {0, 2, 1, 3, 4});
  ArrayRef<int64_t> shape = turned.getShapedType().getShape();
  auto type = RankedTensorType::get(
      {shape[0], shape[1] * shape[2], shape[3], shape[4]}, b.getF32Type());
  return arith::ConstantOp::create(b, retype(turned, type));
}

linalg::GenericOp asImages(ImplicitLocOpBuilder &b,
                           const FrameConvolution &conv) {
  linalg::GenericOp root = conv.root;
  Value image = imageOf(b, conv), filter = filterOf(b, conv),
        start = tensor::CollapseShapeOp::create(
            b, root.getDpsInits()[0],
            ArrayRef<ReassociationIndices>{{0, 1}, {2}, {3}, {4}});
  enum { n, h, w, m, kh, kw, c, count };
  auto dim = [&](unsigned loop) { return b.getAffineDimExpr(loop); };
  auto mapOf = [&](ArrayRef<AffineExpr> indices) {
    return AffineMap::get(count, 0, indices, b.getContext());
  };
  Maps maps = {mapOf({dim(n), dim(h) + dim(kh), dim(w) + dim(kw), dim(c)}),
               mapOf({dim(m), dim(c), dim(kh), dim(kw)}),
               mapOf({dim(n), dim(h), dim(w), dim(m)})};
  SmallVector<utils::IteratorType> loops(count, utils::IteratorType::parallel);
  for (unsigned loop : {kh, kw, c})
    loops[loop] = utils::IteratorType::reduction;
  auto images = linalg::GenericOp::create(
      b, start.getType(), ValueRange{image, filter}, start, maps, loops);
  IRMapping mapping;
  root.getRegion().cloneInto(&images.getRegion(), mapping);
  return images;
}

void fold(linalg::GenericOp root, TargetAttr target) {
  FailureOr<FrameConvolution> conv = match(root);
  if (failed(conv))
    return;
  ImplicitLocOpBuilder b(root.getLoc(), root);
  linalg::GenericOp images = asImages(b, *conv);
  FailureOr<SquareConvolution> square = matchSquareConvolution(images);
  if (failed(square) || !chooseWinograd(*square, target))
    return; // what nobody uses is cleaned up
  Value init = root.getDpsInits()[0];
  root.replaceAllUsesWith(ValueRange{tensor::ExpandShapeOp::create(
      b, init.getType(), images.getResult(0),
      ArrayRef<ReassociationIndices>{{0, 1}, {2}, {3}, {4}},
      tensor::getMixedSizes(b, b.getLoc(), init))});
  root.erase();
}

struct FoldFrames : impl::FoldFramesBase<FoldFrames> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (isStrict(module) || isSmall(module))
      return;
    auto target = module->getAttrOfType<TargetAttr>(targetAttrName);
    SmallVector<linalg::GenericOp> roots;
    module.walk([&](linalg::GenericOp op) {
      if (op.getNumLoops() == loopCount)
        roots.push_back(op);
    });
    for (linalg::GenericOp root : roots)
      fold(root, target);
  }
};

} // namespace
} // namespace onnxc
