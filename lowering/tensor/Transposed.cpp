#include "lowering/tensor/Transposed.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace onnxc {

// Those of a pad from what is padded: it has one user less then, and moves.
static SmallVector<OpFoldResult> sizesOf(OpBuilder &builder, Location loc,
                                         Value value) {
  ReifiedRankedShapedTypeDims shapes;
  auto pad = value.getDefiningOp<tensor::PadOp>();
  if (pad && succeeded(reifyResultShapes(builder, pad, shapes)))
    return shapes.front();
  return tensor::getMixedSizes(builder, loc, value);
}

Value transposed(OpBuilder &builder, Location loc, Value value,
                 ArrayRef<int64_t> permutation) {
  SmallVector<OpFoldResult> sizes = sizesOf(builder, loc, value);
  Value empty = tensor::EmptyOp::create(builder, loc,
                                        applyPermutation(sizes, permutation),
                                        getElementTypeOrSelf(value));
  return linalg::TransposeOp::create(builder, loc, value, empty, permutation)
      ->getResult(0);
}

Value permutedInit(OpBuilder &builder, Value init,
                   ArrayRef<int64_t> permutation) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (!fill && !init.getDefiningOp<tensor::EmptyOp>())
    return {};
  Value empty = transposed(builder, init.getLoc(), init, permutation)
                    .getDefiningOp<linalg::TransposeOp>()
                    .getInit();
  return fill ? linalg::FillOp::create(builder, fill.getLoc(), fill.getInputs(),
                                       empty)
                    .getResult(0)
              : empty;
}

linalg::GenericOp writtenTransposed(RewriterBase &rewriter,
                                    linalg::GenericOp producer,
                                    ArrayRef<int64_t> permutation) {
  rewriter.setInsertionPoint(producer);
  Value moved = permutedInit(rewriter, producer.getOutputs()[0], permutation);
  if (!moved)
    return nullptr;
  SmallVector<AffineMap> maps = producer.getIndexingMapsArray();
  SmallVector<AffineExpr> results =
      applyPermutation(maps.back().getResults(), permutation);
  maps.back() = AffineMap::get(maps.back().getNumDims(), 0, results,
                               producer.getContext());
  auto written = linalg::GenericOp::create(
      rewriter, producer.getLoc(), moved.getType(), producer.getInputs(), moved,
      maps, producer.getIteratorTypesArray());
  rewriter.inlineRegionBefore(producer.getRegion(), written.getRegion(),
                              written.getRegion().begin());
  return written;
}

LogicalResult writeTransposed(PatternRewriter &rewriter, linalg::TransposeOp op,
                              linalg::GenericOp producer) {
  linalg::GenericOp written =
      writtenTransposed(rewriter, producer, op.getPermutation());
  if (!written)
    return failure();
  rewriter.replaceOp(op, written.getResults());
  return success();
}

Value paddedTransposed(OpBuilder &builder, tensor::PadOp pad, Value source,
                       ArrayRef<int64_t> permutation) {
  RankedTensorType type = pad.getResultType();
  return tensor::PadOp::create(
      builder, pad.getLoc(),
      type.clone(applyPermutation(type.getShape(), permutation)), source,
      applyPermutation(pad.getMixedLowPad(), permutation),
      applyPermutation(pad.getMixedHighPad(), permutation),
      pad.getConstantPaddingValue(), pad.getNofold());
}

} // namespace onnxc
