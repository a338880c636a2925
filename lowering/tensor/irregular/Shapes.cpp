// Shape, Size and ConstantOfShape: sizes as elements, elements as sizes.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/Inputs.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
namespace {

struct LowerShape : OpConversionPattern<ShapeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ShapeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    SmallVector<Value> sizes;
    for (Index size : op.elements(inputs[0].sizes))
      sizes.push_back(asInt64(builder, size));
    auto type = RankedTensorType::get(sizes.size(), builder.getI64Type());
    rewriter.replaceOpWithNewOp<tensor::FromElementsOp>(op, type, sizes);
    return success();
  }
};

struct LowerSize : OpConversionPattern<SizeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(SizeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    Value size = asInt64(builder, product(inputs[0].sizes));
    rewriter.replaceOpWithNewOp<tensor::FromElementsOp>(
        op, RankedTensorType::get({}, builder.getI64Type()), size);
    return success();
  }
};

struct LowerConstantOfShape : OpConversionPattern<ConstantOfShapeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ConstantOfShapeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    auto shapes =
        resultSizes(cast<SizedOpInterface>(op.getOperation()), inputs);
    if (failed(shapes))
      return failure();
    auto positive = [](Index size, ArrayRef<Index>) { return size >= 0; };
    if (failed(requireAll(builder, inputs[0], positive, Status::Value, op,
                          "a size is negative", "input")))
      return failure();
    Type element = getElementTypeOrSelf(op.getType()),
         storage = storageType(element);
    Value value = zeroOf(builder, storage);
    if (std::optional<ElementsAttr> given = op.getValue()) {
      auto scalar = RankedTensorType::get({}, storage);
      auto flat = retype(*given, RankedTensorType::get({}, storage));
      Value constant = arith::ConstantOp::create(builder, scalar, flat);
      value = extract(builder, constant, {});
    }
    Value filled =
        linalg::FillOp::create(builder, value,
                               emptyOf(builder, shapes->front(), element))
            .getResult(0);
    rewriter.replaceOp(
        op,
        castTo(builder, filled, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

void addShapePatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerShape, LowerSize, LowerConstantOfShape>(
      types, patterns.getContext());
}

} // namespace onnxc
