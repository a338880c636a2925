// Resize, one axis after another: a loop that reads the neighbours of each
// element where tables say. Where each has but one, all axes at once. What lies
// between two axes is not rounded to the type of the elements.
#include "dialects/onnxc/Onnxc.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/ResizeTables.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
namespace {

// What elements of a type are summed in.
Type wideType(ImplicitLocOpBuilder &builder, Type element) {
  return isa<FloatType>(element) ? computeType(element)
                                 : Type(builder.getF32Type());
}

Index asPosition(ImplicitLocOpBuilder &builder, Value number) {
  return {builder,
          arith::IndexCastOp::create(builder, builder.getIndexType(), number)};
}

Sizes here(ImplicitLocOpBuilder &builder, int64_t rank) {
  Sizes at;
  for (int64_t i = 0; i < rank; ++i)
    at.push_back({builder, linalg::IndexOp::create(builder, i)});
  return at;
}

// All neighbours at once, where they are few: along one axis, or along several
// of which each element has one neighbour.
Value resample(ImplicitLocOpBuilder &builder, const Resampling &how,
               ArrayRef<ResizedAxis> axes, Value image, Type from, Type element,
               ArrayRef<Index> sizes) {
  int64_t rank = sizes.size(), taps = *how.neighbours(axes[0]);
  Type wide =
      how.nearest ? Type(builder.getF32Type()) : wideType(builder, from);
  SmallVector<ResizeTables> tables;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const ResizedAxis &axis : axes) {
    tables.push_back(tablesOf(builder, how, axis, wide));
    llvm::append_range(inputs, tables.back().positions);
    if (!how.nearest || how.crops())
      llvm::append_range(inputs, tables.back().shares);
    maps.resize(inputs.size(),
                AffineMap::get(rank, 0, builder.getAffineDimExpr(axis.dim),
                               builder.getContext()));
  }
  maps.push_back(builder.getMultiDimIdentityMap(rank));
  Value empty = emptyOf(builder, sizes, element);
  auto body = [&](OpBuilder &, Location, ValueRange args) {
    ScalarBuilder scalars(builder, builder.getLoc(), element);
    ImplicitLocOpBuilder &inner = scalars;
    int64_t perAxis = inputs.size() / axes.size();
    Sizes at = here(inner, rank);
    auto share = [&](int64_t axis, int64_t tap) {
      return Scalar(scalars, args[axis * perAxis + taps + tap], wide);
    };
    auto read = [&](int64_t tap) {
      for (auto [i, axis] : llvm::enumerate(axes)) {
        Index position = asPosition(inner, args[i * perAxis + tap]);
        at[axis.dim] = position;
        if (int64_t step = tables[i].step)
          at[axis.dim] = {inner, CreepOp::create(inner, position.value, step,
                                                 !tables[i].isCertain)};
      }
      return load(scalars, extract(inner, image, at), from);
    };
    Scalar value = read(0);
    if (!how.nearest)
      value = share(0, 0) * cast(value, wide);
    for (int64_t tap = 1; tap < taps; ++tap)
      value = value + share(0, tap) * cast(read(tap), wide);
    for (int64_t i = 0; how.crops() && i < int64_t(axes.size()); ++i)
      value = select(share(i, 0) == share(i, 0), value,
                     how.op.getExtrapolationValue());
    if (!how.nearest && !isa<FloatType>(element))
      value = saturate(round(value));
    linalg::YieldOp::create(scalars, store(scalars, value, element));
  };
  return linalg::GenericOp::create(builder, empty.getType(), inputs, empty,
                                   maps, parallel(rank), body)
      .getResult(0);
}

// One neighbour after another.
Value accumulate(ImplicitLocOpBuilder &builder, const Resampling &how,
                 const ResizedAxis &axis, Value image, Type from, Type element,
                 ArrayRef<Index> sizes) {
  int64_t rank = sizes.size();
  MLIRContext *context = builder.getContext();
  Type wide = wideType(builder, from);
  auto [positions, weights, sums] = manyNeighboursOf(builder, how, axis);
  Value start = linalg::FillOp::create(builder, zeroOf(builder, wide),
                                       emptyOf(builder, sizes, wide))
                    .getResult(0);
  AffineExpr row = getAffineDimExpr(axis.dim, context),
             tap = getAffineDimExpr(rank, context);
  SmallVector<AffineMap> maps = {
      AffineMap::get(rank + 1, 0, {row, tap}, context),
      AffineMap::get(rank + 1, 0, {row, tap}, context),
      AffineMap::get(rank + 1, 0, {row}, context),
      AffineMap::getMultiDimIdentityMap(rank + 1, context)
          .getMajorSubMap(rank)};
  SmallVector<IteratorType> iterators = parallel(rank);
  iterators.push_back(IteratorType::reduction);
  auto body = [&](OpBuilder &, Location, ValueRange args) {
    ScalarBuilder scalars(builder, builder.getLoc(), wide);
    ImplicitLocOpBuilder &inner = scalars;
    Sizes at = here(inner, rank);
    at[axis.dim] = asPosition(inner, args[0]);
    Type f64 = builder.getF64Type();
    Scalar weight(scalars, args[1], f64), sum(scalars, args[2], f64);
    Scalar x = load(scalars, extract(inner, image, at), from);
    Scalar share = cast(weight / sum, wide);
    Scalar old(scalars, args[3], wide);
    linalg::YieldOp::create(scalars,
                            store(scalars, old + share * cast(x, wide), wide));
  };
  Value result = linalg::GenericOp::create(builder, start.getType(),
                                           {positions, weights, sums}, start,
                                           maps, iterators, body)
                     .getResult(0);
  // NaN weights mark what lies outside the region of interest.
  if (wide == element && !how.crops())
    return result;
  double extrapolated = how.op.getExtrapolationValue();
  auto finish = [&](ScalarBuilder &, ArrayRef<Scalar> args) {
    Scalar value = args[1];
    if (how.crops())
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
  static Scalar scalarAt(ScalarBuilder &scalars, const Input &input,
                         int64_t i) {
    Value element;
    if (auto known = constantFloats(input.original))
      element = arith::ConstantOp::create(scalars,
                                          scalars.getF64FloatAttr((*known)[i]));
    else
      return load(scalars, extract(scalars, input.lowered, {i}), input.element);
    return {scalars, element, scalars.getF64Type()};
  }

  static Value ratio(ScalarBuilder &scalars, Index to, Index from) {
    if (to.number && from.number)
      return arith::ConstantOp::create(
          scalars,
          scalars.getF64FloatAttr(double(to.get()) / double(from.get())));
    Scalar quotient = asReal(scalars, to) / asReal(scalars, from);
    return quotient.value;
  }

  // Sizes and scales of the axes that are named.
  static SmallVector<ResizedAxis> axesOf(ImplicitLocOpBuilder &builder,
                                         ResizeOp op, ArrayRef<Input> inputs) {
    ScalarBuilder scalars(builder, builder.getLoc(), builder.getF64Type());
    ResizeOp::GenericAdaptor<ArrayRef<Input>> adaptor(inputs, op);
    Input x = adaptor.getX(), scales = adaptor.getScales(),
          sizes = adaptor.getSizes(), roi = adaptor.getRoi();
    SmallVector<int64_t> dims =
        op.getAxes() ? SmallVector<int64_t>(*op.getAxes()) : range(0, x.rank());
    SmallVector<ResizedAxis> axes;
    bool bySizes = sizes.given() && !sizes.sizes[0].is(0);
    bool crops = op.getCoordinateTransformationMode() == "tf_crop_and_resize";
    for (auto [i, dim] : llvm::enumerate(dims)) {
      ResizedAxis axis;
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
                              SmallVector<ResizedAxis> &axes,
                              StringRef policy) {
    Type f64 = scalars.getF64Type();
    Scalar scale(scalars, axes[0].scale, f64);
    for (const ResizedAxis &axis : axes) {
      Scalar other(scalars, axis.scale, f64);
      scale =
          policy == "not_larger" ? least(scale, other) : greatest(scale, other);
    }
    for (ResizedAxis &axis : axes) {
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
    Resampling how(op);
    Value image = inputs[0].lowered;
    Type element = inputs[0].element;
    Sizes sizes = inputs[0].sizes;
    SmallVector<ResizedAxis> axes = axesOf(builder, op, inputs);
    llvm::erase_if(axes,
                   [](const ResizedAxis &axis) { return axis.unchanged; });
    for (ResizedAxis &axis : axes) {
      axis.to = sizeNamed(op, known[axis.dim], inputs, axis.to);
      if (failed(require(builder, axis.to >= 0, Status::Value, op,
                         "a size is negative", "sizes")) ||
          failed(require(builder, axis.from > 0, Status::Shape, op,
                         "has no elements", "X")) ||
          (!axis.from.number &&
           failed(require(builder, axis.from <= INT32_MAX, Status::Shape, op,
                          "has too many elements along an axis", "X"))))
        return failure();
    }
    while (!axes.empty()) {
      ArrayRef<ResizedAxis> now =
          how.nearest ? axes : ArrayRef(axes).take_front();
      for (const ResizedAxis &axis : now)
        sizes[axis.dim] = axis.to;
      bool isLast = now.size() == axes.size();
      Type to = isLast ? inputs[0].element : wideType(builder, element);
      image = how.neighbours(now[0])
                  ? resample(builder, how, now, image, element, to, sizes)
                  : accumulate(builder, how, now[0], image, element, to, sizes);
      element = to;
      axes.erase(axes.begin(), axes.begin() + now.size());
    }
    rewriter.replaceOp(
        op,
        castTo(builder, image, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

void addResizePatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerResize>(types, patterns.getContext());
}

} // namespace onnxc
