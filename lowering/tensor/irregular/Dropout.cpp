// Dropout passes its operand on. What it would drop in training is random,
// which no compiled model is: then the run ends with an error.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace onnxc {
namespace {

struct LowerDropout : OpConversionPattern<DropoutOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(DropoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    if (failed(requireInference(builder, op, inputs)))
      return failure();
    const Input &data = inputs[0];
    Value one = arith::ConstantOp::create(builder, builder.getI8IntegerAttr(1));
    Value mask =
        linalg::FillOp::create(
            builder, one, emptyOf(builder, data.sizes, builder.getI1Type()))
            .getResult(0);
    rewriter.replaceOp(
        op, {data.lowered,
             castTo(builder, mask,
                    getTypeConverter()->convertType(op.getMask().getType()))});
    return success();
  }

  // No training, or nothing that it would drop.
  static LogicalResult requireInference(ImplicitLocOpBuilder &builder,
                                        DropoutOp op, ArrayRef<Input> inputs) {
    DropoutOp::GenericAdaptor<ArrayRef<Input>> operands(inputs, op);
    Input mode = operands.getTrainingMode(), ratio = operands.getRatio();
    auto trains = mode.given() ? constantInts(mode.original) : std::nullopt;
    auto share = ratio.given() ? constantFloats(ratio.original) : std::nullopt;
    if (!mode.given() || (trains && trains->front() == 0) ||
        (share && share->front() == 0))
      return success();
    if (trains && (share || !ratio.given()))
      return op.emitError("Dropout in training mode is not supported");
    ScalarBuilder scalars(builder, op.getLoc(), mode.element);
    Scalar training =
        scalarAt(scalars, mode.lowered, mode.element, Sizes(mode.rank(), 0));
    Scalar holds = training ^ true;
    if (ratio.given())
      holds = holds || scalarAt(scalars, ratio.lowered, ratio.element,
                                Sizes(ratio.rank(), 0)) == 0;
    return require(builder, Condition(builder, holds.value), Status::Value, op,
                   "training is not supported", "training_mode");
  }
};

} // namespace

void addDropoutPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerDropout>(types, patterns.getContext());
}

} // namespace onnxc
