// Pools: a fold over windows that slide over the image, channels last, then
// one pass that finishes each sum.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/Windowing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
namespace {

struct Pool {
  ImplicitLocOpBuilder &builder;
  PoolOpInterface op;
  Window window;
  Type element; // of image and result
  Sizes sizes;  // of the result, channels last
  Value image;  // channels last, padded
  int64_t spatial() const { return window.size(); }
  int64_t dims() const { return 2 + 2 * spatial(); }
};

// Loops: batch, image, channels, window. The second operand has the window's
// sizes and no elements that are read.
SmallVector<AffineMap> mapsOf(Pool &pool, int64_t results) {
  Builder &builder = pool.builder;
  int64_t spatial = pool.spatial(), channel = 1 + spatial;
  SmallVector<AffineExpr> image = {builder.getAffineDimExpr(0)}, window;
  for (auto [i, dim] : llvm::enumerate(pool.window)) {
    window.push_back(builder.getAffineDimExpr(channel + 1 + i));
    image.push_back(builder.getAffineDimExpr(1 + i) * *dim.stride.number +
                    window.back() * *dim.dilation.number);
  }
  image.push_back(builder.getAffineDimExpr(channel));
  MLIRContext *context = builder.getContext();
  SmallVector<AffineMap> maps = {
      AffineMap::get(pool.dims(), 0, image, context),
      AffineMap::get(pool.dims(), 0, window, context)};
  maps.append(results,
              AffineMap::getMinorIdentityMap(pool.dims(), 0, context));
  for (int64_t i = 0; i < results; ++i)
    maps[2 + i] = AffineMap::getMultiDimIdentityMap(pool.dims(), context)
                      .getMajorSubMap(channel + 1);
  return maps;
}

Value windowSizes(Pool &pool) {
  Sizes sizes;
  for (const WindowDim &dim : pool.window)
    sizes.push_back(dim.kernel);
  return emptyOf(pool.builder, sizes, pool.element);
}

Value filled(Pool &pool, Scalar with, Type element) {
  ScalarBuilder scalars(pool.builder, pool.builder.getLoc(), element);
  return linalg::FillOp::create(pool.builder, store(scalars, with, element),
                                emptyOf(pool.builder, pool.sizes, element))
      .getResult(0);
}

Scalar number(ScalarBuilder &scalars, Index index) {
  ImplicitLocOpBuilder &builder = scalars;
  return {scalars,
          arith::IndexCastOp::create(builder, builder.getI64Type(),
                                     index.in(builder)),
          builder.getI64Type()};
}

// Where the elements of the window at the current position lie in the tensor
// as the model has it, counted from its first element.
Index flatPosition(ImplicitLocOpBuilder &builder, Pool &pool,
                   const Input &x, bool columnMajor) {
  auto at = [&](int64_t dim) -> Index {
    return {builder, linalg::IndexOp::create(builder, dim)};
  };
  int64_t spatial = pool.spatial(), channel = 1 + spatial;
  Sizes position = {at(0), at(channel)}, sizes = x.sizes;
  for (auto [i, dim] : llvm::enumerate(pool.window))
    position.push_back(at(1 + i) * dim.stride +
                       at(channel + 1 + i) * dim.dilation - dim.before);
  if (columnMajor) {
    std::reverse(position.begin() + 2, position.end());
    std::reverse(sizes.begin() + 2, sizes.end());
  }
  return linearize(position, sizes);
}

SmallVector<Value> foldWindows(Pool &pool, const Input &x,
                               bool withPositions, bool columnMajor) {
  ImplicitLocOpBuilder &builder = pool.builder;
  Type wide = computeType(pool.element), int64 = builder.getI64Type();
  SmallVector<Value> starts = {filled(pool, pool.op.identity(), wide)};
  SmallVector<Type> types = {wide};
  if (withPositions) {
    starts.push_back(filled(pool, 0, int64));
    types.push_back(int64);
  }
  SmallVector<IteratorType> iterators = parallel(pool.dims());
  for (int64_t i = 2 + pool.spatial(); i < pool.dims(); ++i)
    iterators[i] = IteratorType::reduction;
  auto body = [&](ScalarBuilder &scalars, ArrayRef<Scalar> args) {
    SmallVector<Scalar> folded = {pool.op.combine(args[2], args[0])};
    if (withPositions) {
      ImplicitLocOpBuilder &inner = scalars;
      Index flat = flatPosition(inner, pool, x, columnMajor);
      folded.push_back(
          select(args[0] > args[2], number(scalars, flat), args[3]));
    }
    return folded;
  };
  return generic(builder, {pool.image, windowSizes(pool)},
                 {pool.element, pool.element}, starts, types,
                 mapsOf(pool, starts.size()), iterators, body);
}

// How many elements of the image, and of its padding where that counts, the
// window at `position` has along one dimension.
Index countAlong(const WindowDim &dim, Index position, bool countsPadding) {
  Index first = position * dim.stride - dim.before;
  Index begin = countsPadding ? 0 - dim.before : Index(0);
  Index end = countsPadding ? dim.image + dim.after : dim.image;
  Index skipped = ceilDiv(greatest(begin - first, 0), dim.dilation);
  Index reached = ceilDiv(greatest(end - first, 0), dim.dilation);
  return least(reached, dim.kernel) - skipped;
}

Value finishWindows(Pool &pool, Value folded) {
  bool countsPadding = pool.op.countsPadding();
  int64_t rank = pool.sizes.size();
  AffineMap identity = pool.builder.getMultiDimIdentityMap(rank);
  auto body = [&](ScalarBuilder &scalars, ArrayRef<Scalar> args) {
    ImplicitLocOpBuilder &builder = scalars;
    Index count = 1;
    for (auto [i, dim] : llvm::enumerate(pool.window)) {
      bool whole = dim.touchedAfter().is(0) && dim.before.is(0);
      bool padded = countsPadding && dim.touchedAfter().number &&
                    (dim.touchedAfter() <= dim.after).isTrue();
      Index position = {builder, linalg::IndexOp::create(builder, 1 + i)};
      count = count * (whole || padded
                           ? dim.kernel
                           : countAlong(dim, position, countsPadding));
    }
    Scalar elements =
        count.number ? Scalar(*count.number) : number(scalars, count);
    return SmallVector<Scalar>{pool.op.finish(args[0], elements)};
  };
  return generic(pool.builder, folded, computeType(pool.element),
                 emptyOf(pool.builder, pool.sizes, pool.element), pool.element,
                 {identity, identity}, parallel(rank), body)
      .front();
}

struct LowerPool : OpInterfaceConversionPattern<PoolOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;
  LogicalResult
  matchAndRewrite(PoolOpInterface op, ArrayRef<Value> lowered,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, lowered);
    const Input &x = inputs[0];
    auto shapes = resultSizes(cast<SizedOpInterface>(op.getOperation()), inputs);
    if (failed(shapes))
      return failure();
    FailureOr<Window> window = op.window(inputs);
    if (failed(window))
      return failure();
    ScalarBuilder scalars(builder, op.getLoc(), x.element);
    Value border = store(scalars, op.identity(), x.element);
    Value image = padImage(builder, toChannelsLast(builder, x.lowered), *window,
                           border);
    Pool pool{builder, op, *window, x.element, channelsLast(shapes->front()),
              image};
    bool withPositions = op->getNumResults() > 1 && !op->getResult(1).use_empty();
    auto order = op->getAttrOfType<IntegerAttr>("storage_order");
    SmallVector<Value> results =
        foldWindows(pool, x, withPositions, order && order.getInt() == 1);
    results[0] = finishWindows(pool, results[0]);
    for (Value &result : results)
      result = toChannelsFirst(builder, result);
    if (op->getNumResults() > 1 && !withPositions) // nobody reads them
      results.push_back(emptyOf(builder, shapes->front(), builder.getI64Type()));
    for (auto [value, result] : llvm::zip_equal(results, op->getResults()))
      value = castTo(builder, value,
                     getTypeConverter()->convertType(result.getType()));
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void addWindowPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerPool>(types, patterns.getContext());
}

} // namespace onnxc
