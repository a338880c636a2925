// NonZero and Compress: results of as many elements as are found by walking the
// input.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
namespace {

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
    Index sum =
        Index(builder, carried[0]) + select(isSet(builder, input, at), 1, 0);
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
      return changeIf(builder, isSet(builder, x, at), carried,
                      [&](Tensors changed) {
                        Index next(builder, changed[1]);
                        for (int64_t i = 0; i < x.rank(); ++i)
                          changed[0] = insert(builder, asInt64(builder, at[i]),
                                              changed[0], {i, next});
                        changed[1] = (next + 1).in(builder);
                        return changed;
                      });
    };
    found = visit(builder, x.sizes, {found, Index(0).in(builder)}, write)[0];
    rewriter.replaceOp(
        op,
        castTo(builder, found, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

// With a slice of another tensor.
Value copied(ImplicitLocOpBuilder &builder, Value tensor, ArrayRef<Index> from,
             Value into, ArrayRef<Index> to, ArrayRef<Index> sizes) {
  if (hasZero(sizes))
    return into;
  if (product(sizes).is(1))
    return insert(builder, extract(builder, tensor, from), into, to);
  Value slice = sliced(builder, tensor, from, sizes);
  return tensor::InsertSliceOp::create(
      builder, slice, into, folded(builder, to), folded(builder, sizes),
      folded(builder, Sizes(sizes.size(), 1)));
}

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
      return changeIf(builder, isSet(builder, condition, at), carried,
                      [&](Tensors changed) {
                        Index next(builder, changed[1]);
                        Sizes from(input.rank(), 0), to(input.rank(), 0);
                        from[axis] = at[0];
                        to[axis] = next;
                        return Tensors{copied(builder, input.lowered, from,
                                              changed[0], to, slice),
                                       (next + 1).in(builder)};
                      });
    };
    kept =
        visit(builder, condition.sizes, {kept, Index(0).in(builder)}, write)[0];
    rewriter.replaceOp(
        op,
        castTo(builder, kept, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

void addSelectionPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerNonZero, LowerCompress>(types, patterns.getContext());
}

} // namespace onnxc
