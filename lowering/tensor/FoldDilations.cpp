// Winograd's filtering is for windows whose taps are neighbours. Those that are
// d apart meet pixels of every d-th row and column only: d x d smaller images,
// each with windows of neighbours. Moving pixels there and back costs two
// copies, which put channels last on their way.
#include "dialects/onnx/Constants.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/Passes.h"
#include "lowering/loops/IndexMath.h"
#include "lowering/tensor/SquareConvolutions.h"
#include "lowering/tensor/Transposed.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
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
// Where only the run knows how large the image is: of 40 rows and more, parts
// are large enough.
constexpr int64_t mostOfUnknown = 8;

struct DilatedConvolution {
  Value source; // [N, Hi, Wi, C], or [N, C, Hi, Wi]
  bool channelsFirst;
  std::pair<int64_t, int64_t> before; // zeros above and left of it
  int64_t dilation;
  int64_t rows, columns, channels; // of the result
};

// Numbers of the run.
struct Sizes {
  OpFoldResult batch, rows, columns;
  OpFoldResult partRows, partColumns; // of each part
};

// Whether the root's loops are these, its taps so far apart.
bool isDilated(linalg::GenericOp root, int64_t dilation, bool channelsFirst) {
  MLIRContext *context = root.getContext();
  auto dim = [&](unsigned loop) { return getAffineDimExpr(loop, context); };
  auto mapOf = [&](ArrayRef<AffineExpr> indices) {
    return AffineMap::get(loopCount, 0, indices, context);
  };
  AffineExpr row = dim(H) + dim(KH) * dilation,
             column = dim(W) + dim(KW) * dilation;
  Maps expected = {channelsFirst ? mapOf({dim(N), dim(C), row, column})
                                 : mapOf({dim(N), row, column, dim(C)}),
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
  bool channelsFirst = isa<AffineDimExpr>(map.getResult(1));
  unsigned rows = channelsFirst ? 2 : 1;
  int64_t dilation = coefficient(map.getResult(rows), KH);
  if (!isDilated(root, dilation, channelsFirst) || extents[KH] != 3 ||
      extents[KW] != 3 || llvm::is_contained(extents, 0))
    return failure();
  DilatedConvolution conv{image,      channelsFirst, {0, 0},    dilation,
                          extents[H], extents[W],    extents[M]};
  if (auto pad = image.getDefiningOp<tensor::PadOp>()) {
    llvm::SmallBitVector padded = pad.getPaddedDims();
    if (!isPaddedWithKnownZeros(pad) || padded.test(0) ||
        padded.test(channelsFirst ? 1 : 3))
      return failure();
    conv.source = pad.getSource();
    conv.before = {pad.getStaticLow()[rows], pad.getStaticLow()[rows + 1]};
  }
  return conv;
}

bool isWorthParts(const DilatedConvolution &conv) {
  double computed = 1;
  for (int64_t size : {conv.rows, conv.columns}) {
    if (ShapedType::isDynamic(size)) {
      if (conv.dilation > mostOfUnknown)
        return false;
      continue;
    }
    int64_t part = llvm::divideCeil(size, conv.dilation);
    if (part < leastSide)
      return false;
    computed *= double(part * conv.dilation) / size;
  }
  return computed <= mostComputed;
}

Sizes sizesOf(ImplicitLocOpBuilder &b, const DilatedConvolution &conv,
              Value destination) {
  SmallVector<OpFoldResult> all =
      tensor::getMixedSizes(b, b.getLoc(), destination);
  auto part = [&](OpFoldResult size) {
    return floorDivide(b, add(b, size, number(b, conv.dilation - 1)),
                       conv.dilation);
  };
  return {all[0], all[1], all[2], part(all[1]), part(all[2])};
}

// [N, d, d, h + 2, w + 2, C]: part (i, j) begins at row i and column j.
Value partsOf(ImplicitLocOpBuilder &b, const DilatedConvolution &conv,
              const Sizes &of) {
  int64_t d = conv.dilation;
  auto [above, left] = conv.before;
  OpFoldResult rows = add(b, of.partRows, number(b, 2)),
               columns = add(b, of.partColumns, number(b, 2));
  Value source = conv.source;
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), source);
  if (conv.channelsFirst) {
    source = transposed(b, b.getLoc(), source, {0, 2, 3, 1});
    sizes = {sizes[0], sizes[2], sizes[3], sizes[1]};
  }
  auto behind = [&](OpFoldResult parts, int64_t before, OpFoldResult size) {
    return subtract(b, multiply(b, parts, number(b, d)),
                    add(b, size, number(b, before)));
  };
  Value padded =
      paddedWithZeros(b, source,
                      {{},
                       {number(b, above), behind(rows, above, sizes[1])},
                       {number(b, left), behind(columns, left, sizes[2])},
                       {}});
  auto dim = [&](unsigned at) { return b.getAffineDimExpr(at); };
  return gathered(
      b, padded,
      {sizes[0], number(b, d), number(b, d), rows, columns, sizes[3]},
      AffineMap::get(6, 0,
                     {dim(0), dim(3) * d + dim(1), dim(4) * d + dim(2), dim(5)},
                     b.getContext()));
}

// The parts' results, side by side again.
Value joined(ImplicitLocOpBuilder &b, const DilatedConvolution &conv,
             Value parts, const Sizes &of) {
  OpFoldResult d = number(b, conv.dilation),
               channels = number(b, conv.channels);
  SmallVector<OpFoldResult> apartSizes = {
      of.batch, d, d, of.partRows, of.partColumns, channels};
  SmallVector<int64_t> shape;
  SmallVector<Value> unknown;
  dispatchIndexOpFoldResults(apartSizes, unknown, shape);
  auto type = cast<RankedTensorType>(parts.getType());
  Value apart = tensor::ExpandShapeOp::create(
      b, type.clone(shape), parts,
      SmallVector<ReassociationIndices>{{0, 1, 2}, {3}, {4}, {5}}, apartSizes);
  unsigned order[] = {0, 2, 4, 1, 3, 5};
  Value turned = gathered(
      b, apart, {of.batch, of.partRows, d, of.partColumns, d, channels},
      AffineMap::getPermutationMap(order, b.getContext()));
  Value whole = tensor::CollapseShapeOp::create(
      b, turned, SmallVector<ReassociationIndices>{{0}, {1, 2}, {3, 4}, {5}});
  SmallVector<OpFoldResult> offsets(4, number(b, 0)), strides(4, number(b, 1));
  return tensor::ExtractSliceOp::create(
      b, whole, offsets, {of.batch, of.rows, of.columns, channels}, strides);
}

void fold(linalg::GenericOp root) {
  FailureOr<DilatedConvolution> conv = match(root);
  auto fill = root.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (failed(conv) || !isWorthParts(*conv) || !fill)
    return;
  ImplicitLocOpBuilder b(root.getLoc(), root);
  Sizes sizes = sizesOf(b, *conv, fill.getOutputs()[0]);
  Value images = tensor::CollapseShapeOp::create(
      b, partsOf(b, *conv, sizes),
      SmallVector<ReassociationIndices>{{0, 1, 2}, {3}, {4}, {5}});
  Value empty = tensor::EmptyOp::create(
      b,
      ArrayRef<OpFoldResult>{tensor::getMixedSize(b, b.getLoc(), images, 0),
                             sizes.partRows, sizes.partColumns,
                             number(b, conv->channels)},
      getElementTypeOrSelf(root.getResult(0)));
  Value start = linalg::FillOp::create(b, fill.getInputs(), empty).getResult(0);
  linalg::GenericOp parts =
      squareConvolution(b, root, images, root.getDpsInputs()[1], start);
  if (!parts)
    return;
  Value result = joined(b, *conv, parts.getResult(0), sizes);
  if (result.getType() != root.getResult(0).getType())
    result = tensor::CastOp::create(b, root.getResult(0).getType(), result);
  root.replaceAllUsesWith(ValueRange{result});
  root.erase();
}

struct FoldDilations : impl::FoldDilationsBase<FoldDilations> {
  void runOnOperation() override {
    forEachConvolution(getOperation(), loopCount, fold);
  }
};

} // namespace

bool isFilteredInParts(linalg::GenericOp root) {
  auto module = root->getParentOfType<ModuleOp>();
  FailureOr<DilatedConvolution> conv = failure();
  if (isFoldable(root, loopCount) && !isStrict(module) && !isSmall(module))
    conv = match(root);
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  if (failed(conv) || !isWorthParts(*conv) ||
      ShapedType::isDynamicShape(extents))
    return false;
  ImplicitLocOpBuilder b(root.getLoc(), root);
  int64_t d = conv->dilation, images = extents[N] * d * d,
          rows = llvm::divideCeil(conv->rows, d),
          columns = llvm::divideCeil(conv->columns, d);
  Type element = getElementTypeOrSelf(root.getResult(0));
  Value image = tensor::EmptyOp::create(
            b, ArrayRef<int64_t>{images, rows + 2, columns + 2, extents[C]},
            element),
        start = tensor::EmptyOp::create(
            b, ArrayRef<int64_t>{images, rows, columns, conv->channels},
            element);
  linalg::GenericOp parts =
      squareConvolution(b, root, image, root.getDpsInputs()[1], start);
  if (parts)
    parts.erase();
  for (Value value : {image, start})
    value.getDefiningOp()->erase();
  return parts != nullptr;
}

} // namespace onnxc
