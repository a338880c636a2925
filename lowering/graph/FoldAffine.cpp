// A convolution with constant weights followed by a constant scale and offset
// per channel is a convolution with other weights. Exporters leave
// BatchNormalization behind convolutions; elsewhere (before a convolution, in
// DenseNet) it is one multiplication and one addition of constants. The new
// constants are written as operations on the old ones; fold-constants computes
// them.
#include "dialects/onnx/Families.h"
#include "dialects/onnx/Graph.h"
#include "lowering/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace onnxc {
#define GEN_PASS_DEF_FOLDAFFINE
#include "lowering/Passes.h.inc"

using namespace mlir;

namespace {

// Computed from constants only, folded yet or not.
bool isConstantExpression(Value value, int depth = 12) {
  if (matchPattern(value, m_Constant()))
    return true;
  Operation *op = value.getDefiningOp();
  return op && depth > 0 && isa<OnnxOpInterface>(op) &&
         op->getNumOperands() > 0 && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isConstantExpression(operand, depth - 1);
         });
}

// [C] as it meets a tensor of `rank` at its channel, dimension 1.
Node perChannel(Node vector, int64_t rank) {
  SmallVector<int64_t> shape(rank - 1, 1);
  shape[0] = -1;
  return op<ReshapeOp>({vector, vector.graph->ints(shape)});
}

struct NormalizationIsAffine : OpRewritePattern<BatchNormalizationOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BatchNormalizationOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getX().getType());
    if (op.getTrainingMode() || !type || type.getRank() < 2 ||
        op->getNumOperands() != 5 ||
        !llvm::all_of(op->getOperands().drop_front(), [](Value operand) {
          return isConstantExpression(operand);
        }))
      return failure();
    Graph graph(rewriter, op.getLoc());
    SmallVector<Node> n = nodesOf(graph, op->getOperands());
    Node x = n[0], scale = n[1], offset = n[2], mean = n[3], variance = n[4];
    Node factor = scale / onnxc::op<SqrtOp>(variance + op.getEpsilon());
    Node shift = offset - mean * factor;
    Node y = x * perChannel(castLike(factor, x), type.getRank()) +
             perChannel(castLike(shift, x), type.getRank());
    if (graph.failed)
      return failure();
    rewriter.replaceOp(op, y.value);
    return success();
  }
};

// The convolution that `value` is, if its weights may change: constant, and
// nobody else sees the result.
ConvOp foldableConv(Value value) {
  auto conv = value.getDefiningOp<ConvOp>();
  return conv && conv->hasOneUse() && isConstantExpression(conv.getW()) &&
                 (!conv.getB() || isConstantExpression(conv.getB()))
             ? conv
             : ConvOp();
}

// One number for each channel of `conv`: [C, 1, ..] or [1, C, 1, ..], or one
// number for all.
bool isPerChannel(Value value, ConvOp conv) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  auto result = cast<RankedTensorType>(conv->getResult(0).getType());
  int64_t rank = result.getRank();
  if (!type || !type.hasStaticShape() || type.getRank() > rank ||
      !isConstantExpression(value) || result.isDynamicDim(1))
    return false;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    int64_t dim = rank - type.getRank() + i;
    if (size != 1 && (dim != 1 || size != result.getDimSize(1)))
      return false;
  }
  return true;
}

// As a vector over the channels, or of one element.
Node asVector(Node value) {
  return op<ReshapeOp>({value, value.graph->ints({-1})});
}

ConvOp withWeights(PatternRewriter &rewriter, ConvOp conv, Node weights,
                   Node bias) {
  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute attribute : conv->getAttrs())
    if (attribute.getName() != "operandSegmentSizes")
      attributes.push_back(attribute);
  FailureOr<Operation *> made =
      createOp(rewriter, conv.getLoc(), *conv->getRegisteredInfo(),
               {conv.getX(), weights.value, bias.value}, attributes);
  return failed(made) ? ConvOp() : cast<ConvOp>(*made);
}

struct ScaleWeights : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    for (auto [value, factor] :
         {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())}) {
      ConvOp conv = foldableConv(value);
      if (!conv || !isPerChannel(factor, conv) ||
          factor.getType() == conv.getType())
        continue;
      Graph graph(rewriter, op.getLoc());
      Node scale = asVector({graph, factor}), weights(graph, conv.getW());
      SmallVector<int64_t> shape(rankOf(weights), 1);
      shape[0] = -1;
      Node scaled = weights * onnxc::op<ReshapeOp>({scale, graph.ints(shape)});
      Node bias = conv.getB() ? Node(graph, conv.getB()) * scale : Node();
      ConvOp merged =
          graph.failed ? ConvOp() : withWeights(rewriter, conv, scaled, bias);
      if (!merged)
        return failure();
      rewriter.replaceOp(op, merged->getResults());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no convolution, or no constant");
  }
};

struct ShiftBias : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    for (auto [value, offset] :
         {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())}) {
      ConvOp conv = foldableConv(value);
      if (!conv || !isPerChannel(offset, conv))
        continue;
      Graph graph(rewriter, op.getLoc());
      int64_t channels =
          cast<RankedTensorType>(conv->getResult(0).getType()).getDimSize(1);
      Node shift = asVector({graph, offset});
      Node bias = conv.getB() ? Node(graph, conv.getB()) + shift
                              : expand(shift, graph.ints(channels));
      ConvOp merged =
          graph.failed
              ? ConvOp()
              : withWeights(rewriter, conv, Node(graph, conv.getW()), bias);
      if (!merged)
        return failure();
      rewriter.replaceOp(op, merged->getResults());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no convolution, or no constant");
  }
};

struct FoldAffine : impl::FoldAffineBase<FoldAffine> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<NormalizationIsAffine, ScaleWeights, ShiftBias>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace onnxc
