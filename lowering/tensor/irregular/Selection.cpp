// NonZero, Compress and TopK: results whose elements are found by walking the
// input, the first two with as many elements as are found.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace onnxc {
namespace {

Value asInt64(ImplicitLocOpBuilder &builder, Index index) {
  return builder.createOrFold<arith::IndexCastOp>(builder.getI64Type(),
                                                  index.in(builder));
}

Condition isSet(ImplicitLocOpBuilder &builder, const Input &input,
                ArrayRef<Index> at) {
  ScalarBuilder scalars(builder, builder.getLoc(), input.element);
  Scalar x = scalarAt(scalars, input.lowered, input.element, at);
  Scalar set = input.element.isInteger(1) ? x : x != 0;
  return {builder, set.value};
}

// How many positions have a set element.
Index countSet(ImplicitLocOpBuilder &builder, const Input &input,
               ArrayRef<Index> sizes) {
  auto count = [&](ArrayRef<Index> at, Tensors carried) {
    Index sum = Index(builder, carried[0]) +
                select(isSet(builder, input, at), 1, 0);
    return Tensors{sum.in(builder)};
  };
  Value zero = Index(0).in(builder);
  return {builder, visit(builder, sizes, {zero}, count)[0]};
}

struct LowerNonZero : OpConversionPattern<NonZeroOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(NonZeroOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    const Input &x = inputs[0];
    Index count = countSet(builder, x, x.sizes);
    Value found = emptyOf(builder, {x.rank(), count}, builder.getI64Type());
    auto write = [&](ArrayRef<Index> at, Tensors carried) {
      return changeIf(
          builder, isSet(builder, x, at), carried, [&](Tensors changed) {
            Index next(builder, changed[1]);
            for (int64_t i = 0; i < x.rank(); ++i)
              changed[0] = insert(builder, asInt64(builder, at[i]), changed[0],
                                  {i, next});
            changed[1] = (next + 1).in(builder);
            return changed;
          });
    };
    found = visit(builder, x.sizes, {found, Index(0).in(builder)}, write)[0];
    rewriter.replaceOp(op, castTo(builder, found,
                                  getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

struct LowerCompress : OpConversionPattern<CompressOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(CompressOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    Input input = inputs[0];
    const Input &condition = inputs[1];
    if (!op.getAxis()) {
      Sizes flat = {product(input.sizes)};
      input.lowered = reshaped(builder, input.lowered, input.sizes, flat);
      input.sizes = flat;
    }
    int64_t axis = wrap(op.getAxis().value_or(0), input.rank());
    // The condition may be shorter than the axis; it must not be longer.
    if (failed(require(builder, condition.sizes[0] <= input.sizes[axis],
                       Status::Shape, op, "is longer than the axis",
                       "condition")))
      return failure();
    Index count = countSet(builder, condition, condition.sizes);
    Sizes sizes = input.sizes, slice = input.sizes;
    sizes[axis] = count;
    slice[axis] = 1;
    Value kept = emptyOf(builder, sizes, input.element);
    auto write = [&](ArrayRef<Index> at, Tensors carried) {
      return changeIf(
          builder, isSet(builder, condition, at), carried,
          [&](Tensors changed) {
            Index next(builder, changed[1]);
            auto copy = [&](ArrayRef<Index> inner, Tensors into) {
              Sizes from(inner), to(inner);
              from[axis] = at[0];
              to[axis] = next;
              Value element = extract(builder, input.lowered, from);
              return Tensors{insert(builder, element, into[0], to)};
            };
            Value copied = visit(builder, slice, {changed[0]}, copy)[0];
            return Tensors{copied, (next + 1).in(builder)};
          });
    };
    kept = visit(builder, condition.sizes, {kept, Index(0).in(builder)},
                 write)[0];
    rewriter.replaceOp(op, castTo(builder, kept,
                                  getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

// Each result is the best element that comes after the one before it, in the
// order of values and then of positions: no memory, and stable. NaN is greater
// than all others, as in the standard's reference.
struct LowerTopK : OpConversionPattern<TopKOp> {
  using OpConversionPattern::OpConversionPattern;

  static Scalar precedes(Scalar a, Scalar atA, Scalar b, Scalar atB,
                         bool largest) {
    Scalar better = largest ? a > b || (a != a && b == b)
                            : a < b || (a == a && b != b);
    Scalar same = a == b || (a != a && b != b);
    return better || (same && atA < atB);
  }

  LogicalResult
  matchAndRewrite(TopKOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    auto shapes = resultSizes(cast<SizedOpInterface>(op.getOperation()), inputs);
    if (failed(shapes))
      return failure();
    const Input &x = inputs[0];
    int64_t axis = wrap(op.getAxis(), x.rank());
    Index k = shapes->front()[axis];
    if (failed(require(builder, k >= 0 && k <= x.sizes[axis], Status::Value, op,
                       "is outside the axis", "K")))
      return failure();
    Type int64 = builder.getI64Type();
    Value values = emptyOf(builder, shapes->front(), x.element);
    Value positions = emptyOf(builder, shapes->front(), int64);
    auto select = [&](ArrayRef<Index> at, Tensors carried) {
      return selectOne(builder, op, x, axis, at, carried);
    };
    Tensors found = visit(builder, shapes->front(), {values, positions}, select);
    for (auto [value, result] : llvm::zip_equal(found, op.getResults()))
      value = castTo(builder, value,
                     getTypeConverter()->convertType(result.getType()));
    rewriter.replaceOp(op, found);
    return success();
  }

  static Tensors selectOne(ImplicitLocOpBuilder &builder, TopKOp op,
                           const Input &x, int64_t axis, ArrayRef<Index> at,
                           Tensors carried) {
    Type int64 = builder.getI64Type();
    bool largest = op.getLargest();
    Sizes before(at);
    before[axis] = greatest(at[axis] - 1, 0);
    Condition isFirst = at[axis] == 0;
    // Read before the loop; not used for the first result.
    Value lastValue = extract(builder, carried[0], before);
    Value lastAt = extract(builder, carried[1], before);
    Value none = arith::ConstantOp::create(builder, builder.getI64IntegerAttr(-1));
    Value zero = zeroOf(builder, lastValue.getType());
    auto scan = [&](ArrayRef<Index> inner, Tensors best) {
      ScalarBuilder scalars(builder, builder.getLoc(), x.element);
      Sizes from(at);
      from[axis] = inner[0];
      Value element = extract(builder, x.lowered, from);
      Scalar here = load(scalars, element, x.element);
      Scalar hereAt(scalars, asInt64(builder, inner[0]), int64);
      Scalar last = load(scalars, lastValue, x.element);
      Scalar lastPosition(scalars, lastAt, int64);
      Scalar bestValue = load(scalars, best[0], x.element);
      Scalar bestAt(scalars, best[1], int64);
      Scalar first(scalars, isFirst.in(builder), builder.getI1Type());
      Scalar after =
          first || precedes(last, lastPosition, here, hereAt, largest);
      Scalar better =
          bestAt < 0 || precedes(here, hereAt, bestValue, bestAt, largest);
      Value take = (after && better).value;
      return Tensors{
          arith::SelectOp::create(builder, take, element, best[0]),
          arith::SelectOp::create(builder, take, hereAt.value, best[1])};
    };
    Tensors best = visit(builder, {x.sizes[axis]}, {zero, none}, scan);
    return {insert(builder, best[0], carried[0], at),
            insert(builder, best[1], carried[1], at)};
  }
};

} // namespace

void addSelectionPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerNonZero, LowerCompress, LowerTopK>(types,
                                                       patterns.getContext());
}

} // namespace onnxc
