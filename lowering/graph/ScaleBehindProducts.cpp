// Attention scales its queries, or queries and keys. Where these are parts of
// one product's result that is no part of an epilogue, but scores have one in
// front of their softmax.
#include "dialects/onnx/Constants.h"
#include "dialects/onnx/Families.h"
#include "dialects/onnx/Graph.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace onnxc {
#define GEN_PASS_DEF_SCALEBEHINDPRODUCTS
#include "lowering/Passes.h.inc"

using namespace mlir;

namespace {

// Whether `value` is a view of a part of something computed.
bool isPart(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<ReshapeOp, TransposeOp, SqueezeOp, UnsqueezeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<SplitOp, SliceOp, GatherOp>(op) &&
         !matchPattern(op->getOperand(0), m_Constant());
}

// Whether `value` is one finite number, known, of the element type of `result`
// and of no higher rank.
bool isNumber(Value value, RankedTensorType result) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  std::optional<SmallVector<double>> numbers = constantFloats(value);
  return type && numbers && type.hasStaticShape() &&
         type.getNumElements() == 1 &&
         type.getRank() <= std::min<int64_t>(result.getRank(), 1) &&
         type.getElementType() == result.getElementType() &&
         std::isfinite(numbers->front());
}

struct ScaleScores : OpRewritePattern<MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatMulOp op,
                                PatternRewriter &rewriter) const override {
    // Narrower sums might overflow before they are scaled.
    auto result = dyn_cast<RankedTensorType>(op.getType());
    if (!result ||
        (!result.getElementType().isF32() && !result.getElementType().isF64()))
      return rewriter.notifyMatchFailure(op, "narrow numbers");
    for (OpOperand &operand : op->getOpOperands()) {
      Operation *scale = operand.get().getDefiningOp();
      Value other = op->getOperand(1 - operand.getOperandNumber());
      if (!isa_and_nonnull<MulOp, DivOp>(scale) || !scale->hasOneUse() ||
          matchPattern(other, m_Constant()))
        continue;
      Value value = scale->getOperand(0), factor = scale->getOperand(1);
      if (isa<MulOp>(scale) && isNumber(value, result))
        std::swap(value, factor);
      if (!isNumber(factor, result) || !isPart(value))
        continue;
      Graph graph(rewriter, op.getLoc());
      SmallVector<Node> operands = nodesOf(graph, op->getOperands());
      operands[operand.getOperandNumber()] = Node(graph, value);
      Node scores = onnxc::op<MatMulOp>(operands), number(graph, factor);
      Node scaled = isa<MulOp>(scale) ? scores * number : scores / number;
      if (graph.failed)
        return failure();
      rewriter.replaceOp(op, scaled.value);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no scaled part");
  }
};

struct ScaleBehindProducts
    : impl::ScaleBehindProductsBase<ScaleBehindProducts> {
  void runOnOperation() override {
    if (isStrict(getOperation()))
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<ScaleScores>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace onnxc
