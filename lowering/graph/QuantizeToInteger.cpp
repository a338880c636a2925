// Quantizers write `Quantize(Conv(Dequantize(x), Dequantize(w)))` for what a
// machine does in integers. Computed as written, in floats, a sum that lies
// halfway between two results is rounded by chance; the integer operators round
// once, as the one who made the model saw it.
#include "dialects/onnx/Constants.h"
#include "dialects/onnx/Families.h"
#include "dialects/onnx/Graph.h"
#include "lowering/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace onnxc {
#define GEN_PASS_DEF_QUANTIZETOINTEGER
#include "lowering/Passes.h.inc"

using namespace mlir;

namespace {

// A tensor as numbers, scale and zero point; null where it is not quantized.
struct Quantized {
  Node numbers, scale, zero;
  int64_t axis = 0;
};

bool isScalar(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 1;
}

// Where one scale holds for the tensor, or for each index along an axis.
std::optional<Quantized> dequantized(Graph &graph, Value value) {
  auto from = value.getDefiningOp<DequantizeLinearOp>();
  if (!from || from.getBlockSize() ||
      !from.getXScale().getType().getElementType().isF32() ||
      !isa<RankedTensorType>(from.getX().getType()))
    return std::nullopt;
  Node numbers(graph, from.getX());
  Node zero = from.getXZeroPoint() ? Node(graph, from.getXZeroPoint())
                                   : constantLike(0, numbers);
  return Quantized{numbers, Node(graph, from.getXScale()), zero,
                   wrap(from.getAxis(), rankOf(numbers))};
}

bool isByte(const Quantized &x) {
  return getElementTypeOrSelf(x.numbers.value.getType()).isInteger(8);
}

// The bias counts in steps of both scales; null where it does not.
std::optional<Node> integerBias(Graph &graph, Value bias, const Quantized &x,
                                const Quantized &w) {
  if (!bias)
    return Node();
  std::optional<Quantized> given = dequantized(graph, bias);
  if (!given || !getElementTypeOrSelf(given->numbers.value.getType())
                     .isSignlessInteger(32))
    return std::nullopt;
  auto zero = constantInts(given->zero.value);
  auto steps = constantFloats(given->scale.value),
       left = constantFloats(x.scale.value),
       right = constantFloats(w.scale.value);
  if (!zero || !steps || !left || !right || left->size() != 1 ||
      steps->size() != right->size() ||
      llvm::any_of(*zero, [](int64_t x) { return x != 0; }))
    return std::nullopt;
  for (auto [step, scale] : llvm::zip(*steps, *right))
    if (std::abs(step - scale * left->front()) > 1e-5 * std::abs(step))
      return std::nullopt;
  return given->numbers;
}

// What stands before a QuantizeLinear that nobody else sees.
struct Result {
  Operation *product; // Conv, MatMul or Gemm
  bool isRelu = false;
};

std::optional<Result> resultOf(QuantizeLinearOp op) {
  if (op.getBlockSize() || !op.getYZeroPoint() || !isScalar(op.getYScale()) ||
      !getElementTypeOrSelf(op.getYScale().getType()).isF32() ||
      !getElementTypeOrSelf(op.getYZeroPoint().getType()).isInteger(8))
    return std::nullopt;
  Operation *from = op.getX().getDefiningOp();
  Result result{from};
  if (auto relu = dyn_cast_or_null<ReluOp>(from); relu && relu->hasOneUse()) {
    result = {relu.getX().getDefiningOp(), true};
  }
  if (!result.product || !result.product->hasOneUse())
    return std::nullopt;
  return result;
}

template <typename Op>
Node integerProduct(Graph &graph, Op op, Quantized x, Quantized w, Node bias,
                    Node scale, Node zero) {
  if constexpr (std::is_same_v<Op, ConvOp>)
    return onnxc::op<QLinearConvOp>(
        {x.numbers, x.scale, x.zero, w.numbers, w.scale, w.zero, scale, zero,
         bias},
        windowAttributes(op.getAutoPad(), op.getDilations(), op.getGroup(),
                         op.getKernelShape(), op.getPads(), op.getStrides()));
  else if constexpr (std::is_same_v<Op, GemmOp>)
    return onnxc::op<MsQGemmOp>(
        {x.numbers, x.scale, x.zero, w.numbers, w.scale, w.zero, bias, scale,
         zero},
        {{"transA", op.getTransA()}, {"transB", op.getTransB()}});
  else
    return onnxc::op<QLinearMatMulOp>(
        {x.numbers, x.scale, x.zero, w.numbers, w.scale, w.zero, scale, zero});
}

// The dimension of the second operand along which its scales may differ.
int64_t channelOf(ConvOp, int64_t) { return 0; }
int64_t channelOf(GemmOp op, int64_t) { return op.getTransB() ? 0 : 1; }
int64_t channelOf(MatMulOp, int64_t rank) { return rank == 2 ? 1 : -1; }

bool isPlain(ConvOp) { return true; }
bool isPlain(MatMulOp) { return true; }
bool isPlain(GemmOp op) {
  return op.getAlpha() == 1 && op.getBeta() == 1 &&
         (!op.getC() || cast<ShapedType>(op.getC().getType()).getRank() == 1);
}

Value biasOf(ConvOp op) { return op.getB(); }
Value biasOf(GemmOp op) { return op.getC(); }
Value biasOf(MatMulOp) { return {}; }

template <typename Op> struct Raise : OpRewritePattern<QuantizeLinearOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(QuantizeLinearOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Result> result = resultOf(op);
    auto product = result ? dyn_cast<Op>(result->product) : Op();
    if (!product || !isPlain(product))
      return failure();
    Graph graph(rewriter, op.getLoc());
    auto x = dequantized(graph, product->getOperand(0)),
         w = dequantized(graph, product->getOperand(1));
    if (!x || !w || !isByte(*x) || !isByte(*w) || !isScalar(x->scale.value))
      return rewriter.notifyMatchFailure(op, "operands are not quantized");
    if (!isScalar(w->scale.value) &&
        w->axis != channelOf(product, rankOf(w->numbers)))
      return rewriter.notifyMatchFailure(op, "scales along another axis");
    std::optional<Node> bias = integerBias(graph, biasOf(product), *x, *w);
    if (!bias)
      return rewriter.notifyMatchFailure(op, "the bias has other steps");
    Node zero(graph, op.getYZeroPoint());
    Node y = integerProduct(graph, product, *x, *w, *bias,
                            Node(graph, op.getYScale()), zero);
    if (result->isRelu)
      y = onnxc::op<MaxOp>({y, zero});
    if (graph.failed)
      return failure();
    rewriter.replaceOp(op, y.value);
    return success();
  }
};

struct QuantizeToInteger : impl::QuantizeToIntegerBase<QuantizeToInteger> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Raise<ConvOp>, Raise<GemmOp>, Raise<MatMulOp>>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace onnxc
