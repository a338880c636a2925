// Exporters that know matrix products of three dimensions only join batch and
// heads in front of each and part them again for a mask or a softmax. Joined,
// heads are no view of what they were computed in: they are copied, and the
// two products of an attention do not meet. This pass moves the joins behind
// the products and what follows them, until they meet their inverse. Scores
// that are computed transposed are written as they are read.
//
// Upstream's patterns would do so for products, but not for what is computed
// by rows: it reads a value per row at index zero of a last dimension.
#include "lowering/ConstantViews.h"
#include "lowering/Passes.h"
#include "lowering/loops/Contraction.h"
#include "lowering/tensor/Transposed.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace onnxc {
#define GEN_PASS_DEF_SPLITBATCHES
#include "lowering/Passes.h.inc"

using namespace mlir;
using linalg::GenericOp;

namespace {

// Of a product that may be turned: a vector, or most of one.
constexpr int64_t fewestColumns = 8;

//===-- Which loops -------------------------------------------------------===//

int64_t getRank(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

// The loops that walk over matrices, each with a product of its own.
SmallVector<unsigned> batchLoops(GenericOp op) {
  FailureOr<LoopRoles> roles = inferLoopRoles(op);
  bool isProduct = op.getNumDpsInputs() == 2 && op.getNumReductionLoops() == 1;
  if (!isProduct || failed(roles))
    return {};
  return llvm::filter_to_vector(roles->batches, [&](unsigned loop) {
    return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
      return map.isFunctionOfDim(loop);
    });
  });
}

// Whether `value` is computed of scores of an attention, element by element or
// row by row: of products of batches.
bool comesFromBatches(Value value) {
  while (auto op = value.getDefiningOp<GenericOp>()) {
    if (!batchLoops(op).empty())
      return true;
    auto inputs = op.getDpsInputs();
    auto *largest = llvm::max_element(inputs, [](Value one, Value other) {
      return getRank(one) < getRank(other);
    });
    if (largest == inputs.end())
      return false;
    value = *largest;
  }
  return false;
}

// The loops of `op` that walk what `groups` joins in an operand; none where an
// index is no loop.
SmallVector<unsigned> joinedLoops(AffineMap map,
                                  ArrayRef<ReassociationIndices> groups) {
  SmallVector<unsigned> loops;
  for (auto [index, group] : llvm::zip_equal(map.getResults(), groups)) {
    auto loop = dyn_cast<AffineDimExpr>(index);
    if (group.size() > 1 && !loop)
      return {};
    if (group.size() > 1)
      loops.push_back(loop.getPosition());
  }
  return loops;
}

bool isContained(ArrayRef<unsigned> loops, ArrayRef<unsigned> batches) {
  return llvm::all_of(
      loops, [&](unsigned loop) { return llvm::is_contained(batches, loop); });
}

// Whether its loops are the dimensions of its result, element by element.
bool isPlain(GenericOp op) {
  return isElementwise(op) && op.getIndexingMapsArray().back().isIdentity();
}

// Follows joined dimensions to their readers. Each value is followed once: what
// an activation reads twice it would else reach in ever more ways.
class Readers {
public:
  // Whether all that reads `value`, element by element what is made of it, has
  // products with batches along these dimensions or parts them again.
  bool areBatches(Value value, ArrayRef<unsigned> dims) {
    open.push_back({value, SmallVector<unsigned>(dims)});
    while (!open.empty()) {
      auto [read, at] = open.pop_back_val();
      if (read.use_empty() ||
          !llvm::all_of(read.getUses(),
                        [&](OpOperand &use) { return follow(use, at); }))
        return false;
    }
    return true;
  }

private:
  bool follow(OpOperand &use, ArrayRef<unsigned> dims) {
    Operation *reader = use.getOwner();
    if (auto part = dyn_cast<tensor::ExpandShapeOp>(reader))
      return llvm::all_of(dims, [&](unsigned dim) {
        return part.getReassociationIndices()[dim].size() > 1;
      });
    SmallVector<unsigned> moved;
    if (auto turn = dyn_cast<linalg::TransposeOp>(reader)) {
      for (unsigned dim : dims)
        moved.push_back(llvm::find(turn.getPermutation(), int64_t(dim)) -
                        turn.getPermutation().begin());
      return add(turn->getResult(0), moved);
    }
    auto op = dyn_cast<GenericOp>(reader);
    if (!op)
      return false;
    AffineMap map = op.getMatchingIndexingMap(&use);
    for (unsigned dim : dims)
      if (auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim)))
        moved.push_back(loop.getPosition());
    if (moved.size() != dims.size())
      return false;
    return isPlain(op) ? add(op.getResult(0), moved)
                       : isContained(moved, batchLoops(op));
  }
  bool add(Value value, ArrayRef<unsigned> dims) {
    if (seen.insert(value).second)
      open.push_back({value, SmallVector<unsigned>(dims)});
    return true;
  }

  SmallVector<std::pair<Value, SmallVector<unsigned>>> open;
  llvm::SmallDenseSet<Value> seen;
};

// Whether all loops are batches of `op`, or of what reads the elements that it
// computes one by one.
bool areBatches(GenericOp op, ArrayRef<unsigned> loops) {
  return isPlain(op) ? Readers().areBatches(op.getResult(0), loops)
                     : isContained(loops, batchLoops(op));
}

// Whether a loop is an index by itself wherever it is one, so that two can take
// its place.
bool canBeParted(GenericOp op, unsigned loop) {
  return op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel &&
         llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
           return llvm::all_of(map.getResults(), [&](AffineExpr index) {
             return isa<AffineDimExpr>(index) || !index.isFunctionOfDim(loop);
           });
         });
}

//===-- Parting them ------------------------------------------------------===//

// The sizes of the loops that take the place of each loop.
using Parts = SmallVector<SmallVector<OpFoldResult>>;

class Parter {
public:
  Parter(ImplicitLocOpBuilder &b, GenericOp op, Parts parts);
  // The same computed by the loops of all parts, joined again.
  Value emit();

private:
  struct Parted {
    AffineMap map;
    SmallVector<ReassociationIndices> groups;
    SmallVector<OpFoldResult> sizes;
  };
  Parted parted(OpOperand &operand);
  Value part(OpOperand &operand, const Parted &as);

  ImplicitLocOpBuilder &b;
  GenericOp op;
  Parts parts;
  SmallVector<unsigned> first; // of the loops in the place of each
  unsigned loops = 0;
};

Parter::Parter(ImplicitLocOpBuilder &b, GenericOp op, Parts parts)
    : b(b), op(op), parts(std::move(parts)) {
  for (ArrayRef<OpFoldResult> sizes : this->parts) {
    first.push_back(loops);
    loops += std::max<size_t>(sizes.size(), 1);
  }
}

Parter::Parted Parter::parted(OpOperand &operand) {
  Parted as;
  SmallVector<AffineExpr> indices;
  auto add = [&](AffineExpr index, OpFoldResult size) {
    as.groups.back().push_back(indices.size());
    indices.push_back(index);
    as.sizes.push_back(size);
  };
  SmallVector<AffineExpr> moved;
  for (unsigned loop : first)
    moved.push_back(b.getAffineDimExpr(loop));
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), operand.get());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [index, size] : llvm::zip_equal(map.getResults(), sizes)) {
    as.groups.emplace_back();
    auto loop = dyn_cast<AffineDimExpr>(index);
    if (!loop || parts[loop.getPosition()].empty()) {
      add(index.replaceDims(moved), size);
      continue;
    }
    unsigned at = first[loop.getPosition()];
    for (OpFoldResult part : parts[loop.getPosition()])
      add(b.getAffineDimExpr(at++), part);
  }
  as.map = AffineMap::get(loops, 0, indices, b.getContext());
  return as;
}

Value Parter::part(OpOperand &operand, const Parted &as) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type || as.groups.size() == as.sizes.size())
    return operand.get();
  Type element = type.getElementType();
  if (operand.get().getDefiningOp<tensor::EmptyOp>())
    return tensor::EmptyOp::create(b, as.sizes, element);
  if (auto fill = operand.get().getDefiningOp<linalg::FillOp>()) {
    Value empty = tensor::EmptyOp::create(b, as.sizes, element);
    return linalg::FillOp::create(b, fill.getInputs(), empty).getResult(0);
  }
  return tensor::ExpandShapeOp::create(
      b, RankedTensorType::get(decomposeMixedValues(as.sizes).first, element),
      operand.get(), as.groups, as.sizes);
}

Value Parter::emit() {
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  Parted result;
  for (OpOperand &operand : op->getOpOperands()) {
    result = parted(operand);
    maps.push_back(result.map);
    operands.push_back(part(operand, result));
  }
  SmallVector<utils::IteratorType> iterators;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    iterators.append(std::max<size_t>(parts[loop].size(), 1), kind);
  Value init = operands.pop_back_val();
  auto generic =
      GenericOp::create(b, init.getType(), operands, init, maps, iterators);
  generic.getRegion().takeBody(op.getRegion());
  return tensor::CollapseShapeOp::create(b, op.getResult(0).getType(),
                                         generic.getResult(0), result.groups);
}

void partLoops(PatternRewriter &rewriter, GenericOp op, AffineMap map,
               ArrayRef<ReassociationIndices> groups,
               ArrayRef<OpFoldResult> sizes) {
  Parts parts(op.getNumLoops());
  for (auto [index, group] : llvm::zip_equal(map.getResults(), groups))
    if (group.size() > 1)
      for (int64_t dim : group)
        parts[cast<AffineDimExpr>(index).getPosition()].push_back(sizes[dim]);
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  rewriter.replaceOp(op, Parter(b, op, std::move(parts)).emit());
}

bool isCandidate(GenericOp op) {
  return op && op.getNumDpsInits() == 1 && !op.hasIndexSemantics() &&
         op.hasPureTensorSemantics();
}

struct JoinLater : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!isCandidate(op))
      return failure();
    for (OpOperand *input : op.getDpsInputOperands()) {
      auto join = input->get().getDefiningOp<tensor::CollapseShapeOp>();
      if (!join)
        continue;
      AffineMap map = op.getMatchingIndexingMap(input);
      auto groups = join.getReassociationIndices();
      SmallVector<unsigned> loops = joinedLoops(map, groups);
      auto canPart = [&](unsigned loop) { return canBeParted(op, loop); };
      if (loops.empty() || !llvm::all_of(loops, canPart) ||
          !(areBatches(op, loops) || comesFromBatches(join.getSrc())))
        continue;
      rewriter.setInsertionPoint(op);
      partLoops(rewriter, op, map, groups,
                tensor::getMixedSizes(rewriter, op.getLoc(), join.getSrc()));
      return success();
    }
    return failure();
  }
};

// transpose(join(x)) becomes join(transpose(x)).
struct JoinBehindTranspose : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto join = op.getInput().getDefiningOp<tensor::CollapseShapeOp>();
    if (!join)
      return failure();
    auto from = join.getReassociationIndices();
    SmallVector<unsigned> joined;
    SmallVector<int64_t> permutation;
    SmallVector<ReassociationIndices> groups;
    for (auto [at, dim] : llvm::enumerate(op.getPermutation())) {
      if (from[dim].size() > 1)
        joined.push_back(at);
      groups.emplace_back();
      for (int64_t part : from[dim]) {
        groups.back().push_back(permutation.size());
        permutation.push_back(part);
      }
    }
    if (!Readers().areBatches(op->getResult(0), joined))
      return failure();
    Value turned =
        transposed(rewriter, op.getLoc(), join.getSrc(), permutation);
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(
        op, op->getResult(0).getType(), turned, groups);
    return success();
  }
};

// A product of joined matrices whose result is parted.
struct PartBefore : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExpandShapeOp part,
                                PatternRewriter &rewriter) const override {
    auto op = part.getSrc().getDefiningOp<GenericOp>();
    if (!isCandidate(op))
      return failure();
    AffineMap map = op.getIndexingMapsArray().back();
    auto groups = part.getReassociationIndices();
    SmallVector<unsigned> loops = joinedLoops(map, groups);
    if (loops.empty() || batchLoops(op).empty() || !areBatches(op, loops))
      return failure();
    rewriter.setInsertionPoint(op);
    if (!llvm::all_of(part.getOutputShape(), [&](Value size) {
          return DominanceInfo().properlyDominates(size, op);
        }))
      return failure();
    partLoops(rewriter, op, map, groups, part.getMixedOutputShape());
    return success();
  }
};

// transpose(a * b), of computed matrices: which one has the columns is the same
// to them, but not to a softmax between two transposes.
struct TurnProduct : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto product = op.getInput().getDefiningOp<GenericOp>();
    if (!isCandidate(product) || !product->hasOneUse() ||
        batchLoops(product).empty() ||
        llvm::any_of(product.getDpsInputs(), constantBehind))
      return failure();
    auto shape = cast<RankedTensorType>(op.getInput().getType()).getShape();
    int64_t last = op.getPermutation().back(), columns = shape[last];
    AffineMap result = product.getIndexingMapsArray().back();
    if (llvm::is_contained(batchLoops(product), result.getDimPosition(last)))
      return failure();
    bool isWide = ShapedType::isDynamic(columns) || columns >= fewestColumns;
    return isWide ? writeTransposed(rewriter, op, product) : failure();
  }
};

// The dimension of each group that may be longer than one; fails where several
// may be.
FailureOr<SmallVector<int64_t>> longDims(tensor::ExpandShapeOp op) {
  SmallVector<int64_t> dims;
  for (ArrayRef<int64_t> group : op.getReassociationIndices()) {
    SmallVector<int64_t> longOnes =
        llvm::filter_to_vector(group, [&](int64_t dim) {
          return op.getResultType().getDimSize(dim) != 1;
        });
    if (longOnes.size() > 1)
      return failure();
    dims.push_back(longOnes.empty() ? group.front() : longOnes.front());
  }
  return dims;
}

// A transpose between a reshape that adds dimensions of size one and one that
// joins them with others does without.
struct TransposeWithoutOnes : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto adding = op.getInput().getDefiningOp<tensor::ExpandShapeOp>();
    Value result = op->getResult(0);
    if (!adding || !result.hasOneUse())
      return failure();
    auto join = dyn_cast<tensor::CollapseShapeOp>(*result.user_begin());
    FailureOr<SmallVector<int64_t>> dims = longDims(adding);
    if (!join || failed(dims))
      return failure();
    for (ArrayRef<int64_t> group : join.getReassociationIndices())
      if (group.size() == 1 &&
          !llvm::is_contained(*dims, op.getPermutation()[group.front()]))
        return failure();
    SmallVector<int64_t> permutation;
    SmallVector<ReassociationIndices> groups;
    for (auto [at, dim] : llvm::enumerate(op.getPermutation())) {
      const auto *moved = llvm::find(*dims, dim);
      if (moved != dims->end()) {
        permutation.push_back(moved - dims->begin());
        if (permutation.size() > 1 || groups.empty())
          groups.emplace_back();
      } else if (groups.empty()) {
        groups.emplace_back();
      }
      groups.back().push_back(at);
    }
    Value turned =
        transposed(rewriter, op.getLoc(), adding.getSrc(), permutation);
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(
        op, result.getType(), turned, groups,
        applyPermutation(adding.getMixedOutputShape(), op.getPermutation()));
    return success();
  }
};

struct SplitBatches : impl::SplitBatchesBase<SplitBatches> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet ones(context), joins(context);
    // A join may take as many steps as there are operations in its way.
    GreedyRewriteConfig config;
    config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    ones.add<TransposeWithoutOnes>(context);
    joins.add<JoinLater, JoinBehindTranspose, PartBefore, TurnProduct>(context);
    for (RewritePatternSet *patterns : {&ones, &joins}) {
      tensor::CollapseShapeOp::getCanonicalizationPatterns(*patterns, context);
      tensor::ExpandShapeOp::getCanonicalizationPatterns(*patterns, context);
      if (failed(applyPatternsGreedily(getOperation(), std::move(*patterns),
                                       config)))
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace onnxc
