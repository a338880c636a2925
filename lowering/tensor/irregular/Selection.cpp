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

// The best so far lie in the result, best first. Most elements are no better
// than the last of them and cost one comparison; another one is handed down
// until it finds its place, and every one behind it moves by one: stable.
// NaN is greater than all others, as in the standard's reference.
struct LowerTopK : OpConversionPattern<TopKOp> {
  using OpConversionPattern::OpConversionPattern;

  static Scalar beats(Scalar a, Scalar b, bool largest) {
    return largest ? a > b || (a != a && b == b) : a < b || (a == a && b != b);
  }
  static Scalar ties(Scalar a, Scalar b) {
    return a == b || (a != a && b != b);
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
    Value values = emptyOf(builder, shapes->front(), x.element);
    Value positions = emptyOf(builder, shapes->front(), builder.getI64Type());
    // The axis innermost, whichever it is; nothing to look at for no result.
    Sizes every = x.sizes;
    every[axis] = select(k == 0, 0, every[axis]);
    std::swap(every[axis], every.back());
    auto offer = [&](ArrayRef<Index> position, Tensors best) {
      Sizes at(position);
      std::swap(at[axis], at.back());
      return offerOne(builder, op, {axis, k}, x, at, best);
    };
    Tensors found = visit(builder, every, {values, positions}, offer);
    for (auto [value, result] : llvm::zip_equal(found, op.getResults()))
      value = castTo(builder, value,
                     getTypeConverter()->convertType(result.getType()));
    rewriter.replaceOp(op, found);
    return success();
  }

  struct Place {
    int64_t axis;
    Index k;
  };

  // The element at `at` into the best ones of its row, if it is one of them.
  static Tensors offerOne(ImplicitLocOpBuilder &builder, TopKOp op, Place place,
                          const Input &x, ArrayRef<Index> at, Tensors best) {
    bool largest = op.getLargest();
    Value element = extract(builder, x.lowered, at);
    Index seen = at[place.axis];
    Sizes last(at);
    last[place.axis] = place.k - 1;
    ScalarBuilder scalars(builder, builder.getLoc(), x.element);
    Scalar here = load(scalars, element, x.element);
    Scalar worst = scalarAt(scalars, best[0], x.element, last);
    Condition enters =
        seen < place.k ||
        Condition(builder, beats(here, worst, largest).value);
    auto handDown = [&](ArrayRef<Index> slot, Tensors carried) {
      Sizes to(at);
      to[place.axis] = slot[0];
      return exchange(builder, x, to, slot[0] >= seen, largest, carried);
    };
    auto insertOne = [&](Tensors into) {
      into.append({element, asInt64(builder, seen)});
      Tensors done = visit(builder, {place.k}, into, handDown);
      return Tensors{done[0], done[1]};
    };
    return changeIf(builder, enters, best, insertOne);
  }

  // The better of what lies in a slot and what is handed down; the other one is
  // handed on.
  static Tensors exchange(ImplicitLocOpBuilder &builder, const Input &x,
                          ArrayRef<Index> slot, Condition isEmpty, bool largest,
                          Tensors carried) {
    Type int64 = builder.getI64Type();
    ScalarBuilder scalars(builder, builder.getLoc(), x.element);
    Value heldValue = extract(builder, carried[0], slot);
    Value heldAt = extract(builder, carried[1], slot);
    Scalar held = load(scalars, heldValue, x.element);
    Scalar given = load(scalars, carried[2], x.element);
    Scalar earlier =
        Scalar(scalars, carried[3], int64) < Scalar(scalars, heldAt, int64);
    Scalar empty(scalars, isEmpty.in(builder), builder.getI1Type());
    Value takes = (empty || beats(given, held, largest) ||
                   (ties(given, held) && earlier))
                      .value;
    auto choose = [&](Value yes, Value no) -> Value {
      return arith::SelectOp::create(builder, takes, yes, no);
    };
    return {insert(builder, choose(carried[2], heldValue), carried[0], slot),
            insert(builder, choose(carried[3], heldAt), carried[1], slot),
            choose(heldValue, carried[2]), choose(heldAt, carried[3])};
  }
};

} // namespace

void addSelectionPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerNonZero, LowerCompress, LowerTopK>(types,
                                                       patterns.getContext());
}

} // namespace onnxc
