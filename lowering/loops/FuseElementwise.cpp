// Chains of elementwise operations become one loop, and elementwise producers
// run inside the reduction that reads them. What is never bought with it: an
// element computed more often than before, except where that is cheaper than
// the memory traffic of keeping it.
#include "lowering/Missed.h"
#include "lowering/Passes.h"
#include "lowering/loops/LaneBody.h"
#include "lowering/loops/PixelFolds.h"
#include "lowering/loops/Winograd.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "lowering/Passes.h.inc"

namespace {

// Each fusion copies both bodies: without a limit, a chain takes time with the
// square of its length, and registers beyond count. A function of math.h weighs
// as much as the code that it becomes.
constexpr unsigned mostWeight = 192;

// Further back nobody looks for the reduction that a value comes from.
constexpr size_t longestEpilogue = 32;

// Every iteration of the consumer reads an element of its own.
bool readsEachOnce(OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  AffineMap map = consumer.getMatchingIndexingMap(operand);
  SmallVector<int64_t> sizes = consumer.getStaticLoopRanges();
  llvm::SmallDenseSet<unsigned> seen;
  for (AffineExpr expr : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      seen.insert(dim.getPosition());
  for (unsigned dim = 0; dim < sizes.size(); ++dim)
    if (!seen.contains(dim) && sizes[dim] != 1)
      return false;
  return true;
}

// Whether a reduction makes the value, or elementwise operations that may
// become its epilogue do.
bool isFoldedFrom(Value value, llvm::SmallPtrSetImpl<Operation *> &seen) {
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || op.getNumReductionLoops() > 0)
    return op != nullptr;
  if (seen.size() == longestEpilogue || !seen.insert(op).second)
    return false;
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return map.getNumResults() == op.getNumLoops() &&
           isFoldedFrom(input->get(), seen);
  });
}

// Whether it repeats what its input holds and does nothing else: whoever reads
// the input instead finds elements side by side as before.
bool isBroadcast(linalg::GenericOp producer) {
  if (producer.getNumDpsInputs() != 1 || producer.getNumDpsInits() != 1 ||
      !isElementwise(producer) ||
      producer.getBody()->getTerminator()->getOperand(0) !=
          producer.getBody()->getArgument(0))
    return false;
  AffineMap read =
      producer.getMatchingIndexingMap(producer.getDpsInputOperand(0));
  // Loops in their order, or the first element; the innermost one last.
  int64_t last = -1;
  for (AffineExpr index : read.getResults()) {
    auto number = dyn_cast<AffineConstantExpr>(index);
    auto loop = dyn_cast<AffineDimExpr>(index);
    if (loop ? int64_t(loop.getPosition()) <= last
             : !number || number.getValue() != 0)
      return false;
    last = loop ? loop.getPosition() : last;
  }
  return producer.getIndexingMapsArray().back().isIdentity() &&
         read.getNumResults() > 0 &&
         read.getResults().back() ==
             getAffineDimExpr(producer.getNumLoops() - 1, read.getContext());
}

// Whether it is the same for elements side by side.
bool isPerRow(OpOperand *operand) {
  auto op = cast<linalg::GenericOp>(operand->getOwner());
  return op.getNumLoops() > 0 &&
         !op.getMatchingIndexingMap(operand).isFunctionOfDim(op.getNumLoops() -
                                                             1);
}

// Whether `value` is computed from `source`, among other things.
bool isComputedFrom(Value value, Operation *source) {
  SetVector<Operation *> before;
  before.insert(value.getDefiningOp());
  for (size_t i = 0; i < std::min(before.size(), longestEpilogue); ++i)
    for (Value operand : before[i] ? before[i]->getOperands() : ValueRange())
      before.insert(operand.getDefiningOp());
  return before.contains(source);
}

// Whether it is the same for several rows, but not for elements side by side.
bool isPerColumn(OpOperand *operand) {
  auto op = cast<linalg::GenericOp>(operand->getOwner());
  return !readsEachOnce(operand) &&
         op.getMatchingIndexingMap(operand).isFunctionOfDim(op.getNumLoops() -
                                                            1);
}

// Whether another operand tells something of whole rows or columns of `input`:
// what reads both is no epilogue of what makes it.
bool waitsForFolds(linalg::GenericOp producer, OpOperand *input) {
  return llvm::any_of(producer.getDpsInputOperands(), [&](OpOperand *other) {
    return (isPerRow(other) || isPerColumn(other)) &&
           isComputedFrom(other->get(), input->get().getDefiningOp());
  });
}

bool readsSeveralRows(linalg::GenericOp producer) {
  return llvm::count_if(producer.getDpsInputOperands(),
                        [](OpOperand *input) { return !isPerRow(input); }) > 1;
}

// Whether all who read it may compute it themselves, so that nobody keeps it.
bool isReadByLoops(linalg::GenericOp producer) {
  return llvm::all_of(producer->getUses(), [](OpOperand &use) {
    return use.getOwner()->use_empty() ||
           (isa<linalg::GenericOp>(use.getOwner()) && readsEachOnce(&use));
  });
}

// A few instructions on one tensor of full size, which no kernel with an
// epilogue makes, or on two where a kernel has no room for a row of the result,
// which is of unknown length.
bool isCheaperThanMemory(linalg::GenericOp producer) {
  if (weightOf(producer) > 4)
    return false;
  unsigned full = 0;
  for (OpOperand *input : producer.getDpsInputOperands()) {
    AffineMap map = producer.getMatchingIndexingMap(input);
    if (map.getNumResults() < producer.getNumLoops() || isPerColumn(input) ||
        isPerRow(input))
      continue;
    ++full;
    llvm::SmallPtrSet<Operation *, 8> seen;
    if (isFoldedFrom(input->get(), seen) && !waitsForFolds(producer, input))
      return false;
  }
  return full <=
         (ShapedType::isDynamic(producer.getStaticLoopRanges().back()) ? 2 : 1);
}

// The contractions that `value` is the epilogue's result of: elementwise
// operations that read all of their elements, and nobody else does.
SmallVector<linalg::GenericOp> contractionsBefore(Value value) {
  SmallVector<linalg::GenericOp> found;
  auto last = value.getDefiningOp<linalg::GenericOp>();
  if (!last)
    return found;
  SetVector<Operation *> epilogue;
  auto isInside = [&](Operation *user) { // or dead, and goes as soon as it may
    return epilogue.contains(user) || user->use_empty();
  };
  auto visit = [&](linalg::GenericOp op) {
    bool isContraction = op.getNumReductionLoops() > 0;
    if (isContraction && succeeded(inferLoopRoles(op)))
      found.push_back(op);
    return !isContraction && epilogue.size() < longestEpilogue &&
           epilogue.insert(op);
  };
  // What is read by several of them is met again behind the last one.
  auto visitInputs = [&](linalg::GenericOp op) {
    return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
      auto before = input->get().getDefiningOp<linalg::GenericOp>();
      return before && op.getMatchingIndexingMap(input).isPermutation() &&
             !llvm::is_contained(found, before) &&
             llvm::all_of(before->getUsers(), isInside) && visit(before);
    });
  };
  bool isNew = visit(last);
  while (isNew)
    isNew = llvm::any_of(epilogue, [&](Operation *op) {
      return visitInputs(cast<linalg::GenericOp>(op));
    });
  return found;
}

// Whether the operand's owner can be the epilogue of a contraction that it
// alone reads there.
bool followsContraction(OpOperand *operand) {
  auto owner = cast<linalg::GenericOp>(operand->getOwner());
  auto isElsewhere = [&](Operation *user) { // dead ones go as soon as they may
    return user != owner && !user->use_empty();
  };
  return llvm::none_of(operand->get().getUsers(), isElsewhere) &&
         owner.getMatchingIndexingMap(operand).isPermutation() &&
         !contractionsBefore(operand->get()).empty();
}

// Whether both add to what contractions of their own make: in an epilogue each,
// the producer's other operands need not wait for the consumer's contraction.
bool followTwoContractions(linalg::GenericOp producer, OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  auto isWhole = [&](OpOperand *input) {
    return producer.getMatchingIndexingMap(input).isPermutation();
  };
  auto isOther = [&](OpOperand *other) {
    return other != operand && followsContraction(other);
  };
  return isElementwise(consumer) &&
         llvm::count_if(producer.getDpsInputOperands(), isWhole) > 1 &&
         llvm::any_of(producer.getDpsInputOperands(), followsContraction) &&
         llvm::any_of(consumer.getDpsInputOperands(), isOther);
}

// Whether tiles of a kernel can fold what the operand reads, so that it had
// better stay a fold and nothing else.
bool isFoldOfTiles(OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  if (!isFold(consumer) ||
      consumer.getIndexingMapsArray().back().getResults().back() !=
          consumer.getMatchingIndexingMap(operand).getResults().back())
    return false;
  auto canFold = [&](linalg::GenericOp root) {
    bool isQuartered = llvm::any_of(root.getDpsInputs(), [](Value input) {
      return input.getDefiningOp<QuarteredMatrixOp>() != nullptr;
    });
    if (isQuartered)
      return false;
    bool isFiltered = llvm::any_of(root.getDpsInputs(), [](Value input) {
      return input.getDefiningOp<WinogradFilterOp>() != nullptr;
    });
    return !isFiltered || (foldsColumns(consumer) &&
                           matchFilteredConvolution(root)->mayFoldRows());
  };
  return llvm::any_of(contractionsBefore(operand->get()), canFold);
}

// Whether other operands tell how often the consumer's loops run. Where none
// does, a fused loop keeps the producer's result; a reduction has no place for
// what is no sum.
bool othersTellBounds(OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  llvm::SmallBitVector told(consumer.getNumLoops());
  auto tell = [&](AffineExpr expr) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      told.set(dim.getPosition());
  };
  auto isDead = [&](OpOperand &other) { // and goes as soon as it may
    return consumer.isDpsInit(&other) &&
           consumer.getTiedOpResult(&other).use_empty();
  };
  for (OpOperand &other : consumer->getOpOperands())
    if (&other != operand && !isDead(other))
      llvm::for_each(consumer.getMatchingIndexingMap(&other).getResults(),
                     tell);
  AffineMap read = consumer.getMatchingIndexingMap(operand),
            made = producer.getIndexingMapMatchingResult(
                cast<OpResult>(operand->get()));
  for (OpOperand *input : producer.getDpsInputOperands())
    for (AffineExpr expr : producer.getMatchingIndexingMap(input).getResults())
      for (auto [own, theirs] : llvm::zip(made.getResults(), read.getResults()))
        if (own == expr)
          tell(theirs);
  return told.all();
}

// Null where the producer of an operand should move into its consumer.
const char *whyApart(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  if (!producer || !isa<linalg::GenericOp>(operand->getOwner()))
    return "no elementwise operation makes it";
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  if (weightOf(producer) + weightOf(consumer) > mostWeight)
    return "the loop would be too long";
  if (producer->getParentOfType<KernelOp>())
    return "a kernel's body is its schedule's business";
  if (consumer.getNumReductionLoops() > 0 && !othersTellBounds(operand))
    return "no other operand tells how often its loops run";
  // It would be a second result, for each iteration of a loop that folds.
  if (consumer.getNumReductionLoops() > 0 &&
      llvm::any_of(producer.getRegionOutputArgs(),
                   [](Value before) { return !before.use_empty(); }))
    return "it adds to what is there";
  if (isFoldOfTiles(operand))
    return "the tiles that make it fold it";
  if (followTwoContractions(producer, operand))
    return "each is the epilogue of another contraction";
  if (isBroadcast(producer))
    return nullptr;
  if (!readsEachOnce(operand))
    return "elements would be computed more than once";
  auto isHere = [&](Operation *user) { return user == operand->getOwner(); };
  if (llvm::all_of(producer->getUsers(), isHere))
    return nullptr;
  if (consumer.getNumReductionLoops() > 0 && readsSeveralRows(producer))
    return "others use it too, and a fold of several rows is no part of a "
           "kernel of rows";
  if (!isReadByLoops(producer))
    return "others use it too, and they need it whole";
  if (isCheaperThanMemory(producer))
    return nullptr;
  return "others use it too, and computing it again costs more";
}

bool isWorthFusing(OpOperand *operand) { return !whyApart(operand); }

void explain(ModuleOp module) {
  module.walk([](linalg::GenericOp consumer) {
    for (OpOperand *operand : consumer.getDpsInputOperands()) {
      auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
      if (!producer || producer.getNumReductionLoops())
        continue;
      if (const char *reason = whyApart(operand))
        missed(producer, "fuse-elementwise", consumer) << reason;
    }
  });
}

struct FuseElementwise : impl::FuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, isWorthFusing);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    // Every fusion leaves less to fuse, so this ends; long chains need more
    // rounds than the driver's ten.
    auto untilDone =
        GreedyRewriteConfig().setMaxIterations(GreedyRewriteConfig::kNoLimit);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns),
                                     untilDone)))
      signalPassFailure();
    explain(getOperation());
  }
};

} // namespace
} // namespace onnxc
