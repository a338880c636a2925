// Some attentions count channels through the heads first: channel d * heads + h
// is of head h. The numbers of a head lie apart then, wherever they are added
// up. Which channel a projection computes where is a matter of its constant
// weights: here they are put in order, so that every head has its channels side
// by side.
#include "dialects/onnx/Families.h"
#include "dialects/onnx/Graph.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/Passes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace onnxc {
#define GEN_PASS_DEF_ORDERHEADS
#include "lowering/Passes.h.inc"

using namespace mlir;

namespace {

using Order = SmallVector<int64_t>;

// How far a product may be from the parts of a projection.
constexpr unsigned mostSteps = 6;

bool isConstant(Value value) { return matchPattern(value, m_Constant()); }

// `count` dimensions from `first` on, of known sizes, that a reshape joins to
// one, or has from one, and nothing else: `parts` of `whole`.
struct Parts {
  int64_t first;
  SmallVector<int64_t> sizes;
  int64_t end() const { return first + int64_t(sizes.size()); }
};
std::optional<Parts> partsOf(Type whole, Type parts, int64_t dim) {
  auto from = dyn_cast<RankedTensorType>(whole);
  auto to = dyn_cast<RankedTensorType>(parts);
  if (!from || !to || to.getRank() <= from.getRank() || dim >= from.getRank())
    return std::nullopt;
  Shape before = shapeOf(from), after = shapeOf(to);
  int64_t count = to.getRank() - from.getRank() + 1;
  Parts found{dim, {}};
  for (int64_t i = 0; i < to.getRank(); ++i) {
    bool isPart = i >= dim && i < dim + count;
    if (isPart ? !after[i].isStatic()
               : !after[i].surelyEquals(before[i < dim ? i : i - count + 1]))
      return std::nullopt;
    if (isPart)
      found.sizes.push_back(after[i].size);
  }
  return found;
}

// In which order the values of dimensions `parts` appear in `order`.
Order orderOf(const Parts &parts, ArrayRef<int64_t> order) {
  Order found;
  for (int64_t dim : order)
    if (dim >= parts.first && dim < parts.end())
      found.push_back(dim - parts.first);
  return found;
}

// All dimensions, those of `parts` in `order`.
Order withOrder(const Parts &parts, ArrayRef<int64_t> order, int64_t rank) {
  Order all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  for (auto [i, part] : llvm::enumerate(order))
    all[parts.first + i] = parts.first + part;
  return all;
}

//===-- Einsum ------------------------------------------------------------===//

struct Equation {
  SmallVector<std::string> operands;
  std::string result;

  std::string text() const { return llvm::join(operands, ",") + "->" + result; }
  // First what all have, as the heads.
  Order batchFirst(StringRef own, const Parts &parts) const {
    auto isBatch = [&](int64_t part) {
      char label = own[parts.first + part];
      return StringRef(result).contains(label) &&
             llvm::all_of(operands, [&](StringRef operand) {
               return operand.contains(label);
             });
    };
    Order order = llvm::to_vector(llvm::seq<int64_t>(0, parts.sizes.size()));
    std::stable_partition(order.begin(), order.end(), isBatch);
    return order;
  }
};

std::optional<Equation> equationOf(EinsumOp op) {
  std::string text = op.getEquation().str();
  llvm::erase(text, ' ');
  auto [left, right] = StringRef(text).split("->");
  if (!StringRef(text).contains("->") || StringRef(text).contains('.'))
    return std::nullopt;
  Equation equation{{}, right.str()};
  SmallVector<StringRef> operands;
  left.split(operands, ',');
  for (StringRef operand : operands)
    equation.operands.push_back(operand.str());
  return equation;
}

std::string reordered(StringRef labels, ArrayRef<int64_t> order) {
  std::string result;
  for (int64_t dim : order)
    result += labels[dim];
  return result;
}

//===-- Projections -------------------------------------------------------===//

// A product with constant weights: which dimension of its data, its result and
// its weights are channels.
struct Projection {
  Operation *op = nullptr;
  Operation *sum = nullptr; // of the result and a constant bias, if apart
  int64_t inputs, outputs;  // dimension of the weights
  int64_t channel;          // dimension of the data and the result

  Value result() const { return (sum ? sum : op)->getResult(0); }
};

std::optional<Projection> projectionOf(Operation *op) {
  if (auto conv = dyn_cast_or_null<ConvOp>(op);
      conv && conv.getGroup() == 1 && isConstant(conv.getW()) &&
      (!conv.getB() || isConstant(conv.getB())))
    return Projection{op, nullptr, 1, 0, 1};
  auto product = dyn_cast_or_null<MatMulOp>(op);
  auto weights =
      product ? dyn_cast<RankedTensorType>(product.getB().getType()) : nullptr;
  auto data =
      product ? dyn_cast<RankedTensorType>(product.getA().getType()) : nullptr;
  if (!weights || !data || weights.getRank() != 2 || data.getRank() < 2 ||
      !isConstant(product.getB()))
    return std::nullopt;
  return Projection{op, nullptr, 0, 1, data.getRank() - 1};
}

// The projection that makes `value`, of which nobody else reads anything.
std::optional<Projection> projectionBefore(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse())
    return std::nullopt;
  if (auto sum = dyn_cast<AddOp>(op)) {
    for (OpOperand &operand : sum->getOpOperands()) {
      Value bias = sum->getOperand(1 - operand.getOperandNumber());
      auto type = dyn_cast<RankedTensorType>(bias.getType());
      auto before = operand.get().hasOneUse()
                        ? projectionOf(operand.get().getDefiningOp())
                        : std::nullopt;
      if (before && isa<MatMulOp>(before->op) && type && type.getRank() == 1 &&
          isConstant(bias) &&
          type == RankedTensorType::get({cast<RankedTensorType>(value.getType())
                                             .getDimSize(before->channel)},
                                        type.getElementType())) {
        before->sum = sum;
        return before;
      }
    }
    return std::nullopt;
  }
  return projectionOf(op);
}

// `value` with a dimension's elements, numbered through `sizes`, in `order` of
// these.
Node permuted(Node value, int64_t dim, ArrayRef<int64_t> sizes,
              ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(value.value.getType());
  SmallVector<int64_t> shape(type.getShape()), apart(shape);
  apart.erase(apart.begin() + dim);
  apart.insert(apart.begin() + dim, sizes.begin(), sizes.end());
  Parts parts{dim, SmallVector<int64_t>(sizes)};
  Order all = withOrder(parts, order, apart.size());
  return reshape(transpose(reshape(value, apart), all), shape);
}

// Whether a product reads `value`, or what only rearranges or scales it.
bool isMultiplied(Value value, unsigned steps = mostSteps) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (isa<MatMulOp, EinsumOp>(user))
      return true;
    bool passes = isa<TransposeOp, ReshapeOp, SplitOp, SqueezeOp, UnsqueezeOp,
                      SliceOp, GatherOp, MulOp, DivOp>(user);
    return passes && steps > 0 &&
           llvm::any_of(user->getResults(), [&](Value result) {
             return isMultiplied(result, steps - 1);
           });
  });
}

std::optional<Order> permutationOf(TransposeOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  std::optional<ArrayRef<int64_t>> given = op.getPerm();
  if (!type || (given && int64_t(given->size()) != type.getRank()))
    return std::nullopt;
  if (given)
    return Order(*given);
  return llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, type.getRank())));
}

// The dimension of `value` of which `user` takes single indices, as of queries,
// keys and values that lie beside each other.
std::optional<int64_t> dimOfSingles(Operation *user, Value value) {
  int64_t rank = rankOf(value);
  if (auto gather = dyn_cast<GatherOp>(user)) {
    auto indices = dyn_cast<RankedTensorType>(gather.getIndices().getType());
    bool isSingle = gather.getData() == value && indices &&
                    indices.hasStaticShape() && indices.getNumElements() == 1 &&
                    isConstant(gather.getIndices());
    return isSingle ? std::optional(wrap(gather.getAxis(), rank))
                    : std::nullopt;
  }
  if (!isa<SplitOp, SliceOp>(user) || user->getOperand(0) != value)
    return std::nullopt;
  Shape before = shapeOf(value.getType()),
        after = shapeOf(user->getResult(0).getType());
  std::optional<int64_t> found;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (after[dim].surelyEquals(before[dim]))
      continue;
    if (found || after[dim].size != 1)
      return std::nullopt;
    found = dim;
  }
  return found;
}

// The one dimension of `value` of which all users take single indices.
std::optional<int64_t> dimOfSingles(Value value) {
  std::optional<int64_t> common;
  for (Operation *user : value.getUsers()) {
    std::optional<int64_t> dim = dimOfSingles(user, value);
    if (!dim || (common && common != dim))
      return std::nullopt;
    common = dim;
  }
  return common;
}

// Sizes for a reshape: what is not static keeps its place or is the only one.
std::optional<SmallVector<int64_t>> sizesFor(ArrayRef<Dim> dims,
                                             int64_t samePlaces) {
  SmallVector<int64_t> sizes;
  if (llvm::any_of(dims, [](Dim dim) { return dim.size == 0; }))
    return std::nullopt; // 0 does not mean itself
  for (auto [i, dim] : llvm::enumerate(dims))
    sizes.push_back(dim.isStatic()            ? dim.size
                    : int64_t(i) < samePlaces ? 0
                                              : -1);
  if (llvm::count(sizes, -1) > 1)
    return std::nullopt;
  return sizes;
}

// Reshape(project(x)) whose users take the parts of channels in another order.
struct OrderColumns : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Projection> project = projectionBefore(op.getData());
    if (!project)
      return rewriter.notifyMatchFailure(op, "no projection is reshaped");
    std::optional<Parts> parts =
        partsOf(op.getData().getType(), op.getType(), project->channel);
    std::optional<Order> order;
    if (parts)
      order = orderOfUsers(op, *parts);
    if (!order || isIdentityPermutation(*order))
      return rewriter.notifyMatchFailure(op, "parts are in order");
    Shape shape = shapeOf(op.getType());
    Order all = withOrder(*parts, *order, shape.size());
    std::optional<SmallVector<int64_t>> sizes =
        sizesFor(applyPermutation(ArrayRef<Dim>(shape), all), parts->first);
    if (!sizes)
      return rewriter.notifyMatchFailure(op, "too little is known");
    rewriter.setInsertionPoint(op);
    Node data = projected(rewriter, *project, *parts, *order);
    Graph graph(rewriter, op.getLoc());
    Node apart = reshape(Node(graph, data.value), *sizes);
    apart.value.setType(tensorOf(applyPermutation(ArrayRef<Dim>(shape), all),
                                 getElementTypeOrSelf(op.getType())));
    // One may read it twice.
    SetVector<Operation *> users(op->user_begin(), op->user_end());
    for (Operation *user : users)
      readInOrder(rewriter, user, op, apart.value, all);
    return success();
  }

private:
  static std::optional<Order> orderOfUsers(ReshapeOp op, const Parts &parts) {
    std::optional<Order> common;
    for (OpOperand &use : op->getUses()) {
      std::optional<Order> order = orderOfSingles(op, use.getOwner(), parts);
      auto transpose = dyn_cast<TransposeOp>(use.getOwner());
      if (std::optional<Order> permutation =
              transpose ? permutationOf(transpose) : std::nullopt;
          permutation && isMultiplied(transpose.getResult())) {
        order = orderOf(parts, *permutation);
        if (auto dim = dimOfSingles(transpose.getResult()))
          moveFirst(*order, (*permutation)[*dim] - parts.first);
      }
      auto einsum = dyn_cast<EinsumOp>(use.getOwner());
      if (std::optional<Equation> equation =
              einsum ? equationOf(einsum) : std::nullopt;
          equation && equation->operands.size() == 2) {
        StringRef own = equation->operands[use.getOperandNumber()];
        if (int64_t(own.size()) == rankOf(op.getResult()))
          order = equation->batchFirst(own, parts);
      }
      if (!order || (common && *common != *order))
        return std::nullopt;
      common = order;
    }
    return common;
  }

  // The innermost part goes around the others if only one of it is taken.
  static void moveFirst(Order &order, int64_t part) {
    if (order.back() == part)
      std::rotate(order.begin(), order.end() - 1, order.end());
  }

  static std::optional<Order> orderOfSingles(ReshapeOp op, Operation *user,
                                             const Parts &parts) {
    std::optional<int64_t> dim = dimOfSingles(user, op.getResult());
    bool isLast = dim && *dim == parts.end() - 1;
    if (!isLast || !llvm::any_of(user->getResults(), [](Value result) {
          return isMultiplied(result);
        }))
      return std::nullopt;
    Order order = llvm::to_vector(llvm::seq<int64_t>(0, parts.sizes.size()));
    moveFirst(order, order.back());
    return order;
  }

  static Node projected(PatternRewriter &rewriter, const Projection &project,
                        const Parts &parts, ArrayRef<int64_t> order) {
    Graph graph(rewriter, project.op->getLoc());
    auto inOrder = [&](Value value, int64_t dim) {
      return permuted(Node(graph, value), dim, parts.sizes, order).value;
    };
    Operation *product = rewriter.clone(*project.op);
    product->setOperand(1, inOrder(product->getOperand(1), project.outputs));
    if (product->getNumOperands() > 2 && product->getOperand(2))
      product->setOperand(2, inOrder(product->getOperand(2), 0));
    product->moveBefore(rewriter.getInsertionBlock(),
                        rewriter.getInsertionPoint());
    if (!project.sum)
      return Node(graph, product->getResult(0));
    Operation *sum = rewriter.clone(*project.sum);
    for (OpOperand &operand : sum->getOpOperands())
      operand.set(operand.get() == project.op->getResult(0)
                      ? product->getResult(0)
                      : inOrder(operand.get(), 0));
    sum->moveBefore(rewriter.getInsertionBlock(), rewriter.getInsertionPoint());
    return Node(graph, sum->getResult(0));
  }

  // `apart` is what the user reads with dimensions `all` of it in this order.
  static void readInOrder(PatternRewriter &rewriter, Operation *user,
                          ReshapeOp op, Value apart, ArrayRef<int64_t> all) {
    rewriter.setInsertionPoint(user);
    Graph graph(rewriter, user->getLoc());
    if (auto transpose = dyn_cast<TransposeOp>(user)) {
      Order inverse = invertPermutationVector(all);
      Order composed = llvm::map_to_vector(
          *permutationOf(transpose), [&](int64_t dim) { return inverse[dim]; });
      Node moved = onnxc::transpose(Node(graph, apart), composed);
      moved.value.setType(transpose.getType());
      return rewriter.replaceOp(transpose, moved.value);
    }
    auto einsum = dyn_cast<EinsumOp>(user);
    if (!einsum) {
      Node moved =
          onnxc::transpose(Node(graph, apart), invertPermutationVector(all));
      moved.value.setType(op.getType());
      return rewriter.modifyOpInPlace(
          user, [&] { user->replaceUsesOfWith(op.getResult(), moved.value); });
    }
    Equation equation = *equationOf(einsum);
    rewriter.modifyOpInPlace(einsum, [&] {
      for (OpOperand &operand : einsum->getOpOperands())
        if (operand.get() == op.getResult()) {
          std::string &own = equation.operands[operand.getOperandNumber()];
          own = reordered(own, all);
          operand.set(apart);
        }
      einsum.setEquation(equation.text());
    });
  }
};

// project(Reshape(x)) where x has the parts of channels in another order.
struct OrderRows : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Projection> project =
        op->hasOneUse() ? projectionOf(*op->user_begin()) : std::nullopt;
    Operation *source = op.getData().getDefiningOp();
    if (!project || project->op->getOperand(0) != op.getResult() || !source ||
        !source->hasOneUse())
      return rewriter.notifyMatchFailure(op, "no projection reads only this");
    std::optional<Parts> parts =
        partsOf(op.getType(), op.getData().getType(), project->channel);
    std::optional<Order> order;
    if (parts)
      order = orderOfSource(source, *parts);
    std::optional<SmallVector<int64_t>> sizes =
        sizesFor(shapeOf(op.getType()), project->channel);
    if (!order || isIdentityPermutation(*order) || !sizes)
      return rewriter.notifyMatchFailure(op, "parts are in order");
    Order all = withOrder(*parts, *order, rankOf(op.getData()));
    rewriter.setInsertionPoint(op);
    Value data = inOrder(rewriter, source, all);
    Graph graph(rewriter, op.getLoc());
    Node whole = reshape(Node(graph, data), *sizes);
    whole.value.setType(op.getType());
    rewriter.setInsertionPoint(project->op);
    Graph there(rewriter, project->op->getLoc());
    Node weights = permuted(Node(there, project->op->getOperand(1)),
                            project->inputs, parts->sizes, *order);
    rewriter.modifyOpInPlace(project->op, [&] {
      project->op->setOperand(0, whole.value);
      project->op->setOperand(1, weights.value);
    });
    return success();
  }

private:
  static std::optional<Order> orderOfSource(Operation *source,
                                            const Parts &parts) {
    if (auto transpose = dyn_cast<TransposeOp>(source)) {
      std::optional<Order> permutation = permutationOf(transpose);
      if (!permutation ||
          !isa_and_nonnull<MatMulOp>(transpose.getData().getDefiningOp()))
        return std::nullopt;
      // Where each part lies in what is transposed.
      Order order = llvm::to_vector(llvm::seq<int64_t>(0, parts.sizes.size()));
      llvm::sort(order, [&](int64_t a, int64_t b) {
        return (*permutation)[parts.first + a] <
               (*permutation)[parts.first + b];
      });
      return order;
    }
    auto einsum = dyn_cast<EinsumOp>(source);
    std::optional<Equation> equation =
        einsum ? equationOf(einsum) : std::nullopt;
    if (!equation || equation->operands.size() != 2 ||
        int64_t(equation->result.size()) != rankOf(einsum.getResult()))
      return std::nullopt;
    return equation->batchFirst(equation->result, parts);
  }

  static Value inOrder(PatternRewriter &rewriter, Operation *source,
                       ArrayRef<int64_t> all) {
    Shape shape = shapeOf(source->getResult(0).getType());
    Type type = tensorOf(applyPermutation(ArrayRef<Dim>(shape), all),
                         getElementTypeOrSelf(source->getResult(0).getType()));
    Graph graph(rewriter, source->getLoc());
    Operation *copy = rewriter.clone(*source);
    copy->getResult(0).setType(type);
    if (auto transpose = dyn_cast<TransposeOp>(copy)) {
      transpose.setPerm(
          applyPermutation(*permutationOf(cast<TransposeOp>(source)), all));
    } else {
      Equation equation = *equationOf(cast<EinsumOp>(source));
      equation.result = reordered(equation.result, all);
      cast<EinsumOp>(copy).setEquation(equation.text());
    }
    return copy->getResult(0);
  }
};

struct OrderHeads : impl::OrderHeadsBase<OrderHeads> {
  void runOnOperation() override {
    if (isStrict(getOperation()))
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<OrderColumns, OrderRows>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace onnxc
