// Winograd's filtering is for windows whose taps are neighbours. Those that are
// d apart meet pixels of every d-th row and column only: d x d smaller images,
// each with windows of neighbours. Moving pixels there and back costs two
// copies.
#include "dialects/onnx/Constants.h"
#include "lowering/Passes.h"
#include "lowering/tensor/SquareConvolutions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_FOLDDILATIONS
#include "lowering/Passes.h.inc"

namespace {

using Maps = SmallVector<AffineMap>;

// Of a convolution of NHWC: batch, row, column, map, the window's row and
// column, channel.
enum Loop { N, H, W, M, KH, KW, C, loopCount };

// Smaller parts have too many windows that lack taps.
constexpr int64_t leastSide = 6;
// Of what the image has, in parts of one size.
constexpr double mostComputed = 1.2;

struct DilatedConvolution {
  Value source;                       // [N, Hi, Wi, C]
  std::pair<int64_t, int64_t> before; // zeros above and left of it
  int64_t dilation;
  int64_t rows, columns, channels; // of the result
  // Of each part.
  int64_t partRows() const { return llvm::divideCeil(rows, dilation); }
  int64_t partColumns() const { return llvm::divideCeil(columns, dilation); }
};

// Whether the root's loops are these, its taps so far apart.
bool isDilated(linalg::GenericOp root, int64_t dilation) {
  MLIRContext *context = root.getContext();
  auto dim = [&](unsigned loop) { return getAffineDimExpr(loop, context); };
  auto mapOf = [&](ArrayRef<AffineExpr> indices) {
    return AffineMap::get(loopCount, 0, indices, context);
  };
  Maps expected = {mapOf({dim(N), dim(H) + dim(KH) * dilation,
                          dim(W) + dim(KW) * dilation, dim(C)}),
                   mapOf({dim(M), dim(C), dim(KH), dim(KW)}),
                   mapOf({dim(N), dim(H), dim(W), dim(M)})};
  return dilation > 1 && Maps(root.getIndexingMapsArray()) == expected;
}

FailureOr<DilatedConvolution> match(linalg::GenericOp root) {
  Value image = root.getDpsInputs()[0];
  ElementsAttr weights = constantOf(root.getDpsInputs()[1]);
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  AffineMap map = root.getIndexingMapsArray().front();
  if (!weights || weights.isSplat() || map.getNumResults() != 4)
    return failure();
  int64_t dilation = coefficient(map.getResult(1), KH);
  if (!isDilated(root, dilation) || extents[KH] != 3 || extents[KW] != 3 ||
      ShapedType::isDynamic(extents[H]) || ShapedType::isDynamic(extents[W]))
    return failure();
  DilatedConvolution conv{image,      {0, 0},     dilation,
                          extents[H], extents[W], extents[M]};
  if (auto pad = image.getDefiningOp<tensor::PadOp>()) {
    llvm::SmallBitVector padded = pad.getPaddedDims();
    if (!isPaddedWithKnownZeros(pad) || padded.test(0) || padded.test(3))
      return failure();
    conv.source = pad.getSource();
    conv.before = {pad.getStaticLow()[1], pad.getStaticLow()[2]};
  }
  return conv;
}

bool isWorthParts(const DilatedConvolution &conv) {
  double computed = double(conv.partRows()) * conv.partColumns() *
                    conv.dilation * conv.dilation;
  return std::min(conv.partRows(), conv.partColumns()) >= leastSide &&
         computed <= mostComputed * conv.rows * conv.columns;
}

// [N, d, d, h + 2, w + 2, C]: part (i, j) begins at row i and column j.
Value partsOf(ImplicitLocOpBuilder &b, const DilatedConvolution &conv) {
  auto type = cast<RankedTensorType>(conv.source.getType());
  int64_t d = conv.dilation, rows = conv.partRows() + 2,
          columns = conv.partColumns() + 2;
  auto [above, left] = conv.before;
  Value padded =
      paddedWithZeros(b, conv.source,
                      {{},
                       {above, d * rows - above - type.getDimSize(1)},
                       {left, d * columns - left - type.getDimSize(2)},
                       {}});
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), padded);
  sizes = {sizes[0],
           b.getIndexAttr(d),
           b.getIndexAttr(d),
           b.getIndexAttr(rows),
           b.getIndexAttr(columns),
           sizes[3]};
  auto dim = [&](unsigned at) { return b.getAffineDimExpr(at); };
  return gathered(
      b, padded, sizes,
      AffineMap::get(6, 0,
                     {dim(0), dim(3) * d + dim(1), dim(4) * d + dim(2), dim(5)},
                     b.getContext()));
}

// The parts' results, side by side again.
Value joined(ImplicitLocOpBuilder &b, const DilatedConvolution &conv,
             Value parts, OpFoldResult batch) {
  int64_t d = conv.dilation, rows = conv.partRows(),
          columns = conv.partColumns();
  auto index = [&](int64_t value) {
    return OpFoldResult(b.getIndexAttr(value));
  };
  auto type = cast<RankedTensorType>(parts.getType());
  std::optional<int64_t> images = getConstantIntValue(batch);
  Value apart = tensor::ExpandShapeOp::create(
      b,
      type.clone({images.value_or(ShapedType::kDynamic), d, d, rows, columns,
                  conv.channels}),
      parts, SmallVector<ReassociationIndices>{{0, 1, 2}, {3}, {4}, {5}},
      SmallVector<OpFoldResult>{batch, index(d), index(d), index(rows),
                                index(columns), index(conv.channels)});
  unsigned order[] = {0, 2, 4, 1, 3, 5};
  Value turned = gathered(b, apart,
                          {batch, index(rows), index(d), index(columns),
                           index(d), index(conv.channels)},
                          AffineMap::getPermutationMap(order, b.getContext()));
  Value whole = tensor::CollapseShapeOp::create(
      b, turned, SmallVector<ReassociationIndices>{{0}, {1, 2}, {3, 4}, {5}});
  SmallVector<OpFoldResult> offsets(4, index(0)), strides(4, index(1)),
      sizes = {batch, index(conv.rows), index(conv.columns),
               index(conv.channels)};
  return tensor::ExtractSliceOp::create(b, whole, offsets, sizes, strides);
}

void fold(linalg::GenericOp root) {
  FailureOr<DilatedConvolution> conv = match(root);
  auto fill = root.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (failed(conv) || !isWorthParts(*conv) || !fill)
    return;
  ImplicitLocOpBuilder b(root.getLoc(), root);
  Value images = tensor::CollapseShapeOp::create(
      b, partsOf(b, *conv),
      SmallVector<ReassociationIndices>{{0, 1, 2}, {3}, {4}, {5}});
  Value empty = tensor::EmptyOp::create(
      b,
      ArrayRef<OpFoldResult>{tensor::getMixedSize(b, b.getLoc(), images, 0),
                             b.getIndexAttr(conv->partRows()),
                             b.getIndexAttr(conv->partColumns()),
                             b.getIndexAttr(conv->channels)},
      getElementTypeOrSelf(root.getResult(0)));
  Value start = linalg::FillOp::create(b, fill.getInputs(), empty).getResult(0);
  linalg::GenericOp parts =
      squareConvolution(b, root, images, root.getDpsInputs()[1], start);
  if (!parts)
    return;
  OpFoldResult batch = tensor::getMixedSize(b, b.getLoc(), conv->source, 0);
  root.replaceAllUsesWith(
      ValueRange{joined(b, *conv, parts.getResult(0), batch)});
  root.erase();
}

struct FoldDilations : impl::FoldDilationsBase<FoldDilations> {
  void runOnOperation() override {
    forEachConvolution(getOperation(), loopCount, fold);
  }
};

} // namespace
} // namespace onnxc
