// A composite operator is kept whole as long as somebody has a fast lowering
// for the whole; here it becomes its body.
#include "dialects/onnx/Families.h"
#include "lowering/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace onnxc {
#define GEN_PASS_DEF_EXPANDCOMPOSITE
#include "lowering/Passes.h.inc"

using namespace mlir;

namespace {

// The composite's type may know more than the body's, such as a name.
Value withType(Graph &graph, Operation *op, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (llvm::is_contained(op->getOperands(), value)) // its type is not ours
    value = graph.op("onnx.Identity", Node(graph, value)).value;
  value.setType(type);
  return value;
}

struct ExpandBody : OpInterfaceRewritePattern<CompositeOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(CompositeOpInterface op,
                                PatternRewriter &rewriter) const override {
    Graph graph(rewriter, op.getLoc());
    SmallVector<Node> results =
        op.expand(graph, nodesOf(graph, op->getOperands()));
    if (graph.failed)
      return failure();
    SmallVector<Value> values;
    for (auto [node, result] : llvm::zip_equal(results, op->getResults()))
      values.push_back(withType(graph, op, node.value, result.getType()));
    rewriter.replaceOp(op, values);
    return success();
  }
};

struct ExpandCol2Im : OpRewritePattern<Col2ImOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(Col2ImOp op,
                                PatternRewriter &rewriter) const override {
    Graph graph(rewriter, op.getLoc());
    FailureOr<Node> sum = addUpBlocks(graph, op);
    if (failed(sum))
      return failure();
    rewriter.replaceOp(op, withType(graph, op, sum->value, op.getType()));
    return success();
  }
};

struct ExpandComposite : impl::ExpandCompositeBase<ExpandComposite> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandBody, ExpandCol2Im>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace onnxc
