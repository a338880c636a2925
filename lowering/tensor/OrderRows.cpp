// Norms over the channels of an image reduce the second of four dimensions and
// keep it as one of size one. In NHWC the channels are innermost: then what
// belongs to a pixel is a row, and a row kernel can do all of the norm, once
// the loops and the tensors that lie between its steps say so.
#include "lowering/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using linalg::GenericOp;

namespace onnxc {
#define GEN_PASS_DEF_ORDERROWS
#include "lowering/Passes.h.inc"

namespace {

// A reduction of the innermost dimensions loops over them last; but places of
// extremes are found side by side in many rows.
struct ReduceInnermost : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
        op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics())
      return failure();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    if (!maps[0].isPermutation() || maps[0].isIdentity())
      return failure();
    // The new loops, by the old ones.
    SmallVector<unsigned> order =
        llvm::map_to_vector(maps[0].getResults(), [](AffineExpr index) {
          return cast<AffineDimExpr>(index).getPosition();
        });
    // Those of the result as they are, then those that are summed.
    SmallVector<AffineExpr> expected(maps.back().getResults());
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if (linalg::isReductionIterator(kind))
        expected.push_back(rewriter.getAffineDimExpr(loop));
    if (maps[0].getResults() != ArrayRef(expected))
      return failure();
    return linalg::interchangeGenericOp(rewriter, op, order);
  }
};

bool isElementwise(GenericOp op) {
  return op.getNumDpsInits() == 1 && op.getNumResults() == 1 &&
         op.getNumReductionLoops() == 0 && op.hasPureTensorSemantics() &&
         op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>() &&
         op.getIndexingMapsArray().back().isIdentity() &&
         !op.hasIndexSemantics();
}

// Whether rows of other loops than the first ones would read the tensor for its
// dimension `dim`, which has one index only.
bool isInTheWay(AffineMap map, unsigned dim) {
  auto index = dyn_cast<AffineConstantExpr>(map.getResult(dim));
  return index && llvm::any_of(map.getResults().drop_front(dim + 1),
                               [](AffineExpr other) {
                                 return !isa<AffineConstantExpr>(other);
                               });
}

// What only elementwise operations and reductions read that repeat it along a
// dimension of size one is made without that dimension.
struct DropKept : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!isElementwise(op))
      return failure();
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.getDimSize(dim) == 1 && isDroppable(op, dim)) {
        drop(rewriter, op, dim);
        return success();
      }
    return failure();
  }

private:
  static bool isDroppable(GenericOp op, unsigned dim) {
    bool isNeeded = false;
    for (OpOperand &use : op->getUses()) {
      auto reader = dyn_cast<GenericOp>(use.getOwner());
      if (!reader || reader.isDpsInit(&use))
        return false;
      AffineMap map = reader.getMatchingIndexingMap(&use);
      if (!isa<AffineConstantExpr>(map.getResult(dim)))
        return false;
      isNeeded |= isInTheWay(map, dim);
    }
    return isNeeded;
  }

  static void drop(PatternRewriter &rewriter, GenericOp op, unsigned dim) {
    MLIRContext *context = op.getContext();
    // The loops by those that are left.
    SmallVector<AffineExpr> loops;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      loops.push_back(loop == dim
                          ? getAffineConstantExpr(0, context)
                          : getAffineDimExpr(loop - (loop > dim), context));
    unsigned left = op.getNumLoops() - 1;
    SmallVector<AffineMap> maps =
        llvm::map_to_vector(op.getIndexingMapsArray(), [&](AffineMap map) {
          return map.replaceDimsAndSymbols(loops, {}, left, 0);
        });
    maps.back() = maps.back().dropResult(dim);
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, op.getLoc(), op.getDpsInits()[0]);
    sizes.erase(sizes.begin() + dim);
    Value init = tensor::EmptyOp::create(rewriter, op.getLoc(), sizes,
                                         getElementTypeOrSelf(op.getResult(0)));
    SmallVector<utils::IteratorType> kinds(left, utils::IteratorType::parallel);
    auto dropped = GenericOp::create(rewriter, op.getLoc(), init.getType(),
                                     op.getInputs(), init, maps, kinds);
    rewriter.inlineRegionBefore(op.getRegion(), dropped.getRegion(),
                                dropped.getRegion().begin());
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses()))
      readWithout(rewriter, use, dim, dropped.getResult(0));
    rewriter.eraseOp(op);
  }

  static void readWithout(PatternRewriter &rewriter, OpOperand &use,
                          unsigned dim, Value dropped) {
    auto reader = cast<GenericOp>(use.getOwner());
    SmallVector<AffineMap> maps = reader.getIndexingMapsArray();
    AffineMap &map = maps[use.getOperandNumber()];
    map = map.dropResult(dim);
    rewriter.modifyOpInPlace(reader, [&] {
      use.set(dropped);
      reader.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
  }
};

// Numbers of rows that a reshape gave dimensions of size one, by which they are
// repeated or in which they end, are read without these.
struct ReadWithoutOnes : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() > 0)
      return failure();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    for (OpOperand *input : op.getDpsInputOperands()) {
      auto reshape = input->get().getDefiningOp<tensor::ExpandShapeOp>();
      AffineMap &map = maps[input->getOperandNumber()];
      AffineMap ofSource = reshape ? withoutOnes(reshape, map) : AffineMap();
      if (!ofSource)
        continue;
      map = ofSource;
      rewriter.modifyOpInPlace(op, [&] {
        input->set(reshape.getSrc());
        op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
      return success();
    }
    return failure();
  }

private:
  // Null where a dimension is parted into others.
  static AffineMap withoutOnes(tensor::ExpandShapeOp reshape, AffineMap map) {
    ArrayRef<int64_t> shape = reshape.getResultType().getShape();
    auto isOne = [&](int64_t dim) {
      bool isRepeated = isa<AffineConstantExpr>(map.getResult(dim)),
           isAtEnd = llvm::all_of(shape.drop_front(dim),
                                  [](int64_t size) { return size == 1; });
      return shape[dim] == 1 && (isRepeated || isAtEnd);
    };
    SmallVector<AffineExpr> kept;
    for (const ReassociationIndices &group :
         reshape.getReassociationIndices()) {
      auto dims = llvm::to_vector(llvm::make_filter_range(
          group, [&](int64_t dim) { return !isOne(dim); }));
      if (dims.size() > 1)
        return {};
      kept.push_back(dims.empty() ? getAffineConstantExpr(0, map.getContext())
                                  : map.getResult(dims.front()));
    }
    return AffineMap::get(map.getNumDims(), 0, kept, map.getContext());
  }
};

struct OrderRows : impl::OrderRowsBase<OrderRows> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReduceInnermost, DropKept, ReadWithoutOnes>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace onnxc
