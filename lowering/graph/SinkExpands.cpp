// What is repeated along a batch is computed once: exporters expand learned
// queries, positions and masks to a batch of unknown size in front of the
// layers that read them. Where these see constants only, all that is left of
// them are numbers.
#include "dialects/onnx/Families.h"
#include "dialects/onnx/Graph.h"
#include "lowering/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace onnxc {
#define GEN_PASS_DEF_SINKEXPANDS
#include "lowering/Passes.h.inc"

using namespace mlir;

namespace {

// An operand that repeats something.
struct Repeat {
  Value source, sizes;
  RankedTensorType from, to;
  int64_t length; // of `sizes`

  int64_t sizeFrom(int64_t dim) const { // of a dimension of the result
    int64_t own = dim - (to.getRank() - from.getRank());
    return own < 0 ? 1 : from.getDimSize(own);
  }
  bool isAlong(int64_t dim) const {
    return sizeFrom(dim) == 1 && to.getDimSize(dim) != 1;
  }
  bool isSameAlong(int64_t dim) const {
    return !ShapedType::isDynamic(to.getDimSize(dim)) &&
           sizeFrom(dim) == to.getDimSize(dim);
  }
  bool repeats() const {
    return llvm::any_of(llvm::seq(to.getRank()),
                        [&](int64_t dim) { return isAlong(dim); });
  }
};

std::optional<Repeat> repeatOf(Value value) {
  auto expand = value.getDefiningOp<ExpandOp>();
  if (!expand)
    return std::nullopt;
  auto from = dyn_cast<RankedTensorType>(expand.getInput().getType()),
       to = dyn_cast<RankedTensorType>(expand.getType()),
       sizes = dyn_cast<RankedTensorType>(expand.getShape().getType());
  if (!from || !to || !sizes || !sizes.hasStaticShape() || sizes.getRank() != 1)
    return std::nullopt;
  Repeat repeat{expand.getInput(), expand.getShape(), from, to,
                sizes.getDimSize(0)};
  return repeat.repeats() ? std::optional(repeat) : std::nullopt;
}

// The operation's result, expanded behind it.
LogicalResult replace(PatternRewriter &rewriter, Operation *op, Graph &graph,
                      Node result, Node sizes) {
  Node repeated = graph.failed ? Node() : expand(result, sizes);
  if (graph.failed)
    return failure();
  // The old type may say more.
  repeated.value.setType(op->getResult(0).getType());
  rewriter.replaceOp(op, repeated.value);
  return success();
}

// Whether the dimensions of an operand meet the last ones of the result, one
// element each.
bool broadcastsAsUsual(ScalarOpInterface op, int64_t operand, int64_t own,
                       int64_t rank) {
  return op.firstDim(operand, own, rank) == rank - own &&
         llvm::all_of(llvm::seq(rank), [&](int64_t dim) {
           return op.block(operand, dim, rank) == 1;
         });
}

// EyeLike tells elements by their places.
struct SinkBelowElementwise : OpInterfaceRewritePattern<ScalarOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(ScalarOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || isa<EyeLikeOp>(*op))
      return rewriter.notifyMatchFailure(op, "not by elements alone");
    std::optional<Repeat> repeat;
    for (Value operand : op->getOperands())
      if (repeat = repeatOf(operand); repeat)
        break;
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!repeat || !type || type.getRank() != repeat->to.getRank())
      return rewriter.notifyMatchFailure(op, "no repeated operand");
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      std::optional<Repeat> other = repeatOf(operand);
      bool isSame = other && other->sizes == repeat->sizes;
      operands.push_back(isSame ? other->source : operand);
      auto own = dyn_cast<RankedTensorType>(operands.back().getType());
      if (!own || !broadcastsAsUsual(op, i, own.getRank(), type.getRank()) ||
          !isOnceAlong(*repeat, own))
        return rewriter.notifyMatchFailure(op, "another operand is not");
    }
    Graph graph(rewriter, op.getLoc());
    IRMapping mapping;
    mapping.map(op->getOperands(), operands);
    Operation *once = rewriter.clone(*op, mapping);
    if (!inferOnce(once)) {
      rewriter.eraseOp(once);
      return rewriter.notifyMatchFailure(op, "of no type");
    }
    return replace(rewriter, op, graph, Node(graph, once->getResult(0)),
                   Node(graph, repeat->sizes));
  }

private:
  // Whether the operand has one element along what is repeated.
  static bool isOnceAlong(const Repeat &repeat, RankedTensorType own) {
    int64_t rank = repeat.to.getRank();
    return llvm::all_of(llvm::seq(own.getRank()), [&](int64_t dim) {
      int64_t of = dim + rank - own.getRank();
      return !repeat.isAlong(of) || own.getDimSize(dim) == 1;
    });
  }

  // Gives the copy the type of what it computes now.
  static bool inferOnce(Operation *once) {
    auto infer = cast<InferTypeOpInterface>(once);
    SmallVector<Type> types;
    if (failed(infer.inferReturnTypes(
            once->getContext(), once->getLoc(), once->getOperands(),
            once->getAttrDictionary(), once->getPropertiesStorage(),
            once->getRegions(), types)))
      return false;
    once->getResult(0).setType(types.front());
    return true;
  }
};

struct SinkBelowMatMul : OpRewritePattern<MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatMulOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Repeat> repeat = repeatOf(op.getA());
    auto weights = dyn_cast<RankedTensorType>(op.getB().getType());
    if (!repeat || !weights || weights.getRank() != 2 ||
        repeat->from.getRank() < 2 || repeat->length < 2 ||
        !repeat->isSameAlong(repeat->to.getRank() - 1))
      return rewriter.notifyMatchFailure(op, "no repeated rows");
    Graph graph(rewriter, op.getLoc());
    Node sizes(graph, repeat->sizes), source(graph, repeat->source);
    return replace(
        rewriter, op, graph, matmul(source, Node(graph, op.getB())),
        concat({slice(sizes, 0, 0, repeat->length - 1), graph.ints(1)}, 0));
  }
};

struct SinkBelowTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Repeat> repeat = repeatOf(op->getOperand(0));
    std::optional<ArrayRef<int64_t>> order = op.getPerm();
    if (!repeat || !order || repeat->from.getRank() != repeat->to.getRank() ||
        repeat->length != repeat->to.getRank())
      return rewriter.notifyMatchFailure(op, "nothing repeated");
    Graph graph(rewriter, op.getLoc());
    return replace(rewriter, op, graph,
                   transpose(Node(graph, repeat->source), *order),
                   gather(Node(graph, repeat->sizes), graph.ints(*order), 0));
  }
};

// Of one operand that is repeated along labels which no other one has.
struct SinkBelowEinsum : OpRewritePattern<EinsumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(EinsumOp op,
                                PatternRewriter &rewriter) const override {
    std::string equation = op.getEquation().str();
    llvm::erase(equation, ' ');
    auto [inputs, output] = StringRef(equation).split("->");
    SmallVector<StringRef> labels;
    inputs.split(labels, ',');
    if (output.empty() || equation.find('.') != std::string::npos ||
        labels.size() != op->getNumOperands())
      return rewriter.notifyMatchFailure(op, "labels are not all written");
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      std::optional<Repeat> repeat = repeatOf(operand);
      if (!repeat || repeat->from.getRank() != repeat->to.getRank() ||
          repeat->length != repeat->to.getRank() ||
          repeat->length != int64_t(labels[i].size()) ||
          !areItsOwn(*repeat, labels, i, output))
        continue;
      Graph graph(rewriter, op.getLoc());
      SmallVector<Node> operands = nodesOf(graph, op->getOperands()), sizes;
      operands[i] = Node(graph, repeat->source);
      for (char label : output) {
        size_t dim = labels[i].find(label);
        sizes.push_back(
            dim == StringRef::npos
                ? graph.ints(1)
                : slice(Node(graph, repeat->sizes), 0, dim, dim + 1));
      }
      return replace(rewriter, op, graph,
                     graph.op(EinsumOp::getOperationName(), operands,
                              {{"equation", op.getEquation()}}),
                     concat(sizes, 0));
    }
    return rewriter.notifyMatchFailure(op, "nothing repeated");
  }

private:
  // What may be repeated stays in the result.
  static bool areItsOwn(const Repeat &repeat, ArrayRef<StringRef> labels,
                        size_t operand, StringRef output) {
    for (auto [dim, label] : llvm::enumerate(labels[operand])) {
      if (repeat.isSameAlong(dim))
        continue;
      if (!output.contains(label) || labels[operand].count(label) > 1)
        return false;
      for (auto [i, others] : llvm::enumerate(labels))
        if (i != operand && others.contains(label))
          return false;
    }
    return true;
  }
};

struct SinkExpands : impl::SinkExpandsBase<SinkExpands> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SinkBelowElementwise, SinkBelowMatMul, SinkBelowTranspose,
                 SinkBelowEinsum>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace onnxc
