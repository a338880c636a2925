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
// than the last of them and cost one comparison; another one takes its place
// behind those that it does not beat, and every one behind it moves by one:
// stable. NaN is greater than all others, as in the standard's reference.
struct LowerTopK : OpConversionPattern<TopKOp> {
  using OpConversionPattern::OpConversionPattern;

  static Scalar beats(Scalar a, Scalar b, bool largest) {
    return largest ? a > b || (a != a && b == b) : a < b || (a == a && b != b);
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
    auto insertOne = [&](Tensors into) {
      return insertAt(builder, place, at,
                      placeOf(builder, place, x, at, here, into[0], largest),
                      element, into);
    };
    return changeIf(builder, enters, best, insertOne);
  }

  // How many of those that were found an element does not beat.
  static Index placeOf(ImplicitLocOpBuilder &builder, Place place,
                       const Input &x, ArrayRef<Index> at, Scalar element,
                       Value values, bool largest) {
    Index seen = at[place.axis];
    auto count = [&](ArrayRef<Index> slot, Tensors carried) {
      Sizes there(at);
      there[place.axis] = slot[0];
      ScalarBuilder scalars(builder, builder.getLoc(), x.element);
      Scalar held = scalarAt(scalars, values, x.element, there);
      Scalar here(scalars, element.value, element.type);
      Condition stays =
          slot[0] < seen && !Condition(builder, beats(here, held, largest).value);
      return Tensors{
          (Index(builder, carried[0]) + select(stays, 1, 0)).in(builder)};
    };
    Value zero = Index(0).in(builder);
    return {builder, visit(builder, {place.k}, {zero}, count)[0]};
  }

  // Moves what lies behind a place by one; the last one of k goes.
  static Tensors insertAt(ImplicitLocOpBuilder &builder, Place place,
                          ArrayRef<Index> at, Index to, Value element,
                          Tensors into) {
    Index seen = at[place.axis], last = least(seen, place.k - 1);
    auto slot = [&](Index index) {
      Sizes there(at);
      there[place.axis] = index;
      return there;
    };
    auto move = [&](ArrayRef<Index> step, Tensors carried) {
      for (Value &tensor : carried)
        tensor = insert(builder,
                        extract(builder, tensor, slot(last - 1 - step[0])),
                        tensor, slot(last - step[0]));
      return carried;
    };
    into = visit(builder, {last - to}, into, move);
    return {insert(builder, element, into[0], slot(to)),
            insert(builder, asInt64(builder, seen), into[1], slot(to))};
  }
};

} // namespace

void addSelectionPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerNonZero, LowerCompress, LowerTopK>(types,
                                                       patterns.getContext());
}

} // namespace onnxc
