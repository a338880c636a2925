// GridSample: every element of the result mixes the neighbours of a position
// that the grid holds, 1, 2 or 4 along each dimension. Where they are and how
// much they weigh is the same for all channels: it is computed once, and read
// by a loop with the channels last, whose loads lie side by side.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/Inputs.h"
#include "lowering/tensor/Transposed.h"
#include "lowering/tensor/irregular/ImagePoints.h"
#include "lowering/tensor/irregular/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace onnxc {
namespace {

bool is(GridSampleOp op, StringRef mode) {
  return op.getMode().ends_with(mode);
}

// A neighbour along one dimension, which may lie outside the image.
struct Tap {
  Scalar position, weight;
};

// The neighbours of what the grid holds for one point.
struct Neighbours {
  mutable GridSampleOp op; // getters are not const
  const Input &x;
  ScalarBuilder &scalars;

  bool is(StringRef mode) const { return onnxc::is(op, mode); }
  Type f32() const { return scalars.getF32Type(); }

  Scalar size(int64_t dim) const {
    Value number = arith::IndexCastOp::create(scalars, scalars.getI32Type(),
                                              x.sizes[2 + dim].in(scalars));
    return {scalars, arith::SIToFPOp::create(scalars, f32(), number), f32()};
  }

  // Back into the image, as in a mirror at both borders.
  Scalar reflected(Scalar at, Scalar low, Scalar high) const {
    Scalar span = high - low, distance = abs(at - low);
    Scalar turns = floor(distance / greatest(span, 1e-20));
    Scalar rest = distance - turns * span;
    Scalar even = turns - 2 * floor(turns / 2) == 0;
    return select(span <= 0, low, select(even, low + rest, high - rest));
  }

  // The position in elements; the grid counts from -1 to 1.
  Scalar position(Scalar normal, int64_t dim) const {
    Scalar count = size(dim);
    Scalar at = op.getAlignCorners() ? (normal + 1) / 2 * (count - 1)
                                     : ((normal + 1) * count - 1) / 2;
    // Cubic weights are those of the position itself: only its neighbours move.
    return is("linear") ? bounded(at, dim) : at;
  }

  // Where padding is no zero, a position outside means one inside.
  Scalar bounded(Scalar at, int64_t dim) const {
    Scalar last = size(dim) - 1;
    if (op.getPaddingMode() == "border")
      return greatest(least(at, last), 0);
    if (op.getPaddingMode() == "reflection")
      return op.getAlignCorners()
                 ? reflected(at, number(0), last)
                 : greatest(
                       least(reflected(at, number(-0.5), last + 0.5), last), 0);
    return at;
  }
  Scalar number(double value) const {
    return onnxc::cast(Scalar(value), Scalar(scalars, {}, f32()));
  }

  SmallVector<Tap> taps(Scalar at, int64_t dim) const {
    if (is("nearest"))
      return {{bounded(round(at), dim), number(1)}};
    Scalar base = floor(at), t = at - base;
    if (is("linear"))
      return {{base, 1 - t}, {base + 1, t}};
    double a = -0.75;
    auto inner = [&](Scalar d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    auto outer = [&](Scalar d) {
      return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
    };
    return {{bounded(base - 1, dim), outer(t + 1)},
            {bounded(base, dim), inner(t)},
            {bounded(base + 1, dim), inner(1 - t)},
            {bounded(base + 2, dim), outer(2 - t)}};
  }

  // As a whole number, -1 outside.
  Scalar wholePosition(Scalar position, int64_t dim) const {
    Scalar last = size(dim) - 1;
    // NaN and what is far outside become positions inside before the cast.
    Scalar safe = select(position >= 0 && position <= last, position, -1);
    Type whole = scalars.getI32Type();
    return {scalars, arith::FPToSIOp::create(scalars, whole, safe.value),
            whole};
  }

  // Positions along a dimension, then their weights.
  SmallVector<Scalar> along(int64_t dim, Scalar normal) const {
    SmallVector<Scalar> positions, weights;
    for (const Tap &tap :
         taps(position(onnxc::cast(normal, f32()), dim), dim)) {
      positions.push_back(wholePosition(tap.position, dim));
      if (!is("nearest"))
        weights.push_back(tap.weight);
    }
    positions.append(weights);
    return positions;
  }
};

// Tensors that hold what Neighbours::along gives for each point.
struct Tables {
  SmallVector<Value> positions, weights; // of each tap
};

Tables tablesAlong(ImplicitLocOpBuilder &builder, GridSampleOp op,
                   const Input &x, const Input &grid, int64_t dim) {
  int64_t rank = x.rank(), taps = is(op, "cubic")    ? 4
                                  : is(op, "linear") ? 2
                                                     : 1;
  SmallVector<Type> types(taps, builder.getI32Type());
  if (!is(op, "nearest"))
    types.append(taps, builder.getF32Type());
  SmallVector<Value> tables;
  for (Type type : types)
    tables.push_back(emptyOf(builder, ArrayRef(grid.sizes).drop_back(), type));
  // The grid has the last dimension first.
  AffineMap point = builder.getMultiDimIdentityMap(rank - 1);
  AffineMap read = point.insertResult(
      builder.getAffineConstantExpr(rank - 3 - dim), rank - 1);
  SmallVector<AffineMap> maps(types.size(), point);
  maps.insert(maps.begin(), read);
  auto body = [&](ScalarBuilder &scalars, ArrayRef<Scalar> args) {
    return Neighbours{op, x, scalars}.along(dim, args[0]);
  };
  tables = generic(builder, grid.lowered, grid.element, tables, types, maps,
                   parallel(rank - 1), body);
  return {SmallVector<Value>(ArrayRef(tables).take_front(taps)),
          SmallVector<Value>(ArrayRef(tables).drop_front(taps))};
}

// What the neighbours of a point add up to, from their positions and weights.
struct Mix {
  ScalarBuilder &scalars;
  const Input &x;
  Value image; // its points in one dimension
  int64_t channelDim;
  ArrayRef<SmallVector<Tap>> taps; // along each dimension

  // The element at whole positions, 0 outside.
  Scalar at(ArrayRef<Scalar> positions) const {
    Index point = 0;
    Scalar inside;
    for (auto [dim, position] : llvm::enumerate(positions)) {
      Scalar here = position >= 0;
      inside = inside.isGiven() ? inside && here : here;
      Value safe = greatest(position, 0).value;
      Index whole = {scalars, arith::IndexCastOp::create(
                                  scalars, scalars.getIndexType(), safe)};
      point = point * Index(scalars, x.sizes[2 + dim].in(scalars)) + whole;
    }
    Index batch = {scalars, linalg::IndexOp::create(scalars, 0)};
    Index channel = {scalars, linalg::IndexOp::create(scalars, channelDim)};
    Index place[] = {batch, point, channel};
    if (channelDim == 1)
      std::swap(place[1], place[2]);
    Scalar value = scalarAt(scalars, image, x.element, place);
    return select(inside, value, 0);
  }

  // The sum over the neighbours along the dimensions that are not chosen yet.
  Scalar sum(SmallVector<Scalar> &chosen) const {
    if (chosen.size() == taps.size())
      return at(chosen);
    Scalar sum;
    for (const Tap &tap : taps[chosen.size()]) {
      chosen.push_back(tap.position);
      Scalar value = this->sum(chosen);
      chosen.pop_back();
      if (!tap.weight.isGiven())
        return value;
      Scalar share = onnxc::cast(tap.weight, value) * value;
      sum = sum.isGiven() ? sum + share : share;
    }
    return sum;
  }
};

// The samples with their channels in this dimension, as `image` has them.
Value sampled(ImplicitLocOpBuilder &builder, const Input &x, Value image,
              int64_t channelDim, ArrayRef<Tables> tables, Value empty) {
  int64_t rank = x.rank();
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  for (const Tables &along : tables)
    for (Value table :
         llvm::concat<const Value>(along.positions, along.weights)) {
      inputs.push_back(table);
      types.push_back(getElementTypeOrSelf(table));
    }
  SmallVector<AffineMap> maps(
      inputs.size(),
      builder.getMultiDimIdentityMap(rank).dropResult(channelDim));
  maps.push_back(builder.getMultiDimIdentityMap(rank));
  auto body = [&](ScalarBuilder &scalars,
                  ArrayRef<Scalar> args) -> SmallVector<Scalar> {
    SmallVector<SmallVector<Tap>> taps;
    for (const Tables &along : tables) {
      size_t count = along.positions.size();
      SmallVector<Tap> &here = taps.emplace_back();
      for (size_t i = 0; i < count; ++i)
        here.push_back(
            {args[i], along.weights.empty() ? Scalar() : args[count + i]});
      args = args.drop_front(count + along.weights.size());
    }
    SmallVector<Scalar> chosen;
    return {Mix{scalars, x, image, channelDim, taps}.sum(chosen)};
  };
  return generic(builder, inputs, types, empty, x.element, maps, parallel(rank),
                 body)[0];
}

struct LowerGridSample : OpConversionPattern<GridSampleOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(GridSampleOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    auto shapes =
        resultSizes(cast<SizedOpInterface>(op.getOperation()), inputs);
    if (failed(shapes))
      return failure();
    const Input &x = inputs[0], &grid = inputs[1];
    if (failed(require(builder, x.sizes[0] == grid.sizes[0], Status::Shape, op,
                       "has another batch size", "grid")) ||
        failed(require(builder, grid.sizes.back() == x.rank() - 2,
                       Status::Shape, op,
                       "does not hold positions in the image", "grid")))
      return failure();
    for (Index size : ArrayRef(x.sizes).drop_front(2))
      if (failed(require(builder, size > 0, Status::Shape, op,
                         "has no elements", "X")))
        return failure();
    int64_t rank = x.rank();
    SmallVector<Tables> tables;
    for (int64_t dim = 0; dim < rank - 2; ++dim)
      tables.push_back(tablesAlong(builder, op, x, grid, dim));
    SmallVector<int64_t> order = orderOfPoints(x),
                         back = invertPermutationVector(order);
    Value empty = emptyOf(
        builder, applyPermutation(ArrayRef(shapes->front()), order), x.element);
    Value result = sampled(builder, x, pointsOf(builder, x, order), back[1],
                           tables, empty);
    result = transposed(builder, builder.getLoc(), result, back);
    rewriter.replaceOp(
        op,
        castTo(builder, result, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

void addGridSamplePatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerGridSample>(types, patterns.getContext());
}

} // namespace onnxc
