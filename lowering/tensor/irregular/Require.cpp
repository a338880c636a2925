// What a composite demands of the values of a run.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"

using namespace mlir;

namespace onnxc {
namespace {

struct LowerRequire : OpConversionPattern<RequireOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(RequireOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    if (failed(demand(builder, op, inputs[1])))
      return failure();
    rewriter.replaceOp(op, adaptor.getX());
    return success();
  }

  static LogicalResult demand(ImplicitLocOpBuilder &builder, RequireOp op,
                              const Input &conditions) {
    auto status = Status(op.getStatus());
    StringRef message = op.getMessage(), operand = op.getOperand();
    if (auto known = constantInts(conditions.original))
      return require(builder, !llvm::is_contained(*known, 0), status, op,
                     message, operand);
    auto holds = [](Index condition, ArrayRef<Index>) {
      return !(condition == 0);
    };
    return requireAll(builder, conditions, holds, status, op, message, operand);
  }
};

} // namespace

void addRequirePatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerRequire>(types, patterns.getContext());
}

} // namespace onnxc
