// Range: the length is computed before the loop, everything else is the body.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/OnnxToLinalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
namespace {

// How many steps lead from start to before limit.
Scalar steps(Scalar start, Scalar limit, Scalar delta) {
  if (isa<FloatType>(start.type))
    return greatest(ceil((limit - start) / delta), 0);
  Scalar way = limit - start, whole = way / delta, rest = way % delta;
  Scalar more = rest != 0 && (rest < 0) == (delta < 0);
  Scalar count = select(more, whole + 1, whole);
  if (start.type.isUnsignedInteger())
    return select(limit < start, 0, count);
  return greatest(count, 0);
}

struct LowerRange : OpConversionPattern<RangeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(RangeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Type element = getElementTypeOrSelf(op.getType());
    ScalarBuilder scalars(builder, builder.getLoc(), element);
    auto read = [&](Value tensor) {
      auto type = cast<RankedTensorType>(tensor.getType());
      SmallVector<Value> first(type.getRank(),
                               arith::ConstantIndexOp::create(builder, 0));
      Value value = tensor::ExtractOp::create(builder, tensor, first);
      return load(scalars, value, element);
    };
    Scalar start = read(adaptor.getStart()), limit = read(adaptor.getLimit());
    Scalar delta = read(adaptor.getDelta());
    check(builder, (delta != 0).value, Status::Value, op, "the step is zero",
          "delta");
    Scalar count = cast(steps(start, limit, delta), builder.getI64Type());
    Value length = arith::IndexCastOp::create(builder, builder.getIndexType(),
                                              count.value);
    auto body = [&](ScalarBuilder &inner, ArrayRef<Scalar>) {
      auto here = [&](Scalar x) { return Scalar(inner, x.value, x.type); };
      Scalar at = cast(positionOf(inner, 0), here(start).type);
      return SmallVector<Scalar>{here(start) + at * here(delta)};
    };
    OpFoldResult size = length;
    Value result = generic(builder, {}, {}, emptyOf(builder, size, element),
                           element, builder.getMultiDimIdentityMap(1),
                           parallel(1), body)[0];
    Type type = getTypeConverter()->convertType(op.getType());
    rewriter.replaceOp(op, castTo(builder, result, type));
    return success();
  }
};

} // namespace

void addGeneratorPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerRange>(types, patterns.getContext());
}

} // namespace onnxc
