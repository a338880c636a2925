// Subgraphs keep their operations for now and get the types of values in
// memory; lower-control-flow makes loops and branches of them, which is easier
// once what is inside has its final form.
#include "dialects/onnx/Families.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/tensor/OnnxToLinalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
namespace {

struct ConvertSubgraph : OpInterfaceConversionPattern<SubgraphOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;
  LogicalResult
  matchAndRewrite(SubgraphOpInterface op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    OperationState state(op.getLoc(), op->getName());
    state.addOperands(operands);
    state.addAttributes(op->getAttrs());
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return failure();
    state.addTypes(types);
    for (unsigned i = 0; i < op->getNumRegions(); ++i)
      state.addRegion();
    Operation *converted = rewriter.create(state);
    for (auto [from, to] :
         llvm::zip(op->getRegions(), converted->getRegions())) {
      rewriter.inlineRegionBefore(from, to, to.end());
      if (failed(rewriter.convertRegionTypes(&to, *getTypeConverter())))
        return failure();
    }
    rewriter.replaceOp(op, converted);
    return success();
  }
};

struct ConvertYield : OpConversionPattern<YieldOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(YieldOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.modifyOpInPlace(op,
                             [&] { op->setOperands(adaptor.getOperands()); });
    return success();
  }
};

struct LowerFail : OpConversionPattern<FailOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(FailOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getWrong())
      return op.emitError(op.getMessage());
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Value never = arith::ConstantIntOp::create(builder, 0, 1);
    CheckOp::create(builder, never, uint32_t(Status::Shape), op.getMessage(),
                    "");
    SmallVector<Value> values;
    for (Type type : op->getResultTypes()) {
      auto tensor =
          cast<RankedTensorType>(getTypeConverter()->convertType(type));
      Value none = arith::ConstantIndexOp::create(builder, 0);
      SmallVector<Value> sizes(tensor.getNumDynamicDims(), none);
      values.push_back(tensor::EmptyOp::create(builder, tensor, sizes));
    }
    rewriter.replaceOp(op, values);
    return success();
  }
};

} // namespace

void addSubgraphPatterns(TypeConverter &types, RewritePatternSet &patterns,
                         ConversionTarget &target) {
  patterns.add<ConvertSubgraph, ConvertYield, LowerFail>(types,
                                                         patterns.getContext());
  // What no pattern takes is no reason to stop: who converts tells of all of
  // it.
  target.addDynamicallyLegalDialect<OnnxDialect>([&types](Operation *op) {
    bool isDone = isa<SubgraphOpInterface, YieldOp>(op) && types.isLegal(op) &&
                  llvm::all_of(op->getRegions(), [&](Region &region) {
                    return types.isLegal(&region);
                  });
    return isDone ? std::optional(true) : std::nullopt;
  });
}

} // namespace onnxc
