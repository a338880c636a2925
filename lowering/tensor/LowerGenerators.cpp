// Range: the length is computed before the loop, everything else is the body.
#include "dialects/onnx/Families.h"
#include "dialects/onnx/Range.h"
#include "lowering/tensor/OnnxToLinalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
namespace {

// How many steps lead from start to before limit; not below 0 for integers. The
// difference of two of them may take a bit more than they have: it is unsigned.
// Reals are counted in double precision, as ONNX Runtime does.
Scalar steps(OpBuilder &builder, Scalar start, Scalar limit, Scalar delta) {
  if (isa<FloatType>(start.type)) {
    auto wide = [&](Scalar x) { return cast(x, builder.getF64Type()); };
    return ceil((wide(limit) - wide(start)) / wide(delta));
  }
  auto wide = [&](Scalar x) {
    return cast(x, builder.getIntegerType(64, false));
  };
  Scalar isUp = delta > 0;
  Scalar isAhead = select(isUp, start < limit, limit < start);
  Scalar way =
      select(isUp, wide(limit) - wide(start), wide(start) - wide(limit));
  Scalar step = select(isUp, wide(delta), 0 - wide(delta));
  return select(isAhead, (way - 1) / step + 1, 0);
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
    Scalar found = steps(builder, start, limit, delta);
    // Neither NaN nor infinite.
    check(builder, (found <= double(mostRangeElements)).value, Status::Value,
          op, "has no number of elements that can be counted", "limit");
    Scalar count = cast(greatest(found, 0), builder.getI64Type());
    Value length = arith::IndexCastOp::create(builder, builder.getIndexType(),
                                              count.value);
    auto body = [&](ScalarBuilder &inner, ArrayRef<Scalar>) {
      auto here = [&](Scalar x) { return Scalar(inner, x.value, x.type); };
      Scalar at = cast(positionOf(inner, 0), here(start).type);
      return SmallVector<Scalar>{here(start) + at * here(delta)};
    };
    OpFoldResult size = length;
    Value result =
        generic(builder, {}, {}, emptyOf(builder, size, element), element,
                builder.getMultiDimIdentityMap(1), parallel(1), body)[0];
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
