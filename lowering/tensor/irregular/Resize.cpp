// Resize, one axis after another: every mode is a sum of neighbours with
// weights that depend on the position along the axis only. Two small tables
// hold positions and weights, so that the loop over the image is a gather.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/Inputs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
namespace {

struct Axis {
  int64_t dim;
  Index from, to;
  Value scale;           // f64
  Value roiBegin, roiEnd; // f64
  bool unchanged = false;
};

Scalar asReal(ScalarBuilder &scalars, Index index) {
  Type f64 = scalars.getF64Type();
  if (index.number)
    return cast(Scalar(double(*index.number)), Scalar(scalars, {}, f64));
  Value wide = arith::IndexCastOp::create(scalars, scalars.getI64Type(),
                                          index.value);
  return {scalars, arith::SIToFPOp::create(scalars, f64, wide), f64};
}

Index whole(ScalarBuilder &scalars, ImplicitLocOpBuilder &builder, Scalar x) {
  Value number = arith::FPToSIOp::create(scalars, scalars.getI64Type(), x.value);
  return {builder, arith::IndexCastOp::create(
                       scalars, scalars.getIndexType(), number)};
}

// Where the centre of an element of the result lies in the image.
Scalar original(ScalarBuilder &scalars, const Axis &axis, Scalar x,
                StringRef mode) {
  Type f64 = scalars.getF64Type();
  Scalar scale(scalars, axis.scale, f64);
  Scalar from = asReal(scalars, axis.from), to = asReal(scalars, axis.to);
  Scalar exact = scale * from; // the result's size before it was rounded
  if (mode == "align_corners")
    return select(exact == 1, 0, x * (from - 1) / (exact - 1));
  if (mode == "asymmetric")
    return x / scale;
  if (mode == "tf_crop_and_resize") {
    Scalar begin(scalars, axis.roiBegin, f64), end(scalars, axis.roiEnd, f64);
    Scalar span = (end - begin) * (from - 1);
    return select(to == 1, span / 2, x * span / (to - 1)) + begin * (from - 1);
  }
  Scalar half = (x + 0.5) / scale - 0.5;
  if (mode == "pytorch_half_pixel")
    return select(to == 1, -0.5, half);
  if (mode == "half_pixel_symmetric")
    return from / 2 * (1 - to / exact) + half;
  return half;
}

struct Resampling {
  mutable ResizeOp op; // getters are not const
  bool nearest, cubic, antialias;

  // The weight of a neighbour at a distance from the position.
  Scalar weight(Scalar distance) const {
    Scalar x = abs(distance);
    if (!cubic)
      return greatest(1 - x, 0);
    double a = op.getCubicCoeffA();
    Scalar inner = ((a + 2) * x - (a + 3)) * x * x + 1;
    Scalar outer = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    return select(x <= 1, inner, select(x < 2, outer, 0));
  }
  // Of the two nearest neighbours, whether it is the second.
  Scalar second(Scalar ratio, Scalar scale) const {
    StringRef mode = op.getNearestMode();
    if (mode == "ceil_where_smaller") // as before opset 11
      return ratio >= select(scale < 1, 0, cast(Scalar(1.0), ratio));
    if (mode == "floor")
      return ratio >= 1;
    if (mode == "ceil")
      return ratio > 0;
    return mode == "round_prefer_ceil" ? ratio >= 0.5 : ratio > 0.5;
  }
};

struct Tables {
  Value positions, weights; // (size of the result, neighbours); f64 weights
  Index neighbours;
};

// Smaller than 1 where the image shrinks and neighbours are as many more.
Scalar stretch(ScalarBuilder &scalars, const Resampling &how, const Axis &axis) {
  Scalar scale(scalars, axis.scale, scalars.getF64Type());
  return how.antialias ? least(scale, 1)
                       : cast(Scalar(1.0), Scalar(scalars, {}, scale.type));
}

// First neighbour, counted from the element at or left of the position.
Scalar firstNeighbour(ScalarBuilder &scalars, const Resampling &how,
                      const Axis &axis) {
  double reach = how.cubic ? 2 : 1;
  return floor(-reach / stretch(scalars, how, axis)) + 1;
}

Tables tablesOf(ImplicitLocOpBuilder &builder, const Resampling &how,
                const Axis &axis) {
  Type f64 = builder.getF64Type(), int64 = builder.getI64Type();
  ScalarBuilder outside(builder, builder.getLoc(), f64);
  Tables tables;
  if (how.nearest)
    tables.neighbours = 1;
  else if (!how.antialias)
    tables.neighbours = how.cubic ? 4 : 2;
  else
    tables.neighbours = whole(
        outside, builder, 2 - 2 * firstNeighbour(outside, how, axis));
  Sizes sizes = {axis.to, tables.neighbours};
  Value empties[] = {
      tensor::EmptyOp::create(builder, folded(builder, sizes), int64),
      tensor::EmptyOp::create(builder, folded(builder, sizes), f64)};
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) {
    ScalarBuilder scalars(inner, loc, f64);
    ImplicitLocOpBuilder &at = scalars;
    Scalar x = original(
        scalars, axis,
        asReal(scalars, {at, linalg::IndexOp::create(scalars, 0)}),
        how.op.getCoordinateTransformationMode());
    // The ratio is in (0, 1]: the element on the left is preferred.
    Scalar base = ceil(x) - 1, ratio = x - base;
    Scalar tap = asReal(scalars, {at, linalg::IndexOp::create(scalars, 1)});
    Scalar position = base, weight = cast(Scalar(1.0), x);
    Scalar last = asReal(scalars, axis.from) - 1;
    if (how.nearest) {
      Scalar scale(scalars, axis.scale, f64);
      position = base + select(how.second(ratio, scale), cast(Scalar(1.0), x),
                               cast(Scalar(0.0), x));
    } else {
      Scalar offset = tap + firstNeighbour(scalars, how, axis);
      position = base + offset;
      weight = how.weight((offset - ratio) * stretch(scalars, how, axis));
      if (how.op.getExcludeOutside())
        weight = select(position < 0 || position > last, 0, weight);
    }
    if (how.op.getCoordinateTransformationMode() == "tf_crop_and_resize")
      weight = select(x < 0 || x > last, std::nan(""), weight);
    Scalar clamped = least(greatest(position, 0), last);
    Value whole = arith::FPToSIOp::create(scalars, int64, clamped.value);
    linalg::YieldOp::create(scalars, ValueRange{whole, weight.value});
  };
  AffineMap identity = builder.getMultiDimIdentityMap(2);
  auto loop = linalg::GenericOp::create(
      builder, TypeRange(ValueRange(empties)), ValueRange(), ValueRange(empties),
      {identity, identity}, parallel(2), body);
  tables.positions = loop.getResult(0);
  tables.weights = loop.getResult(1);
  return tables;
}

Index asPosition(ImplicitLocOpBuilder &builder, Value number) {
  return {builder, arith::IndexCastOp::create(builder, builder.getIndexType(),
                                              number)};
}

// The weights of a position add up to 1.
Value weightSums(ImplicitLocOpBuilder &builder, const Axis &axis,
                 const Tables &tables) {
  Type f64 = builder.getF64Type();
  Value zero = linalg::FillOp::create(builder, zeroOf(builder, f64),
                                      emptyOf(builder, {axis.to}, f64))
                   .getResult(0);
  MLIRContext *context = builder.getContext();
  AffineExpr i = getAffineDimExpr(0, context);
  auto body = [](ScalarBuilder &, ArrayRef<Scalar> args) {
    return SmallVector<Scalar>{args[0] + args[1]};
  };
  return generic(builder, tables.weights, f64, zero, f64,
                 {builder.getMultiDimIdentityMap(2),
                  AffineMap::get(2, 0, i, context)},
                 {IteratorType::parallel, IteratorType::reduction}, body)
      .front();
}

Value gatherNearest(ImplicitLocOpBuilder &builder, const Axis &axis, Value image,
                    Type element, ArrayRef<Index> sizes, const Tables &tables,
                    double extrapolated, bool mayLieOutside) {
  int64_t rank = sizes.size();
  Value empty = emptyOf(builder, sizes, element);
  auto body = [&](OpBuilder &, Location, ValueRange) {
    Sizes at;
    for (int64_t i = 0; i < rank; ++i)
      at.push_back({builder, linalg::IndexOp::create(builder, i)});
    Index row = at[axis.dim];
    at[axis.dim] =
        asPosition(builder, extract(builder, tables.positions, {row, 0}));
    Value value = extract(builder, image, at);
    if (mayLieOutside) {
      ScalarBuilder scalars(builder, builder.getLoc(), element);
      Scalar weight(scalars, extract(builder, tables.weights, {row, 0}),
                    builder.getF64Type());
      Scalar inside = weight == weight;
      value = store(scalars, select(inside, load(scalars, value, element),
                                    extrapolated),
                    element);
    }
    linalg::YieldOp::create(builder, value);
  };
  return linalg::GenericOp::create(builder, empty.getType(), ValueRange(),
                                   empty, builder.getMultiDimIdentityMap(rank),
                                   parallel(rank), body)
      .getResult(0);
}

Value interpolate(ImplicitLocOpBuilder &builder, const Resampling &how,
                  const Axis &axis, Value image, Type element,
                  ArrayRef<Index> sizes, const Tables &tables) {
  int64_t rank = sizes.size();
  MLIRContext *context = builder.getContext();
  Type wide = isa<FloatType>(element) ? computeType(element)
                                      : Type(builder.getF32Type());
  Value sums = weightSums(builder, axis, tables);
  Value start = linalg::FillOp::create(builder, zeroOf(builder, wide),
                                       emptyOf(builder, sizes, wide))
                    .getResult(0);
  AffineExpr row = getAffineDimExpr(axis.dim, context),
             tap = getAffineDimExpr(rank, context);
  SmallVector<AffineMap> maps = {
      AffineMap::get(rank + 1, 0, {row, tap}, context),
      AffineMap::get(rank + 1, 0, {row, tap}, context),
      AffineMap::get(rank + 1, 0, {row}, context),
      AffineMap::getMultiDimIdentityMap(rank + 1, context).getMajorSubMap(rank)};
  SmallVector<IteratorType> iterators = parallel(rank);
  iterators.push_back(IteratorType::reduction);
  auto body = [&](OpBuilder &, Location, ValueRange args) {
    ScalarBuilder scalars(builder, builder.getLoc(), wide);
    ImplicitLocOpBuilder &inner = scalars;
    Sizes at;
    for (int64_t i = 0; i < rank; ++i)
      at.push_back({inner, linalg::IndexOp::create(inner, i)});
    at[axis.dim] = asPosition(inner, args[0]);
    Type f64 = builder.getF64Type();
    Scalar weight(scalars, args[1], f64), sum(scalars, args[2], f64);
    Scalar x = load(scalars, extract(inner, image, at), element);
    Scalar share = cast(weight / sum, wide);
    Scalar old(scalars, args[3], wide);
    linalg::YieldOp::create(
        scalars, store(scalars, old + share * cast(x, wide), wide));
  };
  Value result =
      linalg::GenericOp::create(builder, start.getType(),
                                {tables.positions, tables.weights, sums}, start,
                                maps, iterators, body)
          .getResult(0);
  // NaN weights mark what lies outside the region of interest.
  bool mayLieOutside =
      how.op.getCoordinateTransformationMode() == "tf_crop_and_resize";
  if (wide == element && !mayLieOutside)
    return result;
  double extrapolated = how.op.getExtrapolationValue();
  auto finish = [&](ScalarBuilder &, ArrayRef<Scalar> args) {
    Scalar value = args[1];
    if (mayLieOutside)
      value = select(args[0] == args[0], value, extrapolated);
    return SmallVector<Scalar>{
        isa<FloatType>(element) ? value : saturate(round(value))};
  };
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  return generic(builder, {sums, result}, {builder.getF64Type(), wide},
                 emptyOf(builder, sizes, element), element,
                 {AffineMap::get(rank, 0, {row}, context), identity, identity},
                 parallel(rank), finish)
      .front();
}

struct LowerResize : OpConversionPattern<ResizeOp> {
  using OpConversionPattern::OpConversionPattern;

  // Operand `input` at `i`, as f64.
  static Value number(ScalarBuilder &scalars, const Input &input, int64_t i) {
    Scalar x = scalarAt(scalars, input, i);
    return cast(x, scalars.getF64Type()).value;
  }
  static Scalar scalarAt(ScalarBuilder &scalars, const Input &input, int64_t i) {
    Value element;
    if (auto known = constantFloats(input.original))
      element = arith::ConstantOp::create(
          scalars, scalars.getF64FloatAttr((*known)[i]));
    else
      return load(scalars, extract(scalars, input.lowered, {i}), input.element);
    return {scalars, element, scalars.getF64Type()};
  }

  static Value ratio(ScalarBuilder &scalars, Index to, Index from) {
    Scalar quotient = asReal(scalars, to) / asReal(scalars, from);
    return quotient.value;
  }

  // Sizes and scales of the axes that are named.
  static SmallVector<Axis> axesOf(ImplicitLocOpBuilder &builder, ResizeOp op,
                                  ArrayRef<Input> inputs) {
    ScalarBuilder scalars(builder, builder.getLoc(), builder.getF64Type());
    ResizeOp::GenericAdaptor<ArrayRef<Input>> adaptor(inputs, op);
    Input x = adaptor.getX(), scales = adaptor.getScales(),
          sizes = adaptor.getSizes(), roi = adaptor.getRoi();
    SmallVector<int64_t> dims =
        op.getAxes() ? SmallVector<int64_t>(*op.getAxes()) : range(0, x.rank());
    SmallVector<Axis> axes;
    bool bySizes = sizes.given() && !sizes.sizes[0].is(0);
    bool crops = op.getCoordinateTransformationMode() == "tf_crop_and_resize";
    for (auto [i, dim] : llvm::enumerate(dims)) {
      Axis axis;
      axis.dim = wrap(dim, x.rank());
      axis.from = x.sizes[axis.dim];
      if (bySizes) {
        axis.to = sizes.at({int64_t(i)});
        axis.scale = ratio(scalars, axis.to, axis.from);
      } else {
        axis.scale = number(scalars, scales, i);
        Scalar scale(scalars, axis.scale, scalars.getF64Type());
        axis.to = whole(scalars, builder,
                        onnxc::floor(scale * asReal(scalars, axis.from)));
      }
      auto known = bySizes ? std::nullopt : constantFloats(scales.original);
      axis.unchanged = !crops && (bySizes ? surelyEqual(axis.from, axis.to)
                                          : known && (*known)[i] == 1);
      if (crops && roi.given()) {
        axis.roiBegin = number(scalars, roi, i);
        axis.roiEnd = number(scalars, roi, i + dims.size());
      }
      axes.push_back(axis);
    }
    if (bySizes && op.getKeepAspectRatioPolicy() != "stretch")
      keepAspectRatio(scalars, builder, axes, op.getKeepAspectRatioPolicy());
    return axes;
  }

  static void keepAspectRatio(ScalarBuilder &scalars,
                              ImplicitLocOpBuilder &builder,
                              SmallVector<Axis> &axes, StringRef policy) {
    Type f64 = scalars.getF64Type();
    Scalar scale(scalars, axes[0].scale, f64);
    for (const Axis &axis : axes) {
      Scalar other(scalars, axis.scale, f64);
      scale = policy == "not_larger" ? least(scale, other)
                                     : greatest(scale, other);
    }
    for (Axis &axis : axes) {
      axis.scale = scale.value;
      Scalar size = scale * asReal(scalars, axis.from);
      axis.to = whole(scalars, builder, onnxc::floor(size + 0.5));
      axis.unchanged = false;
    }
  }

  LogicalResult
  matchAndRewrite(ResizeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    if (!isa<RankedTensorType>(op.getType()))
      return op->emitError("the rank of a result is not known");
    Shape known = shapeOf(op.getType());
    StringRef mode = op.getMode();
    Resampling how = {op, mode == "nearest", mode == "cubic",
                      op.getAntialias() != 0};
    bool crops = op.getCoordinateTransformationMode() == "tf_crop_and_resize";
    Value image = inputs[0].lowered;
    Type element = inputs[0].element;
    Sizes sizes = inputs[0].sizes;
    for (Axis axis : axesOf(builder, op, inputs)) {
      if (axis.unchanged)
        continue;
      if (known[axis.dim].isStatic())
        axis.to = known[axis.dim].size;
      if (failed(require(builder, axis.to >= 0, Status::Value, op,
                         "a size is negative", "sizes")) ||
          failed(require(builder, axis.from > 0, Status::Shape, op,
                         "has no elements", "X")))
        return failure();
      Tables tables = tablesOf(builder, how, axis);
      sizes[axis.dim] = axis.to;
      image = how.nearest
                  ? gatherNearest(builder, axis, image, element, sizes, tables,
                                  op.getExtrapolationValue(), crops)
                  : interpolate(builder, how, axis, image, element, sizes,
                                tables);
    }
    rewriter.replaceOp(op, castTo(builder, image,
                                  getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

void addResizePatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerResize>(types, patterns.getContext());
}

} // namespace onnxc
