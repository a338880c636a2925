// RoiAlign: every region is cut into cells of equal size, and a cell becomes
// the mean, or the greatest, of samples between the pixels. Where the rows and
// the columns of samples lie and how much their neighbours weigh is the same
// for all channels: it is computed once, and read by a loop with the channels
// last, whose loads lie side by side. Where each region has a number of samples
// of its own, it has loops of its own.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/Inputs.h"
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

// What an image of any size needs to be hit in each element.
constexpr int64_t mostSamples = 1 << 16;

// Turning so many pixels costs as much as it saves of one sample.
constexpr int64_t pixelsOfSample = 12;

// An image that the model makes may have its channels last already; one that
// it is given may be large beside what is read of it.
SmallVector<int64_t> orderFor(RoiAlignOp op, const Input &x,
                              const Input &rois) {
  int64_t ratio = op.getSamplingRatio() > 0 ? op.getSamplingRatio() : 2;
  Index pixels = x.sizes[0] * x.sizes[2] * x.sizes[3];
  Index samples = rois.sizes[0] * op.getOutputHeight() * op.getOutputWidth() *
                  (ratio * ratio);
  Condition isFew = samples * pixelsOfSample < pixels;
  if (isa<BlockArgument>(op.getX()) && isFew.isTrue())
    return llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  return orderOfPoints(x);
}

// Some of the regions, and the samples along either dimension of their cells.
struct Regions {
  Value edges, batches;
  Index count;
  std::array<Index, 2> samples;
};

// Tensors of region, cell and sample along one dimension: the pixels around the
// sample, the lower one -1 where it lies outside, and their weights.
struct Tables {
  Value low, high, lowWeight, highWeight;
};

class Aligner {
public:
  Aligner(ImplicitLocOpBuilder &b, RoiAlignOp op, const Input &x,
          const Input &rois, const Input &batches)
      : b(b), op(op), x(x), rois(rois), batches(batches),
        takesGreatest(op.getMode() == "max"), order(orderFor(op, x, rois)),
        image(pointsOf(b, x, order)) {}

  // The result in the order of its image.
  Value all(ArrayRef<Index> sizes) {
    Sizes turned = applyPermutation(sizes, order);
    Value result = emptyOf(b, turned, f32());
    int64_t ratio = op.getSamplingRatio();
    if (ratio > 0)
      return pooled({rois.lowered, batches.lowered, sizes[0], {ratio, ratio}},
                    result);
    return visit(b, {sizes[0]}, {result},
                 [&](ArrayRef<Index> at, Tensors carried) {
                   return Tensors{one(at[0], turned, carried[0])};
                 })[0];
  }

  SmallVector<int64_t> back() const { return invertPermutationVector(order); }

private:
  Type f32() const { return b.getF32Type(); }
  bool channelsLast() const { return order[1] != 1; }
  int64_t cells(int64_t dim) {
    return dim ? op.getOutputWidth() : op.getOutputHeight();
  }

  Scalar asReal(ScalarBuilder &scalars, Index index) const {
    Value whole =
        arith::IndexCastOp::create(scalars, b.getI32Type(), index.in(scalars));
    return {scalars, arith::SIToFPOp::create(scalars, f32(), whole), f32()};
  }
  Scalar asWhole(ScalarBuilder &scalars, Scalar x) const {
    Type whole = b.getI32Type();
    return {scalars, arith::FPToSIOp::create(scalars, whole, x.value), whole};
  }
  Index asIndex(ScalarBuilder &scalars, Scalar x) const {
    return {scalars, arith::IndexCastOp::create(scalars, scalars.getIndexType(),
                                                x.value)};
  }

  // Where the cells of a region begin along a dimension, and how long each is.
  std::pair<Scalar, Scalar> cellsBetween(Scalar begin, Scalar end,
                                         int64_t dim) {
    bool half = op.getCoordinateTransformationMode() == "half_pixel";
    auto scaled = [&](Scalar edge) {
      Scalar pixels = cast(edge, f32()) * op.getSpatialScale();
      return half ? pixels - 0.5 : pixels;
    };
    begin = scaled(begin);
    Scalar length = scaled(end) - begin;
    return {begin, (half ? length : greatest(length, 1)) / cells(dim)};
  }

  // The part of the result that is a region with its own number of samples.
  Value one(Index region, ArrayRef<Index> sizes, Value result) {
    ScalarBuilder scalars(b, b.getLoc(), f32());
    auto samples = [&](int64_t dim) {
      auto edge = [&](int64_t column) {
        return scalarAt(scalars, rois.lowered, rois.element, {region, column});
      };
      Scalar count =
          ceil(cellsBetween(edge(1 - dim), edge(3 - dim), dim).second);
      Scalar most = cast(Scalar(mostSamples), count);
      Scalar safe = select(count >= 0, select(count <= most, count, most), 0);
      return asIndex(scalars, asWhole(scalars, safe));
    };
    Regions here = {sliced(b, rois.lowered, {region, 0}, {1, 4}),
                    sliced(b, batches.lowered, {region}, {1}),
                    1,
                    {samples(0), samples(1)}};
    Sizes begin(4, 0), part(sizes);
    begin[0] = region;
    part[0] = 1;
    Value cut = pooled(here, sliced(b, result, begin, part));
    return tensor::InsertSliceOp::create(b, cut, result, folded(b, begin),
                                         folded(b, part),
                                         folded(b, Sizes(4, 1)));
  }

  // A region of no samples is 0.
  Value start(const Regions &regions) {
    ScalarBuilder scalars(b, b.getLoc(), f32());
    Scalar zero = cast(Scalar(0), Scalar(scalars, {}, f32()));
    if (!takesGreatest)
      return zero.value;
    Scalar least = cast(Scalar(-infinity), zero);
    Condition none = regions.samples[0] * regions.samples[1] == 0;
    return select(Scalar(scalars, none.in(b), b.getI1Type()), zero, least)
        .value;
  }

  Tables tablesAlong(const Regions &regions, int64_t dim) {
    Index samples = regions.samples[dim];
    Type whole = b.getI32Type();
    SmallVector<Type> types = {whole, whole, f32(), f32()};
    SmallVector<Value> tables;
    for (Type type : types)
      tables.push_back(
          emptyOf(b, Sizes{regions.count, cells(dim), samples}, type));
    // A region is x, y, x, y.
    auto edge = [&](int64_t column) {
      return AffineMap::get(
          3, 0, {b.getAffineDimExpr(0), b.getAffineConstantExpr(column)},
          b.getContext());
    };
    SmallVector<AffineMap> maps = {edge(1 - dim), edge(3 - dim)};
    maps.append(types.size(), b.getMultiDimIdentityMap(3));
    auto body = [&](ScalarBuilder &scalars, ArrayRef<Scalar> edges) {
      return neighbours(scalars, edges, dim, samples);
    };
    tables =
        generic(b, {regions.edges, regions.edges}, {rois.element, rois.element},
                tables, types, maps, parallel(3), body);
    return {tables[0], tables[1], tables[2], tables[3]};
  }

  // What Tables hold. The weights of rows and columns make a mean.
  SmallVector<Scalar> neighbours(ScalarBuilder &scalars, ArrayRef<Scalar> edges,
                                 int64_t dim, Index samples) {
    auto place = [&](int64_t loop) {
      return asReal(scalars, {scalars, linalg::IndexOp::create(scalars, loop)});
    };
    auto [begin, cell] = cellsBetween(edges[0], edges[1], dim);
    Scalar number = asReal(scalars, samples);
    Scalar where = begin + place(1) * cell + (place(2) + 0.5) * (cell / number);
    Scalar size = asReal(scalars, x.sizes[2 + dim]), last = size - 1;
    Scalar inside = where >= -1 && where <= size;
    Scalar clamped = least(greatest(where, 0), last), low = floor(clamped);
    Scalar share = clamped - low, rest = 1 - share;
    // NaN and what is far outside become numbers that fit before the cast; the
    // size of a long image may have been rounded up.
    Value most = arith::IndexCastOp::create(scalars, b.getI32Type(),
                                            (x.sizes[2 + dim] - 1).in(scalars));
    auto pixel = [&](Scalar position, Scalar otherwise) {
      return least(asWhole(scalars, select(inside, position, otherwise)),
                   Scalar(scalars, most, b.getI32Type()));
    };
    return {pixel(low, -1), pixel(least(low + 1, last), 0),
            takesGreatest ? rest : rest / number,
            takesGreatest ? share : share / number};
  }

  // The samples of a row and a column of them, mixed from four pixels.
  Scalar sample(ScalarBuilder &scalars, ArrayRef<Scalar> row,
                ArrayRef<Scalar> column, Scalar batch, int64_t channelLoop) {
    Scalar inside = row[0] >= 0 && column[0] >= 0;
    Index channel = {scalars, linalg::IndexOp::create(scalars, channelLoop)};
    Index width(scalars, x.sizes[3].in(scalars));
    auto pixel = [&](int64_t i, int64_t j) {
      Index point = asIndex(scalars, greatest(row[i], 0)) * width +
                    asIndex(scalars, greatest(column[j], 0));
      SmallVector<Index> at = {asIndex(scalars, batch), point, channel};
      if (!channelsLast())
        std::swap(at[1], at[2]);
      Scalar value = scalarAt(scalars, image, x.element, at);
      return cast(value, f32()) * (row[2 + i] * column[2 + j]);
    };
    Scalar a = pixel(0, 0), b = pixel(0, 1), c = pixel(1, 0), d = pixel(1, 1);
    Scalar mixed = takesGreatest ? greatest(greatest(a, b), greatest(c, d))
                                 : a + b + c + d;
    return select(inside, mixed, 0);
  }

  // Folds the samples of each cell into `result`.
  Value pooled(const Regions &regions, Value result) {
    Value filled = linalg::FillOp::create(b, start(regions), result).result();
    int64_t row = channelsLast() ? 1 : 2, column = row + 1,
            channel = channelsLast() ? 3 : 1;
    auto mapTo = [&](ArrayRef<int64_t> loops) {
      return AffineMap::getMultiDimMapWithTargets(
          6, SmallVector<unsigned>(loops), b.getContext());
    };
    SmallVector<Value> inputs = {regions.batches};
    SmallVector<AffineMap> maps = {mapTo({0})};
    for (int64_t dim : {0, 1}) {
      Tables tables = tablesAlong(regions, dim);
      inputs.append(
          {tables.low, tables.high, tables.lowWeight, tables.highWeight});
      maps.append(4, mapTo({0, dim ? column : row, 4 + dim}));
    }
    maps.push_back(mapTo({0, 1, 2, 3}));
    SmallVector<Type> types = {batches.element};
    for (Value table : ArrayRef(inputs).drop_front())
      types.push_back(getElementTypeOrSelf(table));
    SmallVector<IteratorType> loops = parallel(4);
    loops.append(2, IteratorType::reduction);
    auto body = [&](ScalarBuilder &scalars, ArrayRef<Scalar> args) {
      Scalar next =
          sample(scalars, args.slice(1, 4), args.slice(5, 4), args[0], channel);
      return SmallVector<Scalar>{takesGreatest ? greatest(args[9], next)
                                               : args[9] + next};
    };
    return generic(b, inputs, types, filled, f32(), maps, loops, body)[0];
  }

  ImplicitLocOpBuilder &b;
  RoiAlignOp op;
  const Input &x, &rois, &batches;
  bool takesGreatest;
  SmallVector<int64_t> order;
  Value image;
};

Value narrowed(ImplicitLocOpBuilder &builder, Value value,
               ArrayRef<Index> sizes, Type element) {
  if (element.isF32())
    return value;
  AffineMap each = builder.getMultiDimIdentityMap(sizes.size());
  auto body = [&](ScalarBuilder &, ArrayRef<Scalar> args) {
    return SmallVector<Scalar>{cast(args[0], element)};
  };
  return generic(builder, value, builder.getF32Type(),
                 emptyOf(builder, sizes, element), element, {each, each},
                 parallel(sizes.size()), body)[0];
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
    const Input &x = inputs[0], &rois = inputs[1], &batches = inputs[2];
    if (failed(shapes) || failed(requireRegions(builder, op, x, rois, 4)))
      return failure();
    auto inside = [&](Index batch, ArrayRef<Index>) {
      return batch >= 0 && batch < x.sizes[0];
    };
    if (failed(require(builder, batches.sizes[0] == rois.sizes[0],
                       Status::Shape, op, "needs one for each region",
                       "batch_indices")) ||
        failed(requireAll(builder, batches, inside, Status::Index, op,
                          "is outside the batch", "batch_indices")))
      return failure();
    Aligner aligner(builder, op, x, rois, batches);
    Value result = transposed(builder, builder.getLoc(),
                              aligner.all(shapes->front()), aligner.back());
    result = narrowed(builder, result, shapes->front(), x.element);
    rewriter.replaceOp(
        op,
        castTo(builder, result, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

void addRoiAlignPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerRoiAlign>(types, patterns.getContext());
}

} // namespace onnxc
