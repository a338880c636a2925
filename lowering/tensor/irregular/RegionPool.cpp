// MaxRoiPool: every region is cut into cells of equal size, and a cell becomes
// the greatest of its pixels.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"
#include "lowering/tensor/irregular/RegionPool.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

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

// Image, regions and the position that is computed: region, channel, cell.
struct Cell {
  ImplicitLocOpBuilder &builder;
  const Input &x, &rois;
  ArrayRef<Index> at;
  double scale;
  Index batch;

  ScalarBuilder here() const {
    return {builder, builder.getLoc(), builder.getF32Type()};
  }
  Scalar region(ScalarBuilder &scalars, int64_t column) const {
    Scalar edge =
        scalarAt(scalars, rois.lowered, rois.element, {at[0], column});
    return onnxc::cast(edge, scalars.getF32Type()) * scale;
  }
  Scalar size(ScalarBuilder &scalars, int64_t dim) const {
    return asReal(scalars, x.sizes[2 + dim]);
  }
  Scalar element(ScalarBuilder &scalars, Index row, Index column) const {
    Scalar value =
        scalarAt(scalars, x.lowered, x.element, {batch, at[1], row, column});
    return onnxc::cast(value, scalars.getF32Type());
  }
};

Value f32Of(ImplicitLocOpBuilder &builder, double number) {
  return arith::ConstantOp::create(builder, builder.getF32FloatAttr(number));
}

struct Greatest : Cell {
  Greatest(Cell cell, MaxRoiPoolOp op) : Cell(cell), op(op) {}
  mutable MaxRoiPoolOp op;

  // Where the cell begins and ends; columns 1 and 3 of the region are x.
  std::pair<Index, Index> extent(ScalarBuilder &scalars, int64_t dim) const {
    auto edge = [&](int64_t column) { // half away from zero, as in C
      Scalar where = region(scalars, column), whole = floor(abs(where) + 0.5);
      return select(where < 0, -whole, whole);
    };
    Scalar begin = edge(2 - dim), end = edge(4 - dim);
    Scalar cell = greatest(end - begin + 1, 1) / op.getPooledShape()[dim];
    Scalar position = asReal(scalars, at[2 + dim]), count = size(scalars, dim);
    return {asIndex(builder, floor(position * cell) + begin, count),
            asIndex(builder, ceil((position + 1) * cell) + begin, count)};
  }

  Scalar pooled(ScalarBuilder &scalars) const {
    auto [top, bottom] = extent(scalars, 0);
    auto [left, right] = extent(scalars, 1);
    auto compare = [&, top = top, left = left](ArrayRef<Index> i,
                                               Tensors carried) {
      ScalarBuilder inner = here();
      Scalar old(inner, carried[0], inner.getF32Type());
      return Tensors{
          greatest(old, element(inner, top + i[0], left + i[1])).value};
    };
    Index rows = greatest(bottom - top, 0), columns = greatest(right - left, 0);
    Scalar all(scalars,
               visit(builder, {rows, columns}, {f32Of(builder, -infinity)},
                     compare)[0],
               scalars.getF32Type());
    Condition isEmpty = rows == 0 || columns == 0;
    Scalar empty(scalars, isEmpty.in(builder), builder.getI1Type());
    return select(empty, 0, all);
  }
};

// Computes every element of the result from its cell.
Value pool(ImplicitLocOpBuilder &builder, MaxRoiPoolOp op,
           ArrayRef<Input> inputs, ArrayRef<Index> sizes,
           llvm::function_ref<Index(ArrayRef<Index>)> batchOf) {
  const Input &x = inputs[0];
  auto one = [&](ArrayRef<Index> at, Tensors carried) {
    Cell cell{builder, x, inputs[1], at, op.getSpatialScale(), batchOf(at)};
    ScalarBuilder scalars = cell.here();
    Scalar value = Greatest(cell, op).pooled(scalars);
    return Tensors{
        insert(builder, store(scalars, value, x.element), carried[0], at)};
  };
  return visit(builder, sizes, {emptyOf(builder, sizes, x.element)}, one)[0];
}

// The first column of a region is its image.
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
    auto batchOf = [&](ArrayRef<Index> at) {
      ScalarBuilder scalars(builder, op.getLoc(), builder.getF32Type());
      Scalar batch =
          scalarAt(scalars, inputs[1].lowered, inputs[1].element, {at[0], 0});
      return asIndex(builder, onnxc::cast(batch, scalars.getF32Type()),
                     asReal(scalars, inputs[0].sizes[0] - 1));
    };
    Value pooled = pool(builder, op, inputs, shapes->front(), batchOf);
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
