// A transpose is made behind what only rearranges or selects elements: padding,
// slicing, concatenation and reshapes act on the untransposed tensor.
#include "lowering/tensor/Transposed.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

namespace onnxc {

using namespace mlir;
using linalg::TransposeOp;

namespace {

using Permutation = SmallVector<int64_t>;

struct SinkBelowPad : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    auto producer = op.getSource().getDefiningOp<TransposeOp>();
    Value padding = op.getConstantPaddingValue();
    if (!producer || !padding)
      return failure();
    Permutation permutation(producer.getPermutation());
    Permutation inverse = invertPermutationVector(permutation);
    Value padded = paddedTransposed(rewriter, op, producer.getInput(), inverse);
    rewriter.replaceOp(op,
                       transposed(rewriter, op.getLoc(), padded, permutation));
    return success();
  }
};

struct SinkBelowSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    auto producer = op.getSource().getDefiningOp<TransposeOp>();
    if (!producer || op.getType().getRank() != op.getSourceType().getRank())
      return failure();
    Permutation permutation(producer.getPermutation());
    Permutation inverse = invertPermutationVector(permutation);
    Value slice = tensor::ExtractSliceOp::create(
        rewriter, op.getLoc(), producer.getInput(),
        applyPermutation(op.getMixedOffsets(), inverse),
        applyPermutation(op.getMixedSizes(), inverse),
        applyPermutation(op.getMixedStrides(), inverse));
    rewriter.replaceOp(op,
                       transposed(rewriter, op.getLoc(), slice, permutation));
    return success();
  }
};

// A concatenation: a chain of insertions into an empty tensor. It is moved as a
// whole, from its last insertion, when every part has the same permutation.
struct SinkBelowConcat : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertSliceOp last,
                                PatternRewriter &rewriter) const override {
    SmallVector<tensor::InsertSliceOp> chain;
    std::optional<Permutation> permutation;
    Value destination = last.getResult();
    while (auto insert = destination.getDefiningOp<tensor::InsertSliceOp>()) {
      auto part = insert.getSource().getDefiningOp<TransposeOp>();
      if (!part ||
          insert.getSourceType().getRank() != insert.getType().getRank() ||
          (permutation && *permutation != Permutation(part.getPermutation())))
        return failure();
      permutation = Permutation(part.getPermutation());
      chain.push_back(insert);
      destination = insert.getDest();
    }
    bool isLast = llvm::none_of(last->getUsers(), [&](Operation *user) {
      auto next = dyn_cast<tensor::InsertSliceOp>(user);
      return next && next.getDest() == last.getResult();
    });
    if (!destination.getDefiningOp<tensor::EmptyOp>() || chain.empty() ||
        !isLast)
      return failure();
    Permutation inverse = invertPermutationVector(*permutation);
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, last.getLoc(), destination);
    Value result = tensor::EmptyOp::create(rewriter, last.getLoc(),
                                           applyPermutation(sizes, inverse),
                                           last.getType().getElementType());
    for (tensor::InsertSliceOp insert : llvm::reverse(chain))
      result = tensor::InsertSliceOp::create(
          rewriter, insert.getLoc(),
          insert.getSource().getDefiningOp<TransposeOp>().getInput(), result,
          applyPermutation(insert.getMixedOffsets(), inverse),
          applyPermutation(insert.getMixedSizes(), inverse),
          applyPermutation(insert.getMixedStrides(), inverse));
    rewriter.replaceOp(
        last, transposed(rewriter, last.getLoc(), result, *permutation));
    return success();
  }
};

// Where each dimension of a reshape of a transposed tensor lies in the same
// reshape of the source. Innermost are no dimensions of one element: what is
// stacked along one keeps its elements side by side.
Permutation permutationOfGroups(tensor::ExpandShapeOp op,
                                ArrayRef<int64_t> permutation) {
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  SmallVector<int64_t> order; // of the result's dimensions in the source
  SmallVector<int64_t> inverse = invertPermutationVector(permutation);
  for (int64_t i : inverse)
    llvm::append_range(order, op.getReassociationIndices()[i]);
  auto *begin =
      order.end() - op.getReassociationIndices()[inverse.back()].size();
  auto isLong = [&](int64_t dim) { return shape[dim] != 1; };
  auto last =
      std::find_if(order.rbegin(), std::reverse_iterator(begin), isLong);
  if (last != std::reverse_iterator(begin))
    std::rotate(std::prev(last.base()), last.base(), order.end());
  return invertPermutationVector(order);
}

struct SinkBelowExpand : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto producer = op.getSrc().getDefiningOp<TransposeOp>();
    if (!producer)
      return failure();
    Permutation inverse = invertPermutationVector(producer.getPermutation());
    Permutation sizes =
        llvm::map_to_vector(op.getReassociationIndices(),
                            [](auto &group) { return int64_t(group.size()); });
    Permutation moved = permutationOfGroups(op, producer.getPermutation());
    SmallVector<ReassociationIndices> groups;
    for (int64_t i : inverse) {
      int64_t start = groups.empty() ? 0 : groups.back().back() + 1;
      groups.push_back(llvm::to_vector(llvm::seq(start, start + sizes[i])));
    }
    Permutation back = invertPermutationVector(moved);
    auto type = RankedTensorType::get(
        applyPermutation(op.getResultType().getShape(), back),
        op.getResultType().getElementType());
    Value expanded = tensor::ExpandShapeOp::create(
        rewriter, op.getLoc(), type, producer.getInput(), groups,
        applyPermutation(op.getMixedOutputShape(), back));
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), expanded, moved));
    return success();
  }
};

// The groups of source dimensions that become dimensions of the result, in the
// order of the source. Dimensions of size one may lie anywhere, so they go with
// a neighbour; a group of nothing else keeps its first. Returns the number of
// the result's dimension for each; nothing where a group lies apart.
std::optional<Permutation>
groupsOfSource(tensor::CollapseShapeOp op, TransposeOp producer,
               SmallVector<ReassociationIndices> &groups) {
  ArrayRef<int64_t> permutation = producer.getPermutation();
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(producer.getInput().getType()).getShape();
  SmallVector<int64_t> owner(shape.size(), -1);
  for (auto [number, group] : llvm::enumerate(op.getReassociationIndices())) {
    auto source = llvm::map_to_vector(
        group, [&](int64_t dim) { return permutation[dim]; });
    auto kept = llvm::filter_to_vector(
        source, [&](int64_t dim) { return shape[dim] != 1; });
    if (kept.empty())
      kept.push_back(source.front());
    if (!llvm::is_sorted(kept))
      return std::nullopt;
    for (int64_t dim : kept)
      owner[dim] = number;
  }
  Permutation order;
  for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim) {
    bool isNext =
        owner[dim] >= 0 && (order.empty() || owner[dim] != order.back());
    if (isNext && llvm::is_contained(order, owner[dim]))
      return std::nullopt;
    if (isNext)
      order.push_back(owner[dim]);
    if (groups.size() < std::max<size_t>(order.size(), 1))
      groups.emplace_back();
    groups.back().push_back(dim);
  }
  return order;
}

struct SinkBelowCollapse : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto producer = op.getSrc().getDefiningOp<TransposeOp>();
    if (!producer || op.getReassociationIndices().empty())
      return failure();
    SmallVector<ReassociationIndices> groups;
    std::optional<Permutation> order = groupsOfSource(op, producer, groups);
    if (!order)
      return failure();
    Value collapsed = tensor::CollapseShapeOp::create(
        rewriter, op.getLoc(), producer.getInput(), groups);
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), collapsed,
                                      invertPermutationVector(*order)));
    return success();
  }
};

// What both branches of an If transpose is transposed behind it.
struct SinkBelowIf : OpRewritePattern<scf::IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::IfOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumResults() == 0)
      return failure();
    SmallVector<std::optional<Permutation>> permutations;
    SmallVector<Type> types(op.getResultTypes());
    for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(
             op.thenYield().getResults(), op.elseYield().getResults()))) {
      auto yes = std::get<0>(pair).getDefiningOp<TransposeOp>(),
           no = std::get<1>(pair).getDefiningOp<TransposeOp>();
      permutations.emplace_back();
      if (yes && no && yes.getPermutation() == no.getPermutation() &&
          yes.getInput().getType() == no.getInput().getType()) {
        permutations.back() = Permutation(yes.getPermutation());
        types[i] = yes.getInput().getType();
      }
    }
    if (llvm::none_of(permutations,
                      [](auto &each) { return each.has_value(); }))
      return rewriter.notifyMatchFailure(op, "branches differ in layout");
    auto moved = scf::IfOp::create(rewriter, op.getLoc(), types,
                                   op.getCondition(), /*withElse=*/true);
    for (auto [from, to] :
         llvm::zip_equal(op.getRegions(), moved.getRegions())) {
      rewriter.eraseBlock(&to->front());
      rewriter.inlineRegionBefore(*from, *to, to->begin());
      auto yield = cast<scf::YieldOp>(to->front().getTerminator());
      rewriter.modifyOpInPlace(yield, [&] {
        for (auto [operand, permutation] :
             llvm::zip_equal(yield->getOpOperands(), permutations))
          if (permutation)
            operand.set(operand.get().getDefiningOp<TransposeOp>().getInput());
      });
    }
    SmallVector<Value> results;
    for (auto [result, permutation] :
         llvm::zip_equal(moved.getResults(), permutations))
      results.push_back(
          permutation ? transposed(rewriter, op.getLoc(), result, *permutation)
                      : Value(result));
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void addSinkBelowViews(RewritePatternSet &patterns) {
  patterns.add<SinkBelowPad, SinkBelowSlice, SinkBelowConcat, SinkBelowExpand,
               SinkBelowCollapse, SinkBelowIf>(patterns.getContext());
}

} // namespace onnxc
