// RoiAlign and MaxRoiPool: every region is cut into cells of equal size, and
// every cell becomes one element.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"
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

//===-- RoiAlign ----------------------------------------------------------===//

// Along one dimension of a cell: where its samples begin, how far they are
// apart and how many there are.
struct Samples {
  Value begin, step; // f32
  Index count;
};

struct Aligned : Cell {
  Aligned(Cell cell, RoiAlignOp op) : Cell(cell), op(op) {}
  mutable RoiAlignOp op; // getters are not const

  // Dimension 0 is rows, whose edges are columns 1 and 3 of the region.
  Samples samples(ScalarBuilder &scalars, int64_t dim) const {
    bool half = op.getCoordinateTransformationMode() == "half_pixel";
    Scalar begin = region(scalars, 1 - dim) - (half ? 0.5 : 0);
    Scalar end = region(scalars, 3 - dim) - (half ? 0.5 : 0);
    Scalar length = half ? end - begin : greatest(end - begin, 1);
    Scalar cell = length / (dim ? op.getOutputWidth() : op.getOutputHeight());
    // So many that an image of any size is hit in each element.
    Index count =
        op.getSamplingRatio() > 0
            ? Index(op.getSamplingRatio())
            : asIndex(builder, ceil(cell), onnxc::cast(Scalar(1 << 16), cell));
    Scalar position = asReal(scalars, at[2 + dim]);
    return {(begin + position * cell).value,
            (cell / asReal(scalars, count)).value, count};
  }

  struct Neighbours {
    Index low, high;
    Scalar share; // of the higher one
    Scalar inside;
  };
  Neighbours neighbours(ScalarBuilder &scalars, const Samples &samples,
                        int64_t dim, Index sample) const {
    Type f32 = scalars.getF32Type();
    Scalar begin(scalars, samples.begin, f32), step(scalars, samples.step, f32);
    Scalar where = begin + (asReal(scalars, sample) + 0.5) * step;
    Scalar count = size(scalars, dim), last = count - 1;
    Scalar inside = where >= -1 && where <= count;
    Scalar clamped = least(greatest(where, 0), last);
    Scalar low = floor(clamped);
    return {asIndex(builder, low, last), asIndex(builder, low + 1, last),
            clamped - low, inside};
  }

  // The sum, or the greatest, of the samples of the cell.
  Scalar pooled(ScalarBuilder &scalars) const {
    bool takesGreatest = op.getMode() == "max";
    Samples rows = samples(scalars, 0), columns = samples(scalars, 1);
    auto sample = [&](ArrayRef<Index> i, Tensors carried) {
      ScalarBuilder inner = here();
      Neighbours row = neighbours(inner, rows, 0, i[0]);
      Neighbours column = neighbours(inner, columns, 1, i[1]);
      Scalar inside = row.inside && column.inside;
      auto part = [&](Index r, Index c, Scalar share) {
        return select(inside, element(inner, r, c) * share, 0);
      };
      Scalar a = part(row.low, column.low,
                      (1 - row.share) * (1 - column.share)),
             b = part(row.low, column.high, (1 - row.share) * column.share),
             c = part(row.high, column.low, row.share * (1 - column.share)),
             d = part(row.high, column.high, row.share * column.share);
      Scalar old(inner, carried[0], inner.getF32Type());
      Scalar next =
          takesGreatest
              ? greatest(old, greatest(greatest(a, b), greatest(c, d)))
              : old + a + b + c + d;
      return Tensors{next.value};
    };
    double start = takesGreatest ? -infinity : 0;
    Scalar all(scalars,
               visit(builder, {rows.count, columns.count},
                     {f32Of(builder, start)}, sample)[0],
               scalars.getF32Type());
    Index count = rows.count * columns.count;
    if (takesGreatest)
      return count.number ? all : select(all == -infinity, 0, all);
    return all / asReal(scalars, greatest(count, 1));
  }
};

//===-- MaxRoiPool --------------------------------------------------------===//

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

//===-- Both --------------------------------------------------------------===//

LogicalResult requireImages(ImplicitLocOpBuilder &builder, Operation *op,
                            const Input &x, const Input &rois,
                            int64_t columns) {
  for (int64_t i : {2, 3})
    if (failed(require(builder, x.sizes[i] > 0, Status::Shape, op,
                       "has no elements", "X")))
      return failure();
  return require(builder, rois.sizes[1] == columns, Status::Shape, op,
                 "has another number of columns", "rois");
}

// Computes every element of the result from its cell.
template <typename Kind, typename Op>
Value pool(ImplicitLocOpBuilder &builder, Op op, ArrayRef<Input> inputs,
           ArrayRef<Index> sizes,
           llvm::function_ref<Index(ArrayRef<Index>)> batchOf) {
  const Input &x = inputs[0];
  auto one = [&](ArrayRef<Index> at, Tensors carried) {
    Cell cell{builder, x, inputs[1], at, op.getSpatialScale(), batchOf(at)};
    ScalarBuilder scalars = cell.here();
    Scalar value = Kind(cell, op).pooled(scalars);
    return Tensors{
        insert(builder, store(scalars, value, x.element), carried[0], at)};
  };
  return visit(builder, sizes, {emptyOf(builder, sizes, x.element)}, one)[0];
}

struct LowerRoiAlign : OpConversionPattern<RoiAlignOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(RoiAlignOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    auto shapes =
        resultSizes(cast<SizedOpInterface>(op.getOperation()), inputs);
    if (failed(shapes) ||
        failed(requireImages(builder, op, inputs[0], inputs[1], 4)))
      return failure();
    const Input &batches = inputs[2];
    auto inside = [&](Index batch, ArrayRef<Index>) {
      return batch >= 0 && batch < inputs[0].sizes[0];
    };
    if (failed(require(builder, batches.sizes[0] == inputs[1].sizes[0],
                       Status::Shape, op, "needs one for each region",
                       "batch_indices")) ||
        failed(requireAll(builder, batches, inside, Status::Index, op,
                          "is outside the batch", "batch_indices")))
      return failure();
    Value pooled =
        pool<Aligned>(builder, op, inputs, shapes->front(),
                      [&](ArrayRef<Index> at) { return batches.at({at[0]}); });
    rewriter.replaceOp(
        op,
        castTo(builder, pooled, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

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
        failed(requireImages(builder, op, inputs[0], inputs[1], 5)) ||
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
    Value pooled =
        pool<Greatest>(builder, op, inputs, shapes->front(), batchOf);
    rewriter.replaceOp(
        op,
        castTo(builder, pooled, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

void addRegionPoolPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerRoiAlign, LowerMaxRoiPool>(types, patterns.getContext());
}

} // namespace onnxc
