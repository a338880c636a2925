// Pools: a fold over windows that slide over the image, channels last, then
// one pass that finishes each sum. A large window is folded along one dimension
// after another: 5 + 5 elements instead of 5 * 5.
#include "dialects/onnx/Families.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/tensor/Windowing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
namespace {

// Elements that could be folded while one is kept and read again.
constexpr double foldInBetween = 5;

struct Pool {
  ImplicitLocOpBuilder &builder;
  PoolOpInterface op;
  Window window;
  Type element; // of image and result
  Sizes sizes;  // of the result, channels last
  int64_t spatial() const { return window.size(); }
};

// A fold of the window along some dimensions of the image.
struct Fold {
  SmallVector<int64_t> along;
  Value image; // channels last, padded along these
  Type element;
  Sizes sizes;          // of the result
  bool isLater = false; // of what is folded along others
  int64_t dims() const { return sizes.size() + along.size(); }
};

// Loops: batch, image, channels, window. The second operand has the window's
// sizes and no elements that are read.
SmallVector<AffineMap> mapsOf(Pool &pool, const Fold &fold, int64_t results) {
  Builder &builder = pool.builder;
  int64_t rank = fold.sizes.size();
  SmallVector<AffineExpr> image, window;
  for (int64_t i = 0; i < rank; ++i)
    image.push_back(builder.getAffineDimExpr(i));
  for (int64_t dim : fold.along) {
    const WindowDim &slides = pool.window[dim];
    window.push_back(builder.getAffineDimExpr(rank + window.size()));
    image[1 + dim] = image[1 + dim] * *slides.stride.number +
                     window.back() * *slides.dilation.number;
  }
  MLIRContext *context = builder.getContext();
  SmallVector<AffineMap> maps = {
      AffineMap::get(fold.dims(), 0, image, context),
      AffineMap::get(fold.dims(), 0, window, context)};
  maps.append(results, AffineMap::getMultiDimIdentityMap(fold.dims(), context)
                           .getMajorSubMap(rank));
  return maps;
}

Value windowSizes(Pool &pool, const Fold &fold) {
  Sizes sizes;
  for (int64_t dim : fold.along)
    sizes.push_back(pool.window[dim].kernel);
  return emptyOf(pool.builder, sizes, fold.element);
}

Value filled(Pool &pool, const Fold &fold, Scalar with, Type element) {
  ScalarBuilder scalars(pool.builder, pool.builder.getLoc(), element);
  return linalg::FillOp::create(pool.builder, store(scalars, with, element),
                                emptyOf(pool.builder, fold.sizes, element))
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
Index flatPosition(ImplicitLocOpBuilder &builder, Pool &pool, const Input &x,
                   bool columnMajor) {
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

SmallVector<Value> foldWindows(Pool &pool, const Fold &fold, const Input &x,
                               bool withPositions, bool columnMajor) {
  ImplicitLocOpBuilder &builder = pool.builder;
  Type wide = computeType(pool.element), int64 = builder.getI64Type();
  SmallVector<Value> starts = {filled(pool, fold, pool.op.identity(), wide)};
  SmallVector<Type> types = {wide};
  if (withPositions) {
    starts.push_back(filled(pool, fold, 0, int64));
    types.push_back(int64);
  }
  SmallVector<IteratorType> iterators = parallel(fold.dims());
  for (int64_t i = fold.sizes.size(); i < fold.dims(); ++i)
    iterators[i] = IteratorType::reduction;
  auto body = [&](ScalarBuilder &scalars, ArrayRef<Scalar> args) {
    Scalar element = fold.isLater ? args[0] : pool.op.element(args[0]);
    SmallVector<Scalar> folded = {pool.op.combine(args[2], element)};
    if (withPositions) {
      ImplicitLocOpBuilder &inner = scalars;
      Index flat = flatPosition(inner, pool, x, columnMajor);
      folded.push_back(
          select(args[0] > args[2], number(scalars, flat), args[3]));
    }
    return folded;
  };
  return generic(builder, {fold.image, windowSizes(pool, fold)},
                 {fold.element, fold.element}, starts, types,
                 mapsOf(pool, fold, starts.size()), iterators, body);
}

Fold foldAlong(Pool &pool, ArrayRef<int64_t> along, Value image, Type element,
               const Sizes &sizes) {
  Window window(pool.spatial(), WindowDim{1, 1, 1, 0, 0, 1, 1});
  for (int64_t dim : along)
    window[dim] = pool.window[dim];
  ScalarBuilder scalars(pool.builder, pool.builder.getLoc(), element);
  Value border = store(scalars, pool.op.identity(), element);
  return {llvm::to_vector(along), padImage(pool.builder, image, window, border),
          element, sizes};
}

// Whether fewer elements are folded, and as many more as it takes to keep and
// read what is folded in between, along one dimension after another. Sums are
// rounded in another order then.
bool isWorthSplitting(Pool &pool) {
  double whole = 1, split = -foldInBetween, images = 1;
  for (const WindowDim &dim : pool.window) {
    if (!dim.kernel.number || isStrict(pool.op->getParentOfType<ModuleOp>()))
      return false;
    whole *= *dim.kernel.number;
    split += images * (*dim.kernel.number + foldInBetween);
    images *= dim.image.number && dim.result.number
                  ? double(*dim.image.number) /
                        std::max<int64_t>(*dim.result.number, 1)
                  : double(*dim.stride.number);
  }
  return split < whole;
}

// The last dimension first, whose pixels lie side by side.
Value foldOneByOne(Pool &pool, const Input &x, Value image) {
  Type element = pool.element;
  Sizes sizes = pool.sizes;
  for (int64_t dim = 0; dim < pool.spatial(); ++dim)
    sizes[1 + dim] = pool.window[dim].image;
  for (int64_t dim = pool.spatial() - 1; dim >= 0; --dim) {
    sizes[1 + dim] = pool.window[dim].result;
    Fold fold = foldAlong(pool, dim, image, element, sizes);
    fold.isLater = dim + 1 != pool.spatial();
    image = foldWindows(pool, fold, x, /*withPositions=*/false,
                        /*columnMajor=*/false)
                .front();
    element = computeType(pool.element);
  }
  return image;
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

// Whether a window has as many elements wherever it is.
bool isCountFixed(Pool &pool, const WindowDim &dim) {
  bool isWhole = dim.touchedAfter().is(0) && dim.before.is(0);
  bool isPadded = pool.op.countsPadding() && dim.touchedAfter().number &&
                  (dim.touchedAfter() <= dim.after).isTrue();
  return isWhole || isPadded;
}

bool readsCount(Pool &pool, Type wide) {
  Block scratch;
  Location loc = pool.builder.getLoc();
  Value sum = scratch.addArgument(wide, loc);
  BlockArgument count = scratch.addArgument(wide, loc);
  OpBuilder inside(pool.builder.getContext());
  inside.setInsertionPointToEnd(&scratch);
  ScalarBuilder scalars(inside, loc, wide);
  (void)pool.op.finish(load(scalars, sum, wide), load(scalars, count, wide));
  return !count.use_empty();
}

// The counts along a dimension as a constant, where they are known.
Value constantCounts(Pool &pool, const WindowDim &dim, FloatType type) {
  if (!dim.result.number)
    return {};
  SmallVector<APFloat> counts;
  for (int64_t at = 0; at < *dim.result.number; ++at) {
    Index count = countAlong(dim, at, pool.op.countsPadding());
    if (!count.number)
      return {};
    counts.push_back(APFloat(double(*count.number)));
    bool losesInfo;
    counts.back().convert(type.getFloatSemantics(),
                          APFloat::rmNearestTiesToEven, &losesInfo);
  }
  auto tensor = RankedTensorType::get(*dim.result.number, type);
  return arith::ConstantOp::create(pool.builder,
                                   DenseElementsAttr::get(tensor, counts));
}

// The counts along a dimension, so that the finish is elementwise and joins the
// fold; null where they do not differ.
Value countsOf(Pool &pool, const WindowDim &dim, Type wide) {
  auto type = dyn_cast<FloatType>(wide);
  if (!type || isCountFixed(pool, dim))
    return {};
  if (Value counts = constantCounts(pool, dim, type))
    return counts;
  ImplicitLocOpBuilder &builder = pool.builder;
  auto body = [&](ScalarBuilder &scalars, ArrayRef<Scalar>) {
    ImplicitLocOpBuilder &inside = scalars;
    Index at = {inside, linalg::IndexOp::create(inside, 0)};
    Scalar count =
        number(scalars, countAlong(dim, at, pool.op.countsPadding()));
    return SmallVector<Scalar>{cast(count, type)};
  };
  return generic(builder, ValueRange(), ArrayRef<Type>(),
                 emptyOf(builder, Sizes{dim.result}, type), type,
                 builder.getMultiDimIdentityMap(1), parallel(1), body)
      .front();
}

Value finishWindows(Pool &pool, Value folded) {
  ImplicitLocOpBuilder &builder = pool.builder;
  Type wide = computeType(pool.element);
  int64_t rank = pool.sizes.size();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  SmallVector<Value> inputs = {folded};
  SmallVector<AffineMap> maps = {identity};
  SmallVector<unsigned> inputOf(pool.spatial(), 0); // with a dimension's counts
  bool isRead = readsCount(pool, wide);
  for (auto [i, dim] : llvm::enumerate(pool.window))
    if (Value counts = isRead ? countsOf(pool, dim, wide) : Value()) {
      inputOf[i] = inputs.size();
      inputs.push_back(counts);
      maps.push_back(AffineMap::get(rank, 0, builder.getAffineDimExpr(1 + i)));
    }
  maps.push_back(identity);
  auto body = [&](ScalarBuilder &scalars, ArrayRef<Scalar> args) {
    ImplicitLocOpBuilder &inside = scalars;
    Index count = 1;
    for (auto [i, dim] : llvm::enumerate(pool.window)) {
      if (inputOf[i])
        continue;
      Index position = {inside, linalg::IndexOp::create(inside, 1 + i)};
      count =
          count * (isCountFixed(pool, dim)
                       ? dim.kernel
                       : countAlong(dim, position, pool.op.countsPadding()));
    }
    Scalar elements =
        count.number ? Scalar(*count.number) : number(scalars, count);
    for (Scalar other : args.slice(1, inputs.size() - 1))
      elements = elements * other;
    return SmallVector<Scalar>{pool.op.finish(args[0], elements)};
  };
  return generic(builder, inputs, SmallVector<Type>(inputs.size(), wide),
                 emptyOf(builder, pool.sizes, pool.element), pool.element, maps,
                 parallel(rank), body)
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
    auto shapes =
        resultSizes(cast<SizedOpInterface>(op.getOperation()), inputs);
    if (failed(shapes))
      return failure();
    FailureOr<Window> window = op.window(inputs);
    if (failed(window))
      return failure();
    if (llvm::any_of(shapes->front(), [](Index size) { return size.is(0); }))
      return replaceByNothing(builder, op, *shapes, rewriter);
    Pool pool{builder, op, *window, x.element, channelsLast(shapes->front())};
    Value image = toChannelsLast(builder, x.lowered);
    bool withPositions =
        op->getNumResults() > 1 && !op->getResult(1).use_empty();
    auto order = op->getAttrOfType<IntegerAttr>("storage_order");
    SmallVector<Value> results;
    if (!withPositions && isWorthSplitting(pool))
      results = {foldOneByOne(pool, x, image)};
    else
      results = foldWindows(pool,
                            foldAlong(pool, range(0, pool.spatial()), image,
                                      pool.element, pool.sizes),
                            x, withPositions, order && order.getInt() == 1);
    results[0] = finishWindows(pool, results[0]);
    for (Value &result : results)
      result = toChannelsFirst(builder, result);
    if (op->getNumResults() > 1 && !withPositions) // nobody reads them
      results.push_back(
          emptyOf(builder, shapes->front(), builder.getI64Type()));
    for (auto [value, result] : llvm::zip_equal(results, op->getResults()))
      value = castTo(builder, value,
                     getTypeConverter()->convertType(result.getType()));
    rewriter.replaceOp(op, results);
    return success();
  }

  // Where no window fits into the image.
  LogicalResult replaceByNothing(ImplicitLocOpBuilder &builder, Operation *op,
                                 ArrayRef<Sizes> shapes,
                                 ConversionPatternRewriter &rewriter) const {
    SmallVector<Value> results;
    for (OpResult result : op->getResults()) {
      auto type = cast<RankedTensorType>(
          getTypeConverter()->convertType(result.getType()));
      Value none = emptyOf(builder, shapes.front(), type.getElementType());
      results.push_back(castTo(builder, none, type));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void addWindowPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerPool>(types, patterns.getContext());
}

} // namespace onnxc
