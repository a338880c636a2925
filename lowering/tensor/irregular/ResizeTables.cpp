#include "lowering/tensor/irregular/ResizeTables.h"
#include "lowering/tensor/Tables.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace onnxc {

Scalar asReal(ScalarBuilder &scalars, Index index) {
  Type f64 = scalars.getF64Type();
  if (index.number)
    return cast(Scalar(double(*index.number)), Scalar(scalars, {}, f64));
  Value wide =
      arith::IndexCastOp::create(scalars, scalars.getI64Type(), index.value);
  return {scalars, arith::SIToFPOp::create(scalars, f64, wide), f64};
}

Index whole(ScalarBuilder &scalars, ImplicitLocOpBuilder &builder, Scalar x) {
  Value number =
      arith::FPToSIOp::create(scalars, scalars.getI64Type(), x.value);
  return {builder,
          arith::IndexCastOp::create(scalars, scalars.getIndexType(), number)};
}

// More of them are read one after another.
static constexpr double mostNeighbours = 16;

// Of positions that advance by more, each lane reads its own.
static constexpr int64_t mostStep = 4;

Resampling::Resampling(ResizeOp op)
    : op(op), coordinates(op.getCoordinateTransformationMode()),
      nearest(op.getMode() == "nearest"), cubic(op.getMode() == "cubic"),
      antialias(op.getAntialias() != 0) {}

std::optional<int64_t> Resampling::neighbours(const ResizedAxis &axis) const {
  if (nearest)
    return 1;
  double reach = cubic ? 2 : 1;
  if (!antialias)
    return 2 * reach;
  APFloat scale(0.0);
  if (!matchPattern(axis.scale, m_ConstantFloat(&scale)))
    return std::nullopt;
  // As firstNeighbour() of the run tells.
  double stretch = std::min(scale.convertToDouble(), 1.0);
  double most = -2 * std::floor(-reach / stretch);
  return most <= mostNeighbours ? std::optional<int64_t>(most) : std::nullopt;
}

namespace {

// Where the centre of element `at` of the result lies in the image. The nearest
// neighbour is that of a position in single precision, as elsewhere: an element
// half way between two is then where everybody has it.
Scalar original(ScalarBuilder &scalars, const Resampling &how,
                const ResizedAxis &axis, Index at) {
  Type f64 = scalars.getF64Type();
  Scalar like(scalars, {}, how.nearest ? scalars.getF32Type() : f64);
  auto real = [&](Scalar number) { return cast(number, like); };
  Scalar x = real(asReal(scalars, at));
  Scalar scale = real({scalars, axis.scale, f64});
  Scalar from = real(asReal(scalars, axis.from)),
         to = real(asReal(scalars, axis.to));
  Scalar exact = scale * from; // the result's size before it was rounded
  StringRef mode = how.coordinates;
  if (mode == "align_corners")
    return select(exact == 1, 0, x * (from - 1) / (exact - 1));
  if (mode == "asymmetric")
    return x / scale;
  if (mode == "tf_crop_and_resize") {
    Scalar begin = real({scalars, axis.roiBegin, f64}),
           end = real({scalars, axis.roiEnd, f64});
    Scalar span = (end - begin) * (from - 1);
    return select(to == 1, span / 2, x * span / (to - 1)) + begin * (from - 1);
  }
  Scalar whole = (x + 0.5) / scale, half = whole - 0.5;
  if (mode == "tf_half_pixel_for_nn")
    return whole;
  if (mode == "pytorch_half_pixel")
    return select(to == 1, -0.5, half);
  if (mode == "half_pixel_symmetric")
    return from / 2 * (1 - to / exact) + half;
  return half;
}

// The weight of a neighbour at a distance from the position.
Scalar weightAt(const Resampling &how, Scalar distance) {
  Scalar x = abs(distance);
  if (!how.cubic)
    return greatest(1 - x, 0);
  double a = how.op.getCubicCoeffA();
  Scalar inner = ((a + 2) * x - (a + 3)) * x * x + 1;
  Scalar outer = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return select(x <= 1, inner, select(x < 2, outer, 0));
}

// Of the two nearest neighbours, whether it is the second.
Scalar isSecond(const Resampling &how, Scalar ratio, Scalar scale) {
  StringRef mode = how.op.getNearestMode();
  if (mode == "ceil_where_smaller") // as before opset 11
    return ratio >= select(scale < 1, 0, cast(Scalar(1.0), ratio));
  if (mode == "floor")
    return ratio >= 1;
  if (mode == "ceil")
    return ratio > 0;
  return mode == "round_prefer_ceil" ? ratio >= 0.5 : ratio > 0.5;
}

// Smaller than 1 where the image shrinks and neighbours are as many more.
Scalar stretch(ScalarBuilder &scalars, const Resampling &how,
               const ResizedAxis &axis) {
  Scalar scale(scalars, axis.scale, scalars.getF64Type());
  return how.antialias ? least(scale, 1)
                       : cast(Scalar(1.0), Scalar(scalars, {}, scale.type));
}

// First neighbour, counted from the element at or left of the position.
Scalar firstNeighbour(ScalarBuilder &scalars, const Resampling &how,
                      const ResizedAxis &axis) {
  double reach = how.cubic ? 2 : 1;
  return floor(-reach / stretch(scalars, how, axis)) + 1;
}

struct Neighbour {
  Scalar position, weight; // f64
};

// Neighbour number `tap` of element `at` of the result.
Neighbour neighbourAt(ScalarBuilder &scalars, const Resampling &how,
                      const ResizedAxis &axis, Index at, Scalar tap) {
  Scalar x = cast(original(scalars, how, axis, at),
                  Scalar(scalars, {}, scalars.getF64Type()));
  // The ratio is in (0, 1]: the element on the left is preferred.
  Scalar base = ceil(x) - 1, ratio = x - base;
  Scalar position = base, weight = cast(Scalar(1.0), x);
  Scalar last = asReal(scalars, axis.from) - 1;
  if (how.nearest) {
    Scalar scale(scalars, axis.scale, scalars.getF64Type());
    position = base + select(isSecond(how, ratio, scale), cast(Scalar(1.0), x),
                             cast(Scalar(0.0), x));
  } else {
    Scalar offset = tap + firstNeighbour(scalars, how, axis);
    position = base + offset;
    weight = weightAt(how, (offset - ratio) * stretch(scalars, how, axis));
    if (how.op.getExcludeOutside())
      weight = select(position < 0 || position > last, 0, weight);
  }
  if (how.crops())
    weight = select(x < 0 || x > last, std::nan(""), weight);
  // What is NaN, as a region of the run may be, must not lie outside.
  position = select(position > 0, position, cast(Scalar(0.0), position));
  return {select(position < last, position, last), weight};
}

// The most that positions advance by; zero if that is much, or one goes back.
int64_t stepOf(ArrayRef<DenseElementsAttr> tables) {
  int64_t step = 1;
  for (DenseElementsAttr positions : tables) {
    auto values = llvm::to_vector(positions.getValues<APInt>());
    for (auto [here, next] : llvm::zip(values, llvm::drop_begin(values))) {
      if (next.slt(here))
        return 0;
      step = std::max(step, (next - here).getSExtValue());
    }
  }
  return step <= mostStep ? step : 0;
}

// The same by the scale, where the run makes the tables.
int64_t usualStepOf(const ResizedAxis &axis) {
  APFloat scale(1.0);
  (void)matchPattern(axis.scale, m_ConstantFloat(&scale));
  double step = std::ceil(1 / scale.convertToDouble());
  return step >= 1 && step <= mostStep ? int64_t(step) : 0;
}

} // namespace

ResizeTables tablesOf(ImplicitLocOpBuilder &builder, const Resampling &how,
                      const ResizedAxis &axis, Type share) {
  int64_t taps = *how.neighbours(axis);
  // Narrow positions fill vectors better; those of the run are found to be.
  bool narrow = !axis.from.number || *axis.from.number <= INT32_MAX;
  Type position = narrow ? builder.getI32Type() : builder.getI64Type();
  SmallVector<Value> empties;
  for (Type type : {position, share})
    for (int64_t tap = 0; tap < taps; ++tap)
      empties.push_back(
          tensor::EmptyOp::create(builder, folded(builder, {axis.to}), type));
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) {
    ScalarBuilder scalars(inner, loc, builder.getF64Type());
    ImplicitLocOpBuilder &at = scalars;
    Index here(at, linalg::IndexOp::create(scalars, 0));
    SmallVector<Neighbour> neighbours;
    SmallVector<Scalar> weights;
    SmallVector<Value> results;
    for (int64_t tap = 0; tap < taps; ++tap) {
      Neighbour neighbour = neighbourAt(scalars, how, axis, here, tap);
      weights.push_back(neighbour.weight);
      results.push_back(
          arith::FPToSIOp::create(scalars, position, neighbour.position.value));
    }
    Scalar sum = fold(weights, add);
    for (Scalar weight : weights)
      results.push_back(cast(weight / sum, share).value);
    linalg::YieldOp::create(scalars, results);
  };
  SmallVector<AffineMap> maps(empties.size(),
                              builder.getMultiDimIdentityMap(1));
  auto loop =
      linalg::GenericOp::create(builder, TypeRange(ValueRange(empties)),
                                ValueRange(), empties, maps, parallel(1), body);
  SmallVector<Value> results(loop.getResults());
  ResizeTables tables;
  SmallVector<DenseElementsAttr> known = foldTables(loop);
  for (auto [result, value] : llvm::zip(results, known))
    result = arith::ConstantOp::create(builder, value);
  tables.isCertain = !known.empty();
  tables.step = tables.isCertain ? stepOf(ArrayRef(known).take_front(taps))
                                 : usualStepOf(axis);
  tables.positions.assign(results.begin(), results.begin() + taps);
  tables.shares.assign(results.begin() + taps, results.end());
  return tables;
}

namespace {

// The weights of a position add up to 1.
Value weightSums(ImplicitLocOpBuilder &builder, const ResizedAxis &axis,
                 Value weights) {
  Type f64 = builder.getF64Type();
  Value zero = linalg::FillOp::create(builder, zeroOf(builder, f64),
                                      emptyOf(builder, {axis.to}, f64))
                   .getResult(0);
  MLIRContext *context = builder.getContext();
  AffineExpr i = getAffineDimExpr(0, context);
  auto body = [](ScalarBuilder &, ArrayRef<Scalar> args) {
    return SmallVector<Scalar>{args[0] + args[1]};
  };
  return generic(builder, weights, f64, zero, f64,
                 {builder.getMultiDimIdentityMap(2),
                  AffineMap::get(2, 0, i, context)},
                 {IteratorType::parallel, IteratorType::reduction}, body)
      .front();
}

} // namespace

ManyNeighbours manyNeighboursOf(ImplicitLocOpBuilder &builder,
                                const Resampling &how,
                                const ResizedAxis &axis) {
  Type f64 = builder.getF64Type(), int64 = builder.getI64Type();
  ScalarBuilder outside(builder, builder.getLoc(), f64);
  Index taps =
      whole(outside, builder, 2 - 2 * firstNeighbour(outside, how, axis));
  Sizes sizes = {axis.to, taps};
  Value empties[] = {
      tensor::EmptyOp::create(builder, folded(builder, sizes), int64),
      tensor::EmptyOp::create(builder, folded(builder, sizes), f64)};
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) {
    ScalarBuilder scalars(inner, loc, f64);
    ImplicitLocOpBuilder &at = scalars;
    auto index = [&](int64_t dim) -> Index {
      return {at, linalg::IndexOp::create(scalars, dim)};
    };
    Index here = index(0);
    Neighbour neighbour =
        neighbourAt(scalars, how, axis, here, asReal(scalars, index(1)));
    linalg::YieldOp::create(
        scalars, ValueRange{arith::FPToSIOp::create(scalars, int64,
                                                    neighbour.position.value),
                            neighbour.weight.value});
  };
  AffineMap identity = builder.getMultiDimIdentityMap(2);
  auto loop = linalg::GenericOp::create(
      builder, TypeRange(ValueRange(empties)), ValueRange(),
      ValueRange(empties), {identity, identity}, parallel(2), body);
  return {loop.getResult(0), loop.getResult(1),
          weightSums(builder, axis, loop.getResult(1))};
}

} // namespace onnxc
