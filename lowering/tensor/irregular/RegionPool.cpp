// MaxRoiPool: every region is cut into cells of equal size, and a cell becomes
// the greatest of its pixels, with the channels last where there are many.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/Transposed.h"
#include "lowering/tensor/irregular/ImagePoints.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"
#include "lowering/tensor/irregular/RegionPool.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace onnxc {
namespace {

Scalar asReal(ScalarBuilder &scalars, Index index) {
  ImplicitLocOpBuilder &builder = scalars;
  Type f32 = scalars.getF32Type();
  if (index.number)
    return cast(Scalar(double(*index.number)), Scalar(scalars, {}, f32));
  Value wide = arith::IndexCastOp::create(builder, builder.getI64Type(),
                                          index.in(builder));
  return {scalars, arith::SIToFPOp::create(builder, f32, wide), f32};
}

// Of a number that was brought between 0 and a size; NaN is 0.
Index asIndex(ImplicitLocOpBuilder &builder, Scalar x, Scalar most) {
  Scalar inside = select(x >= 0, select(x <= most, x, most), 0);
  Value whole =
      arith::FPToSIOp::create(builder, builder.getI64Type(), inside.value);
  return {builder,
          arith::IndexCastOp::create(builder, builder.getIndexType(), whole)};
}

// The region's first column is its image, 1 and 3 are x, 2 and 4 are y.
class Pooler {
public:
  Pooler(ImplicitLocOpBuilder &b, MaxRoiPoolOp op, const Input &x,
         const Input &rois)
      : b(b), op(op), x(x), rois(rois), order(orderOfPoints(x)),
        image(pointsOf(b, x, order)) {}

  Value all(ArrayRef<Index> sizes) {
    Value result = emptyOf(b, applyPermutation(sizes, order), x.element);
    result = visit(b, {sizes[0], sizes[2], sizes[3]}, {result},
                   [&](ArrayRef<Index> at, Tensors carried) {
                     return Tensors{withCell(at, carried[0])};
                   })[0];
    return transposed(b, b.getLoc(), result, invertPermutationVector(order));
  }

private:
  ScalarBuilder scalarsOf(Type type) { return {b, b.getLoc(), type}; }

  Scalar ofRegion(ScalarBuilder &scalars, Index region, int64_t column) {
    return cast(scalarAt(scalars, rois.lowered, rois.element, {region, column}),
                scalars.getF32Type());
  }

  // Where a cell of a region begins and ends along a dimension.
  std::pair<Index, Index> extent(Index region, Index cell, int64_t dim) {
    ScalarBuilder scalars = scalarsOf(b.getF32Type());
    auto edge = [&](int64_t column) { // half away from zero, as in C
      Scalar where = ofRegion(scalars, region, column) * op.getSpatialScale();
      Scalar whole = floor(abs(where) + 0.5);
      return select(where < 0, -whole, whole);
    };
    Scalar begin = edge(2 - dim), end = edge(4 - dim);
    Scalar length = greatest(end - begin + 1, 1) / op.getPooledShape()[dim];
    Scalar position = asReal(scalars, cell),
           count = asReal(scalars, x.sizes[2 + dim]);
    return {asIndex(b, floor(position * length) + begin, count),
            asIndex(b, ceil((position + 1) * length) + begin, count)};
  }

  // The result with the greatest pixels of a cell, or zeros where it has none.
  Value withCell(ArrayRef<Index> at, Value result) {
    auto [top, bottom] = extent(at[0], at[1], 0);
    auto [left, right] = extent(at[0], at[2], 1);
    ScalarBuilder scalars = scalarsOf(b.getF32Type());
    Index batch = asIndex(b, ofRegion(scalars, at[0], 0),
                          asReal(scalars, x.sizes[0] - 1));
    Index rows = greatest(bottom - top, 0), columns = greatest(right - left, 0),
          channels = x.sizes[1];
    ScalarBuilder stored = scalarsOf(x.element);
    Scalar none(stored, (rows == 0 || columns == 0).in(b), b.getI1Type());
    Scalar zero = cast(Scalar(0), Scalar(stored, {}, x.element));
    Value start = store(stored, select(none, zero, -infinity), x.element);
    Value cell =
        linalg::FillOp::create(b, start, emptyOf(b, {channels}, x.element))
            .result();
    cell =
        visit(b, {rows, columns}, {cell},
              [&, top = top, left = left](ArrayRef<Index> i, Tensors carried) {
                Index point = (top + i[0]) * x.sizes[3] + left + i[1];
                return Tensors{greatestOf(carried[0], {batch, point})};
              })[0];
    return tensor::InsertSliceOp::create(
        b, cell, result,
        folded(b, applyPermutation(Sizes{at[0], 0, at[1], at[2]}, order)),
        folded(b, applyPermutation(Sizes{1, channels, 1, 1}, order)),
        folded(b, Sizes(4, 1)));
  }

  // Of what there is of each channel and the pixel at an image and a point.
  Value greatestOf(Value cell, std::array<Index, 2> pixel) {
    auto body = [&](ScalarBuilder &scalars, ArrayRef<Scalar> args) {
      Index channel = {scalars, linalg::IndexOp::create(scalars, 0)};
      SmallVector<Index> at = {pixel[0], pixel[1], channel};
      if (order[1] == 1)
        std::swap(at[1], at[2]);
      Scalar value = scalarAt(scalars, image, x.element, at);
      return SmallVector<Scalar>{greatest(args[0], value)};
    };
    return generic(b, {}, {}, cell, x.element, b.getMultiDimIdentityMap(1),
                   parallel(1), body)[0];
  }

  ImplicitLocOpBuilder &b;
  MaxRoiPoolOp op;
  const Input &x, &rois;
  SmallVector<int64_t> order;
  Value image;
};

struct LowerMaxRoiPool : OpConversionPattern<MaxRoiPoolOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(MaxRoiPoolOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    auto shapes =
        resultSizes(cast<SizedOpInterface>(op.getOperation()), inputs);
    if (failed(shapes) ||
        failed(requireRegions(builder, op, inputs[0], inputs[1], 5)) ||
        failed(require(builder, inputs[0].sizes[0] > 0, Status::Shape, op,
                       "has no elements", "X")))
      return failure();
    Value pooled =
        Pooler(builder, op, inputs[0], inputs[1]).all(shapes->front());
    rewriter.replaceOp(
        op,
        castTo(builder, pooled, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

LogicalResult requireRegions(ImplicitLocOpBuilder &builder, Operation *op,
                             const Input &x, const Input &rois,
                             int64_t columns) {
  for (int64_t i : {2, 3})
    if (failed(require(builder, x.sizes[i] > 0, Status::Shape, op,
                       "has no elements", "X")))
      return failure();
  return require(builder, rois.sizes[1] == columns, Status::Shape, op,
                 "has another number of columns", "rois");
}

void addRegionPoolPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerMaxRoiPool>(types, patterns.getContext());
}

} // namespace onnxc
