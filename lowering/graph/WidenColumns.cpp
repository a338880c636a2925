// Softmax down a few columns: [1000, 3] say. A row of three leaves most lanes
// of a vector empty, and a column is not one stretch of memory. But several
// rows side by side are one row of [200, 15], whose 15 columns are folded as
// well as any, and then five by five.
#include "dialects/onnx/Families.h"
#include "dialects/onnx/Graph.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace onnxc {
#define GEN_PASS_DEF_WIDENCOLUMNS
#include "lowering/Passes.h.inc"

using namespace mlir;

namespace {

// Vectors that a wide row may have: its sums stay in registers.
constexpr int64_t mostVectors = 16;
// Columns that fill so many vectors leave little of the last one empty.
constexpr int64_t enoughVectors = 4;
// How much better the lanes have to be used to make up for two copies.
constexpr double worthPadding = 1.3;

// What an axis and the dimensions behind it are as a matrix.
struct Columns {
  int64_t rows, count;
};

std::optional<Columns> columnsOf(Value x, int64_t axis) {
  auto type = dyn_cast<RankedTensorType>(x.getType());
  if (!type || llvm::is_contained(type.getShape(), 0))
    return std::nullopt;
  Columns columns = {0, 1};
  for (int64_t i = wrap(axis, type.getRank()); i < type.getRank(); ++i) {
    if (type.isDynamicDim(i))
      return std::nullopt;
    if (columns.rows == 0)
      columns.rows = type.getDimSize(i);
    else
      columns.count *= type.getDimSize(i);
  }
  return columns;
}

// How many of the lanes hold an element.
double use(int64_t elements, int64_t lanes) {
  return double(elements) / (llvm::divideCeil(elements, lanes) * lanes);
}

// How many rows are best taken for one. The last ones may be padding, a tenth
// at most, which costs two copies.
int64_t rowsTogether(Columns columns, int64_t lanes, int64_t mostPadding) {
  int64_t best = 1;
  for (int64_t rows = 2; rows * columns.count <= mostVectors * lanes; ++rows) {
    int64_t padding = (rows - columns.rows % rows) % rows;
    if (padding <= mostPadding && rows < columns.rows &&
        use(rows * columns.count, lanes) > use(best * columns.count, lanes))
      best = rows;
  }
  return best;
}
int64_t rowsTogether(Columns columns, int64_t lanes) {
  int64_t whole = rowsTogether(columns, lanes, 0),
          padded = rowsTogether(columns, lanes, columns.rows / 10);
  bool isBetter = use(padded * columns.count, lanes) >
                  worthPadding * use(whole * columns.count, lanes);
  return whole == 1 || isBetter ? padded : whole;
}

// [outer, rows / together, together * count], and how it folds.
struct WideRows {
  int64_t together;
  Columns columns;
  int64_t padded = llvm::alignTo(columns.rows, together);

  Node of(Node x) const {
    if (padded > columns.rows) {
      Graph &graph = *x.graph;
      Type element = getElementTypeOrSelf(x.value.getType());
      x = op<PadOp>({reshape(x, {-1, columns.rows, columns.count}),
                     graph.ints({0, 0, 0, 0, padded - columns.rows, 0}),
                     graph.splat(-infinity, element)});
    }
    return reshape(x, {-1, padded / together, together * columns.count});
  }
  Node back(Node wide) const {
    if (padded == columns.rows)
      return wide;
    return slice(reshape(wide, {-1, padded, columns.count}), 1, 0,
                 columns.rows);
  }
  template <typename Op> Node folded(Node wide) const {
    Node parts = reshape(reduce<Op>(wide, {1}), {-1, together, columns.count});
    return reduce<Op>(parts, {1});
  }
  // One value for each column, for all of the rows again.
  Node spread(Node one) const {
    Node all = expand(one, one.graph->ints({1, together, columns.count}));
    return reshape(all, {-1, 1, together * columns.count});
  }
};

// Whether it is what queries make of keys, scaled and masked perhaps. That can
// be written with the rows innermost, and attention stays one kernel.
bool isOfQueries(Value x, unsigned steps = 3) {
  Operation *op = x.getDefiningOp();
  if (isa_and_nonnull<MatMulOp, EinsumOp>(op))
    return llvm::none_of(op->getOperands(), [](Value operand) {
      return matchPattern(operand, m_Constant());
    });
  return steps > 0 && isa_and_nonnull<AddOp, DivOp, MulOp, WhereOp>(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return isOfQueries(operand, steps - 1);
         });
}

// Like the composites' own bodies.
Node normalized(SoftmaxOp, Node lower, const WideRows &rows) {
  Node e = exp(lower);
  return e * rows.spread(1 / rows.folded<ReduceSumOp>(e));
}
Node normalized(LogSoftmaxOp, Node lower, const WideRows &rows) {
  Node sum = rows.folded<ReduceSumOp>(exp(lower));
  return lower - rows.spread(op<LogOp>(sum));
}

template <typename Op> struct Widen : OpRewritePattern<Op> {
  Widen(MLIRContext *context, int64_t lanes)
      : OpRewritePattern<Op>(context), lanes(lanes) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    std::optional<Columns> columns = columnsOf(op.getInput(), op.getAxis());
    if (!columns || columns->count < 2 ||
        columns->count >= enoughVectors * lanes)
      return rewriter.notifyMatchFailure(op, "the columns are not a few");
    if (isOfQueries(op.getInput()))
      return rewriter.notifyMatchFailure(op, "a product can be turned");
    WideRows rows = {rowsTogether(*columns, lanes), *columns};
    if (rows.together == 1)
      return rewriter.notifyMatchFailure(op, "no rows fill vectors better");
    Graph graph(rewriter, op.getLoc());
    Node input(graph, op.getInput());
    Node x = rows.of(wide(input));
    Node lower = x - rows.spread(rows.folded<ReduceMaxOp>(x));
    Node y = castLike(rows.back(normalized(op, lower, rows)), input);
    y = reshapeTo(y, shapeOf(input));
    if (graph.failed)
      return failure();
    y.value.setType(op.getType()); // its users expect no other
    rewriter.replaceOp(op, y.value);
    return success();
  }
  int64_t lanes;
};

struct WidenColumns : impl::WidenColumnsBase<WidenColumns> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    if (!target || target.getVectorBits() < 128)
      return;
    int64_t lanes = target.getVectorBits() / 32;
    RewritePatternSet patterns(&getContext());
    patterns.add<Widen<SoftmaxOp>, Widen<LogSoftmaxOp>>(&getContext(), lanes);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace onnxc
