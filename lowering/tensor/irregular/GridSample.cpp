// GridSample: every element of the result mixes the neighbours of a position
// that the grid holds, 1, 2 or 4 along each dimension.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace onnxc {
namespace {

// A neighbour along one dimension, which may lie outside the image.
struct Tap {
  Scalar position, weight;
};

struct Sampler {
  mutable GridSampleOp op; // getters are not const
  const Input &x, &grid;
  ScalarBuilder &scalars;

  bool is(StringRef mode) const { return op.getMode().ends_with(mode); }
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

  // The element at whole positions, 0 outside.
  Scalar element(ArrayRef<Index> at, ArrayRef<Scalar> positions) const {
    Sizes index(at.take_front(2));
    Scalar inside;
    for (auto [dim, position] : llvm::enumerate(positions)) {
      Scalar last = size(dim) - 1;
      Scalar here = position >= 0 && position <= last;
      inside = inside.isGiven() ? inside && here : here;
      // NaN and what is far outside become positions inside before the cast.
      Scalar safe = select(here, position, 0);
      Value whole =
          arith::FPToSIOp::create(scalars, scalars.getI32Type(), safe.value);
      index.push_back({scalars, arith::IndexCastOp::create(
                                    scalars, scalars.getIndexType(), whole)});
    }
    Scalar value = scalarAt(scalars, x.lowered, x.element, index);
    return select(inside, value, 0);
  }

  Scalar sample(ArrayRef<Index> at) const {
    int64_t dims = x.rank() - 2;
    SmallVector<SmallVector<Tap>> all;
    for (int64_t dim = 0; dim < dims; ++dim) {
      Sizes from = {at[0]};
      llvm::append_range(from, at.drop_front(2));
      from.push_back(dims - 1 - dim); // the grid has the last dimension first
      Scalar normal = onnxc::cast(
          scalarAt(scalars, grid.lowered, grid.element, from), f32());
      all.push_back(taps(position(normal, dim), dim));
    }
    SmallVector<Scalar> chosen;
    return mix(at, all, chosen);
  }

  // The sum over the neighbours along the dimensions that are not chosen yet.
  Scalar mix(ArrayRef<Index> at, ArrayRef<SmallVector<Tap>> rest,
             SmallVector<Scalar> &chosen) const {
    if (rest.empty())
      return element(at, chosen);
    Scalar sum;
    for (const Tap &tap : rest.front()) {
      chosen.push_back(tap.position);
      Scalar value = mix(at, rest.drop_front(), chosen);
      chosen.pop_back();
      if (is("nearest"))
        return value;
      Scalar share = onnxc::cast(tap.weight, value) * value;
      sum = sum.isGiven() ? sum + share : share;
    }
    return sum;
  }
};

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
    Value empty = emptyOf(builder, shapes->front(), x.element);
    int64_t rank = x.rank();
    auto body = [&](OpBuilder &inner, Location loc, ValueRange) {
      ScalarBuilder scalars(inner, loc, x.element);
      Sizes at;
      for (int64_t i = 0; i < rank; ++i)
        at.push_back({scalars, linalg::IndexOp::create(scalars, i)});
      Scalar value = Sampler{op, x, grid, scalars}.sample(at);
      linalg::YieldOp::create(scalars, store(scalars, value, x.element));
    };
    Value sampled =
        linalg::GenericOp::create(builder, empty.getType(), ValueRange(), empty,
                                  builder.getMultiDimIdentityMap(rank),
                                  parallel(rank), body)
            .getResult(0);
    rewriter.replaceOp(op,
                       castTo(builder, sampled,
                              getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

void addGridSamplePatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerGridSample>(types, patterns.getContext());
}

} // namespace onnxc
