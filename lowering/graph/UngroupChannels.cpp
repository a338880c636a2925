// Group norms (Wu and He, 2018) are written on a view whose rows are groups of
// channels: a reshape, means over its rows, elementwise operations, and a
// reshape back. Channels that lie innermost in memory would have to move for
// that. Here every channel is folded by itself first and then those of a group;
// what holds for a group is repeated for its channels.
#include "dialects/onnx/Families.h"
#include "dialects/onnx/Graph.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/Passes.h"
#include "lowering/graph/Elementwise.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace onnxc {
#define GEN_PASS_DEF_UNGROUPCHANNELS
#include "lowering/Passes.h.inc"

using namespace mlir;

namespace {

// [..., channels, others...] seen as [..., groups, each, others...] or, with
// what is behind the groups in one dimension, as [..., groups, each * others].
struct Grouping {
  Shape plain;   // without groups
  int64_t rank;  // with them
  int64_t dim;   // of channels and of groups
  int64_t count; // of groups
  int64_t each;  // channels of a group
  bool merged;

  int64_t behind() const { return plain.size() - dim - 1; } // other dimensions
  int64_t channels() const { return count * each; }
};

bool areEqual(ArrayRef<Dim> a, ArrayRef<Dim> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           return std::get<0>(pair).surelyEquals(std::get<1>(pair));
         });
}

// Channels are the second dimension of an image or its last one.
std::optional<Grouping> groupingOf(ReshapeOp op) {
  auto from = dyn_cast<RankedTensorType>(op.getData().getType());
  auto to = dyn_cast<RankedTensorType>(op.getType());
  if (!from || !to || !isa<FloatType>(from.getElementType()) ||
      from.getRank() < 3)
    return std::nullopt;
  Shape plain = shapeOf(from), grouped = shapeOf(to);
  int64_t dim = 0;
  while (dim < std::min(from.getRank(), to.getRank()) &&
         plain[dim].surelyEquals(grouped[dim]))
    ++dim;
  bool isLast = dim == from.getRank() - 1;
  if ((dim != 1 && !isLast) || dim + 1 >= to.getRank() ||
      !plain[dim].isStatic() || !grouped[dim].isStatic())
    return std::nullopt;
  int64_t channels = plain[dim].size, count = grouped[dim].size;
  if (count <= 0 || channels <= count || channels % count != 0)
    return std::nullopt;
  ArrayRef<Dim> others = ArrayRef(plain).drop_front(dim + 1);
  ArrayRef<Dim> behind = ArrayRef(grouped).drop_front(dim + 1);
  bool isAlone = llvm::all_of(others, [](Dim dim) { return dim.isOne(); });
  bool merged = behind.size() == 1 && !isLast;
  if (isAlone && !isLast)
    return std::nullopt;
  if (!merged && (behind.front().size != channels / count ||
                  !areEqual(others, behind.drop_front())))
    return std::nullopt;
  return Grouping{plain, to.getRank(), dim, count, channels / count, merged};
}

class Ungrouping {
public:
  Ungrouping(ReshapeOp root, const Grouping &grouping)
      : root(root), view(root.getResult()), to(grouping) {
    plain[view] = root.getData();
  }

  // Whether all that is done in groups can be done per channel.
  bool isPossible() {
    SmallVector<Operation *> next(root->getUsers());
    bool folds = false;
    while (!next.empty()) {
      Operation *op = next.pop_back_val();
      if (isFold(op))
        folds = true;
      else if (isa<ShapeOp>(op) || isBack(op) || elementwise.contains(op))
        continue;
      else if (!joins(op))
        return false;
      else
        llvm::append_range(next, op->getUsers());
    }
    return folds && llvm::all_of(elementwise, [&](Operation *op) {
             return llvm::all_of(op->getOperands(), [&](Value operand) {
               return isGrouped(operand) || isForChannels(operand);
             });
           });
  }

  void run(PatternRewriter &rewriter) {
    auto after = llvm::make_range(std::next(root->getIterator()),
                                  root->getBlock()->end());
    for (Operation &op : llvm::make_early_inc_range(after)) {
      rewriter.setInsertionPoint(&op);
      if (elementwise.contains(&op))
        plain[op.getResult(0)] = computed(rewriter, &op);
      else if (llvm::none_of(op.getOperands(),
                             [&](Value value) { return isGrouped(value); }))
        continue;
      else if (isBack(&op))
        rewriter.replaceOp(&op, plain[op.getOperand(0)]);
      else if (isFold(&op))
        rewriter.replaceOp(&op, folded(rewriter, &op));
    }
  }

private:
  bool joins(Operation *op) {
    auto scalar = dyn_cast<ScalarOpInterface>(op);
    return scalar && op->getBlock() == root->getBlock() &&
           isElementwise(scalar, to.rank) &&
           areEqual(onnxc::shapeOf(op->getResult(0).getType()),
                    onnxc::shapeOf(root.getType())) &&
           elementwise.insert(op).second;
  }

  bool isGrouped(Value value) const {
    return value == view || elementwise.contains(value.getDefiningOp());
  }

  // A reshape of what is grouped to the shape that it had.
  bool isBack(Operation *op) const {
    return isa<ReshapeOp>(op) && op->getBlock() == root->getBlock() &&
           isa<RankedTensorType>(op->getResult(0).getType()) &&
           areEqual(onnxc::shapeOf(op->getResult(0).getType()), to.plain);
  }

  // The mean or sum over all that is behind the groups and something else.
  // Narrow numbers would be rounded once more.
  bool isFold(Operation *op) const {
    if (!isa<ReduceMeanOp, ReduceSumOp>(op) ||
        op->getBlock() != root->getBlock() ||
        !isa<Float32Type, Float64Type>(
            getElementTypeOrSelf(op->getResult(0).getType())))
      return false;
    FailureOr<SmallVector<int64_t>> axes =
        cast<ReductionOpInterface>(op).reducedAxes();
    if (failed(axes) || llvm::is_contained(*axes, to.dim) ||
        (to.behind() == 0 && axes->size() < 2))
      return false;
    return llvm::all_of(llvm::seq(to.dim + 1, to.rank), [&](int64_t dim) {
      return llvm::is_contained(*axes, dim);
    });
  }

  // The dimension of an operand that meets dimension `dim` of the view.
  Dim dimOf(Value value, int64_t dim) const {
    Shape shape = onnxc::shapeOf(value.getType());
    int64_t own = dim - (to.rank - int64_t(shape.size()));
    return own < 0 ? Dim{1, {}} : shape[own];
  }

  // An operand that is the same for all of a channel.
  bool isForChannels(Value value) const {
    Dim each = dimOf(value, to.dim + 1);
    if (!dimOf(value, to.dim).isStatic() ||
        !(each.isOne() || (!to.merged && each.size == to.each)))
      return false;
    return llvm::all_of(llvm::seq(to.dim + 2, to.rank),
                        [&](int64_t dim) { return dimOf(value, dim).isOne(); });
  }

  // [..., 1 or groups, 1 or each, 1...] as [..., 1 or channels, 1...].
  Node forChannels(Node x) const {
    int64_t count = dimOf(x.value, to.dim).size,
            each = dimOf(x.value, to.dim + 1).size;
    int64_t leading = rankOf(x) - (to.rank - to.dim);
    SmallVector<int64_t> sizes(std::max<int64_t>(leading, 0), 0);
    bool isOne = count == 1 && each == 1;
    if (!isOne) {
      SmallVector<int64_t> matrix = sizes, repeated(sizes.size(), 1);
      matrix.append({count, each});
      repeated.append({to.count, to.each});
      if (to.rank > to.dim + 2)
        x = reshape(x, matrix);
      if (count * each != to.channels())
        x = expand(x, x.graph->ints(repeated));
    }
    sizes.push_back(isOne ? 1 : to.channels());
    sizes.append(to.behind(), 1);
    return reshape(x, sizes);
  }

  Value computed(OpBuilder &builder, Operation *op) {
    Graph graph(builder, op->getLoc());
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, plain.contains(operand)
                               ? plain[operand]
                               : forChannels(Node(graph, operand)).value);
    Operation *copy = builder.clone(*op, mapping);
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    copy->getResult(0).setType(tensorOf(to.plain, element));
    return copy->getResult(0);
  }

  Value folded(OpBuilder &builder, Operation *op) {
    Graph graph(builder, op->getLoc());
    SmallVector<int64_t> axes = *cast<ReductionOpInterface>(op).reducedAxes();
    SmallVector<int64_t> outer = llvm::filter_to_vector(
        axes, [&](int64_t axis) { return axis < to.dim; });
    SmallVector<int64_t> inner = outer;
    llvm::append_range(inner, llvm::seq<int64_t>(to.dim + 1, to.plain.size()));
    StringRef name = op->getName().getStringRef();
    auto fold = [&](Node x, ArrayRef<int64_t> along) {
      return graph.op(name, {x, graph.ints(along)});
    };
    SmallVector<int64_t> sizes(to.dim, 0);
    sizes.append({to.count, to.each});
    Node x = fold(Node(graph, plain[op->getOperand(0)]), inner);
    x = fold(reshape(x, sizes), {to.dim + 1});
    outer.push_back(to.dim + 1);
    x = cast<ReductionOpInterface>(op).keepsDims() ? keptAs(x)
                                                   : squeeze(x, outer);
    x.value.setType(op->getResult(0).getType());
    return x.value;
  }

  // [..., groups, 1] with a one for each dimension behind the groups.
  Node keptAs(Node x) const {
    SmallVector<int64_t> ones(to.dim + 1, 0);
    ones.append(to.rank - to.dim - 1, 1);
    return to.rank > to.dim + 2 ? reshape(x, ones) : x;
  }

  ReshapeOp root;
  Value view; // its result
  Grouping to;
  llvm::SmallPtrSet<Operation *, 16> elementwise;
  DenseMap<Value, Value> plain;
};

struct Ungroup : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Grouping> grouping = groupingOf(op);
    if (!grouping)
      return rewriter.notifyMatchFailure(op, "no groups of channels");
    Ungrouping ungrouping(op, *grouping);
    if (!ungrouping.isPossible())
      return rewriter.notifyMatchFailure(op, "groups are not only normalized");
    ungrouping.run(rewriter);
    return success();
  }
};

struct UngroupChannels : impl::UngroupChannelsBase<UngroupChannels> {
  void runOnOperation() override {
    if (isStrict(getOperation()))
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<Ungroup>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace onnxc
