// A convolution is built in NHWC between two transposes. This pass moves every
// transpose down the graph until it meets its inverse, a constant, an operation
// that can read through it for free, or the model's border. What is left is
// the graph in NHWC throughout, without a decision per operator.
//
// All moves keep the number of transposed elements or lower it:
// - an elementwise generic iterates in the layout of its operands when all of
//   its full operands agree, and its result is transposed instead; a tensor of
//   as many dimensions that it reads at computed indices counts as such. Where
//   they differ, connected ones take the layout that moves the fewest tensors;
// - a transpose that both branches of an If end with is made behind it;
// - padding, slicing and concatenation act on the untransposed tensor, and a
//   reshape whose groups lie together there;
// - reductions and contractions compose the permutation into their indexing
//   maps, unless windows would be gathered or lanes can lie along the sum
//   without it; what is left of a lone tensor keeps the order of the source
//   where its innermost dimension is left;
// - a transpose that keeps the innermost dimension is written by its producer;
// - one that moves dimensions of size one only is a reshape.
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/Missed.h"
#include "lowering/Passes.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/Contraction.h"
#include "lowering/loops/RegisterTile.h"
#include "lowering/loops/Winograd.h"
#include "lowering/tensor/ElementwiseLayouts.h"
#include "lowering/tensor/PermuteConstant.h"
#include "lowering/tensor/Transposed.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace onnxc {
#define GEN_PASS_DEF_PROPAGATELAYOUTS
#include "lowering/Passes.h.inc"

using namespace mlir;
using linalg::GenericOp;
using linalg::TransposeOp;

namespace {

// (e0, e1, ...) -> (e_p[0], e_p[1], ...): the old iterators in terms of the
// new.
AffineMap permutationMap(MLIRContext *context, ArrayRef<int64_t> permutation) {
  return AffineMap::getPermutationMap(permutation, context);
}

// t = transpose(source, p) read through `map`: the map that reads source.
AffineMap mapOfSource(AffineMap map, ArrayRef<int64_t> permutation) {
  SmallVector<AffineExpr> results(map.getNumResults());
  for (auto [i, dim] : llvm::enumerate(permutation))
    results[dim] = map.getResult(i);
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results,
                        map.getContext());
}

// A generic that only copies one operand through a permutation, as others may
// have built it.
struct RaiseTranspose : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
        !op.hasPureTensorSemantics() ||
        op.getNumParallelLoops() != op.getNumLoops())
      return failure();
    auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
    AffineMap in = op.getIndexingMapsArray()[0],
              out = op.getIndexingMapsArray()[1];
    if (yield.getOperand(0) != op.getBody()->getArgument(0) ||
        !in.isPermutation() || !out.isPermutation() || in == out ||
        getElementTypeOrSelf(op.getInputs()[0]) !=
            getElementTypeOrSelf(op.getResultTypes()[0]))
      return failure();
    // Result dimension i is iterator out[i], which is source dimension
    // position(in, out[i]).
    Permutation permutation;
    for (AffineExpr expr : out.getResults())
      permutation.push_back(*in.getResultPosition(expr));
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getInputs()[0],
                                             op.getOutputs()[0], permutation);
    return success();
  }
};

struct MergeTransposes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    if (isIdentityPermutation(op.getPermutation())) {
      rewriter.replaceOp(op, op.getInput());
      return success();
    }
    auto inner = op.getInput().getDefiningOp<TransposeOp>();
    if (!inner)
      return failure();
    Permutation permutation =
        applyPermutation(inner.getPermutation(), op.getPermutation());
    rewriter.replaceOp(
        op, transposed(rewriter, op.getLoc(), inner.getInput(), permutation));
    return success();
  }
};

// Which reassociation drops the dimensions of size one; empty if all are.
SmallVector<ReassociationIndices> groupsWithoutOnes(ArrayRef<int64_t> shape) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices group;
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (size != 1 && !group.empty() &&
        llvm::any_of(group, [&](int64_t d) { return shape[d] != 1; })) {
      groups.push_back(group);
      group.clear();
    }
    group.push_back(i);
  }
  if (llvm::any_of(group, [&](int64_t d) { return shape[d] != 1; }))
    groups.push_back(group);
  return groups;
}

struct TransposeOfOnesIsReshape : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto from = cast<RankedTensorType>(op.getInput().getType());
    auto to = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<int64_t> moved;
    for (int64_t dim : op.getPermutation())
      if (from.getDimSize(dim) != 1)
        moved.push_back(dim);
    if (!llvm::is_sorted(moved) || !from.hasStaticShape())
      return failure();
    SmallVector<int64_t> kept = llvm::map_to_vector(
        moved, [&](int64_t dim) { return from.getDimSize(dim); });
    auto flat = RankedTensorType::get(kept, from.getElementType());
    Value value = tensor::CollapseShapeOp::create(
        rewriter, op.getLoc(), flat, op.getInput(),
        groupsWithoutOnes(from.getShape()));
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(
        op, to, value, groupsWithoutOnes(to.getShape()));
    return success();
  }
};

struct FoldConstantTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    ElementsAttr value;
    if (!matchPattern(op.getInput(), m_Constant(&value)))
      return failure();
    ElementsAttr permuted = permuteConstant(value, op.getPermutation());
    if (!permuted)
      return failure();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, permuted);
    return success();
  }
};

// Reads of transposed tensors at the same places of their sources.
void readSources(PatternRewriter &rewriter, GenericOp op) {
  for (tensor::ExtractOp read : computedReads(op)) {
    auto producer = read.getTensor().getDefiningOp<TransposeOp>();
    Permutation inverse = invertPermutationVector(producer.getPermutation());
    SmallVector<Value> at(read.getIndices());
    rewriter.modifyOpInPlace(read, [&] {
      read.getTensorMutable().assign(producer.getInput());
      read.getIndicesMutable().assign(applyPermutation(at, inverse));
    });
  }
}

// Stands at elementwise operations whose full operands differ in layout: behind
// which permutation of theirs they are computed all the same.
constexpr llvm::StringLiteral permutationAttr = "onnxc.permutation";

void markPermutations(ModuleOp module) {
  for (auto &[op, permutation] : choosePermutations(module))
    op->setAttr(permutationAttr,
                DenseI64ArrayAttr::get(op->getContext(), permutation));
}

Permutation chosenPermutation(GenericOp op) {
  return Permutation(
      op->getAttrOfType<DenseI64ArrayAttr>(permutationAttr).asArrayRef());
}

// Whether something that it reads has yet to be moved so.
bool readsChosen(GenericOp op) {
  return llvm::any_of(fullOperands(op), [](OpOperand *operand) {
    Operation *maker = operand->get().getDefiningOp();
    return maker && maker->hasAttr(permutationAttr);
  });
}

// y = f(transpose(a), transpose(b), c) becomes transpose(f(a, b, c')).
struct SinkBelowElementwise : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!walksInAnyOrder(op))
      return failure();
    bool isChosen = op->hasAttr(permutationAttr);
    if (isChosen && readsChosen(op))
      return rewriter.notifyMatchFailure(op, "its operands are to move first");
    std::optional<Permutation> permutation =
        isChosen ? chosenPermutation(op) : commonPermutation(op);
    if (!permutation)
      return rewriter.notifyMatchFailure(op, "operands differ in layout");
    MLIRContext *context = op.getContext();
    Permutation inverse = invertPermutationVector(*permutation);
    AffineMap old = permutationMap(context, *permutation);
    SmallVector<Value> inputs, outputs;
    SmallVector<AffineMap> maps;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(operand);
      Value value = operand->get();
      bool full = map.isIdentity();
      auto producer = value.getDefiningOp<TransposeOp>();
      if (full && producer &&
          producer.getPermutation() == ArrayRef(*permutation))
        value = producer.getInput();
      else if (full)
        value = transposed(rewriter, op.getLoc(), value, inverse);
      inputs.push_back(value);
      maps.push_back(full ? map : map.compose(old));
    }
    SmallVector<Type> types;
    for (Value output : op.getOutputs()) {
      SmallVector<OpFoldResult> sizes =
          tensor::getMixedSizes(rewriter, op.getLoc(), output);
      outputs.push_back(tensor::EmptyOp::create(
          rewriter, op.getLoc(), applyPermutation(sizes, inverse),
          getElementTypeOrSelf(output.getType())));
      types.push_back(outputs.back().getType());
      maps.push_back(rewriter.getMultiDimIdentityMap(op.getNumLoops()));
    }
    auto moved = GenericOp::create(rewriter, op.getLoc(), types, inputs,
                                   outputs, maps, op.getIteratorTypesArray());
    rewriter.inlineRegionBefore(op.getRegion(), moved.getRegion(),
                                moved.getRegion().begin());
    moved.walk([&](linalg::IndexOp index) {
      rewriter.modifyOpInPlace(
          index, [&] { index.setDim((*permutation)[index.getDim()]); });
    });
    readSources(rewriter, moved);
    SmallVector<Value> results;
    for (Value result : moved.getResults())
      results.push_back(
          transposed(rewriter, op.getLoc(), result, *permutation));
    rewriter.replaceOp(op, results);
    return success();
  }
};

// Whether windows slide over the operand and vectors lie along its innermost
// dimension, which they would not in the source. An element is read for every
// tap: moving it once costs less than gathering it each time.
bool wouldGatherWindows(GenericOp op, AffineMap map, AffineMap ofSource) {
  AffineMap output = op.getIndexingMapsArray().back();
  if (op.getNumReductionLoops() == 0 || output.getNumResults() == 0)
    return false;
  auto vector = dyn_cast<AffineDimExpr>(output.getResults().back());
  auto isAlong = [&](AffineMap read) {
    return vector &&
           read.getResults().back().isFunctionOfDim(vector.getPosition());
  };
  return isAlong(map) && !isAlong(ofSource) &&
         llvm::any_of(map.getResults(), [](AffineExpr index) {
           return !isa<AffineDimExpr, AffineConstantExpr>(index);
         });
}

// Lines that may wait in caches for the next columns, of channels that lie
// behind each other along `dim` of an image. Those of images that only the run
// knows may lie pages apart: then they share one set of the first cache and
// some of the second, and short tiles fetch each line several times.
int64_t waitingLines(RankedTensorType image, unsigned dim, TargetAttr target) {
  int64_t lines = target.getL1Bytes() / lineBytes / 2;
  bool isKnown = llvm::none_of(image.getShape().drop_front(dim + 1),
                               ShapedType::isDynamic);
  return isKnown ? lines : std::min(lines, target.getL2Bytes() / pageBytes / 2);
}

// Whether channels lie so far apart that those of one pixel share sets of the
// first cache which hold few of them. Side by side they would fill a line.
bool shareFewSets(RankedTensorType image, unsigned dim, int64_t channels,
                  TargetAttr target) {
  ArrayRef<int64_t> plane = image.getShape().drop_front(dim + 1);
  int64_t bytes = llvm::divideCeil(image.getElementTypeBitWidth(), 8);
  if (ShapedType::isDynamicShape(plane) || channels * bytes < lineBytes)
    return false;
  int64_t pitch = ShapedType::getNumElements(plane) * bytes;
  return pitch % lineBytes == 0 &&
         channels > setsAtPitch(pitch) * waysOfL1(target.getL1Bytes());
}

// The taps of a window, without the channels that `step` walks.
struct Taps {
  int64_t all = 1, rows = 1; // rows of the source that they lie in
  int64_t step = 1;          // from pixel to pixel along such a row
  bool slide = false;
};

Taps tapsOf(GenericOp op, AffineMap ofSource, AffineExpr step) {
  Taps taps;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (!linalg::isReductionIterator(kind) || extents[loop] <= 1 ||
        step == getAffineDimExpr(loop, op.getContext()))
      continue;
    taps.all *= extents[loop];
    if (!ofSource.getResults().back().isFunctionOfDim(loop))
      taps.rows *= extents[loop];
  }
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (linalg::isParallelIterator(kind))
      taps.step =
          std::max(taps.step, coefficient(ofSource.getResults().back(), loop));
  taps.slide = llvm::any_of(ofSource.getResults(), [](AffineExpr index) {
    return !isa<AffineDimExpr, AffineConstantExpr>(index);
  });
  return taps;
}

// Whether every step of a convolution's sum would fetch another line of the
// source, more of them than wait for the next columns: each row of taps has its
// own of each channel, several if pixels lie apart. With few columns and taps
// that costs less than moving the image, which also takes memory.
bool wouldFetchLines(GenericOp op, AffineMap map, AffineMap ofSource,
                     Value source) {
  constexpr int64_t fewestProducts = 128; // with each element
  auto module = op->getParentOfType<ModuleOp>();
  auto target = module->getAttrOfType<TargetAttr>(targetAttrName);
  AffineMap output = op.getIndexingMapsArray().back();
  if (!target || !target.getVectorBits() || isSmall(module) ||
      op.getNumReductionLoops() < 2 || map.getNumResults() == 0 ||
      output.getNumResults() == 0)
    return false;
  auto step = dyn_cast<AffineDimExpr>(map.getResults().back());
  auto column = dyn_cast<AffineDimExpr>(output.getResults().back());
  if (!step || !column ||
      !linalg::isReductionIterator(
          op.getIteratorTypesArray()[step.getPosition()]))
    return false;
  std::optional<unsigned> dim = ofSource.getResultPosition(step);
  if (!dim || *dim + 1 == ofSource.getNumResults())
    return false;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t channels = extents[step.getPosition()],
          columns = extents[column.getPosition()];
  Taps taps = tapsOf(op, ofSource, step);
  if (ShapedType::isDynamic(channels) || ShapedType::isDynamic(columns) ||
      !taps.slide)
    return false;
  if (auto pad = source.getDefiningOp<tensor::PadOp>())
    source = pad.getSource(); // padding is no copy
  auto image = cast<RankedTensorType>(source.getType());
  // Winograd's transforms read each line once, and few sets are no matter to
  // products of pixels, which turn such rows by themselves.
  if (taps.all == 1 || isFiltered(op, target))
    return channels > waitingLines(image, *dim, target) &&
           columns >= fewestProducts;
  return (channels * taps.rows * taps.step >
              waitingLines(image, *dim, target) ||
          shareFewSets(image, *dim, channels, target)) &&
         columns * taps.all >= fewestProducts;
}

// Whether lanes of a convolution can lie along its sum as `map` reads the
// operand, but not as `ofSource` does. With several taps that saves more than
// moving the image costs.
bool wouldTurnSums(GenericOp op, AffineMap map, AffineMap ofSource) {
  constexpr int64_t fewestTaps = 4;
  auto target = op->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>(
      targetAttrName);
  FailureOr<LoopRoles> roles = inferLoopRoles(op);
  if (failed(roles) || map.getNumResults() == 0 ||
      !chooseAlongSum(op, *roles, target))
    return false;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  AffineExpr along =
      getAffineDimExpr(roles->reductions.back(), op.getContext());
  int64_t taps = 1;
  for (unsigned loop : ArrayRef(roles->reductions).drop_back())
    taps *= extents[loop];
  return taps >= fewestTaps && map.getResults().back() == along &&
         ofSource.getResults().back() != along;
}

// Reductions, contractions and operands that are broadcast read through the
// permutation.
struct ReadThroughTranspose : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    bool elementwise = op.getNumParallelLoops() == op.getNumLoops();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    bool changed = false;
    rewriter.startOpModification(op);
    for (OpOperand *operand : op.getDpsInputOperands()) {
      auto producer = operand->get().getDefiningOp<TransposeOp>();
      AffineMap &map = maps[operand->getOperandNumber()];
      if (!producer || (elementwise && map.isPermutation()))
        continue;
      AffineMap ofSource = mapOfSource(map, producer.getPermutation());
      if (wouldGatherWindows(op, map, ofSource) ||
          wouldTurnSums(op, map, ofSource) ||
          wouldFetchLines(op, map, ofSource, producer.getInput()))
        continue;
      map = ofSource;
      operand->set(producer.getInput());
      changed = true;
    }
    if (!changed) {
      rewriter.cancelOpModification(op);
      return failure();
    }
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    rewriter.finalizeOpModification(op);
    return success();
  }
};

// reduce(transpose(a)) becomes transpose(reduce(a)) where vectors would lie
// across the source's rows otherwise.
struct SinkBelowReduction : OpRewritePattern<GenericOp> {
  SinkBelowReduction(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumDpsInputs() != 1 || op.getNumReductionLoops() == 0 ||
        !op.hasPureTensorSemantics())
      return failure();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    AffineMap out = maps.back();
    auto producer = op.getInputs()[0].getDefiningOp<TransposeOp>();
    if (!producer || !maps[0].isPermutation() ||
        !out.isProjectedPermutation() || llvm::any_of(maps, [&](AffineMap map) {
          return map != maps[0] && map != out;
        }))
      return failure();
    AffineMap ofSource = mapOfSource(maps[0], producer.getPermutation());
    // Dimensions of the result in the order of the source.
    Permutation order;
    for (AffineExpr loop : ofSource.getResults())
      if (std::optional<unsigned> dim = out.getResultPosition(loop))
        order.push_back(*dim);
    if (!out.getResultPosition(ofSource.getResults().back()) ||
        isIdentityPermutation(order))
      return failure();
    SmallVector<Value> inits;
    for (Value init : op.getOutputs()) {
      Value permuted = permutedInit(rewriter, init, order);
      if (!permuted)
        return failure();
      inits.push_back(permuted);
    }
    maps.assign(maps.size(),
                AffineMap::get(out.getNumDims(), 0,
                               applyPermutation(out.getResults(), order),
                               op.getContext()));
    maps[0] = ofSource;
    auto moved = GenericOp::create(
        rewriter, op.getLoc(), TypeRange(ValueRange(inits)),
        producer.getInput(), inits, maps, op.getIteratorTypesArray());
    rewriter.inlineRegionBefore(op.getRegion(), moved.getRegion(),
                                moved.getRegion().begin());
    rewriter.replaceOp(
        op, llvm::map_to_vector(moved.getResults(), [&](Value result) {
          return transposed(rewriter, op.getLoc(), result,
                            invertPermutationVector(order));
        }));
    return success();
  }
};

// transpose(f(...)) where the innermost dimension stays: f writes its result in
// that order. Runs when nothing sinks any more.
struct WriteTransposed : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto producer = op.getInput().getDefiningOp<GenericOp>();
    ArrayRef<int64_t> permutation = op.getPermutation();
    if (!producer || !producer->hasOneUse() || producer->getNumResults() != 1 ||
        permutation.empty() ||
        permutation.back() != int64_t(permutation.size()) - 1)
      return rewriter.notifyMatchFailure(op, "the innermost dimension moves");
    return writeTransposed(rewriter, op, producer);
  }
};

// What is moved after all is moved before it is padded, for a window reads
// through its padding.
struct PadTransposed : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto pad = op.getInput().getDefiningOp<tensor::PadOp>();
    Value padding = pad ? pad.getConstantPaddingValue() : Value();
    if (!padding || !pad->hasOneUse())
      return failure();
    ArrayRef<int64_t> permutation = op.getPermutation();
    Value moved =
        transposed(rewriter, op.getLoc(), pad.getSource(), permutation);
    rewriter.replaceOp(op, paddedTransposed(rewriter, pad, moved, permutation));
    return success();
  }
};

// A part that was given dimensions of size one for its place is inserted
// without them, so that its producer can write there.
struct InsertWithoutOnes : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    auto source = op.getSource().getDefiningOp<tensor::ExpandShapeOp>();
    if (!source || op.getSourceType().getRank() != op.getType().getRank())
      return failure();
    // Which of several ones is dropped is told by the strides, if they are
    // known.
    int64_t dropped = op.getType().getRank() - source.getSrcType().getRank();
    if ((!op.getType().hasStaticShape() &&
         llvm::count(op.getSourceType().getShape(), 1) != dropped) ||
        isRankReducedType(op.getSourceType(), source.getSrcType()) !=
            SliceVerificationResult::Success)
      return failure();
    rewriter.modifyOpInPlace(
        op, [&] { op.getSourceMutable().assign(source.getSrc()); });
    return success();
  }
};

// Visited from the bottom, the transposes of the model cancel below before
// those of the convolutions above come down, which leaves fewer of both. But
// each then moves past all that follows. In a graph of many the first goes
// first: it meets its inverse before that has left its place.
constexpr int64_t mostMoves = 1 << 22;

// Says why a transpose stays in front of an elementwise operation, or behind
// what makes the tensor.
void explain(ModuleOp module) {
  module.walk([](GenericOp op) {
    if (!walksInAnyOrder(op) || commonPermutation(op))
      return;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      auto transpose = operand->get().getDefiningOp<TransposeOp>();
      Operation *maker =
          transpose ? transpose.getInput().getDefiningOp() : nullptr;
      if (maker && op.getMatchingIndexingMap(operand).isIdentity())
        missed(maker, "propagate-layouts", op)
            << "another operand comes in another layout";
    }
  });
  module.walk([](TransposeOp op) {
    auto maker = op.getInput().getDefiningOp<GenericOp>();
    if (maker &&
        op.getPermutation().back() + 1 != int64_t(op.getPermutation().size()))
      missed(maker, "propagate-layouts", op)
          << "the dimension along which vectors lie moves";
  });
}

struct PropagateLayouts : impl::PropagateLayoutsBase<PropagateLayouts> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet sinking(context);
    sinking.add<RaiseTranspose, MergeTransposes, TransposeOfOnesIsReshape,
                FoldConstantTranspose, SinkBelowElementwise, SinkBelowReduction,
                ReadThroughTranspose>(context);
    addSinkBelowViews(sinking);
    tensor::EmptyOp::getCanonicalizationPatterns(sinking, context);
    FrozenRewritePatternSet down(std::move(sinking));
    RewritePatternSet writing(context);
    writing.add<WriteTransposed, MergeTransposes, PadTransposed,
                InsertWithoutOnes>(context);
    FrozenRewritePatternSet up(std::move(writing));
    // Each pattern moves transposes one way, so this ends; deep networks need
    // more rounds than the driver's ten.
    markPermutations(getOperation());
    auto untilDone =
        GreedyRewriteConfig().setMaxIterations(GreedyRewriteConfig::kNoLimit);
    auto sink = GreedyRewriteConfig(untilDone).setUseTopDownTraversal(
        mayMove() > mostMoves);
    if (failed(applyPatternsGreedily(getOperation(), down, sink)) ||
        failed(applyPatternsGreedily(getOperation(), up, untilDone)))
      signalPassFailure();
    explain(getOperation());
  }

private:
  int64_t mayMove() {
    int64_t transposes = 0, others = 0;
    getOperation().walk([&](linalg::LinalgOp op) {
      ++(isa<TransposeOp>(*op) ? transposes : others);
    });
    return transposes * others;
  }
};

} // namespace
} // namespace onnxc
