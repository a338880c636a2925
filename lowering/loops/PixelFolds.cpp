#include "lowering/loops/PixelFolds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace onnxc {

// The operation of the body that takes one more element in.
static Operation *updateOf(linalg::GenericOp op) {
  return op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
}

bool isFold(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || !hasVectorForm(op))
    return false;
  OpOperand *input = op.getDpsInputOperand(0);
  Operation *update = updateOf(op);
  if (!op.getMatchingIndexingMap(input).isPermutation() ||
      !op.getIndexingMapsArray().back().isProjectedPermutation() || !update ||
      update->getNumOperands() != 2 || !arith::getNeutralElement(update))
    return false;
  auto isArgument = [&](BlockArgument argument) {
    return llvm::is_contained(update->getOperands(), argument);
  };
  return llvm::all_of(op.getBody()->getArguments(), isArgument);
}

bool foldsColumns(linalg::GenericOp op) {
  if (!isFold(op) || op.getNumLoops() != 4)
    return false;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  return op.getIteratorTypesArray()[map.getDimPosition(2)] ==
         utils::IteratorType::reduction;
}

namespace {

class FoldSplitter {
public:
  FoldSplitter(linalg::GenericOp fold, Operation *last, AffineMap position,
               linalg::GenericOp root, const LoopRoles &roles, bool sharePanels)
      : fold(fold), input(fold.getDpsInputOperand(0)), last(last),
        position(position), root(root), roles(roles), sharePanels(sharePanels),
        output(fold.getIndexingMapsArray().back()) {}

  const char *chooseLoops();
  KernelPart split();

private:
  std::optional<unsigned> loopOfRoot(unsigned loop);
  bool isAlongVectors();
  TypedAttr startOf(bool isAll);
  bool findSizes();
  OpFoldResult sizeOf(AffineExpr loop) {
    return sizes[*fold.getMatchingIndexingMap(input).getResultPosition(loop)];
  }
  OpFoldResult unlessEmpty(ImplicitLocOpBuilder &b, OpFoldResult rows);
  linalg::GenericOp foldRest(Value part);

  linalg::GenericOp fold;
  OpOperand *input;
  Operation *last;
  AffineMap position;
  linalg::GenericOp root;
  const LoopRoles &roles;
  bool sharePanels;
  AffineMap output;
  SmallVector<unsigned> kept; // loops of the fold that are left for later
  unsigned row = 0;           // the innermost one that is not
  std::optional<unsigned> unknownRows; // of those kept
  SmallVector<AffineExpr> results;     // of the part, as loops of the fold
  SmallVector<OpFoldResult> sizes;     // of what is folded, by its dimensions
};

// The loop of the root that a loop of the fold is.
std::optional<unsigned> FoldSplitter::loopOfRoot(unsigned loop) {
  AffineMap map = fold.getMatchingIndexingMap(input);
  AffineExpr own = getAffineDimExpr(loop, map.getContext());
  auto index =
      dyn_cast<AffineDimExpr>(position.getResult(*map.getResultPosition(own)));
  return index ? std::optional(index.getPosition()) : std::nullopt;
}

// Tasks share what is outermost. Where that is panels, one task computes all
// pixels of its panels. Else it computes rows of the image, of which each is
// folded by itself.
const char *FoldSplitter::chooseLoops() {
  SmallVector<int64_t> extents = fold.getStaticLoopRanges();
  SmallVector<std::pair<unsigned, unsigned>> folded; // of the root, of the fold
  bool hasUnknown = false;
  for (auto [loop, kind] : llvm::enumerate(fold.getIteratorTypesArray())) {
    if (kind != utils::IteratorType::reduction || extents[loop] == 1)
      continue;
    std::optional<unsigned> own = loopOfRoot(loop);
    if (!own || !llvm::is_contained(roles.pixels, *own))
      return "it folds more than pixels";
    if (extents[loop] == 0)
      return "it folds nothing";
    hasUnknown |= ShapedType::isDynamic(extents[loop]);
    folded.push_back({*own, loop});
  }
  if (folded.empty())
    return "it folds nothing";
  llvm::sort(folded);
  // Where there may be no pixel, rows of unknown number have to say so.
  if (!sharePanels || hasUnknown)
    for (auto [own, loop] : ArrayRef(folded).drop_back())
      kept.push_back(loop);
  if (!sharePanels && kept.empty())
    return "tasks share the pixels that it folds";
  row = folded.back().second;
  auto isUnknown = [&](unsigned loop) {
    return ShapedType::isDynamic(extents[loop]);
  };
  auto rows = llvm::find_if(kept, isUnknown);
  if (rows != kept.end())
    unknownRows = *rows;
  else if (isUnknown(row))
    return "it folds pixels of a number that only the run knows";
  llvm::append_range(results, output.getResults().drop_back());
  for (unsigned loop : kept)
    results.push_back(getAffineDimExpr(loop, output.getContext()));
  results.push_back(output.getResults().back());
  if (!isAlongVectors())
    return "it writes across the vectors";
  if (!startOf(kept.empty()))
    return "it starts with what is computed";
  if (!findSizes())
    return "a size is computed elsewhere";
  return nullptr;
}

// The part begins with the fold's own start value where it is all of it.
TypedAttr FoldSplitter::startOf(bool isAll) {
  if (!isAll)
    return *arith::getNeutralElement(updateOf(fold));
  auto fill = fold.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  TypedAttr start;
  if (fill)
    matchPattern(fill.getInputs()[0], m_Constant(&start));
  return start;
}

bool FoldSplitter::isAlongVectors() {
  std::optional<unsigned> innermost =
      loopOfRoot(cast<AffineDimExpr>(results.back()).getPosition());
  return innermost == roles.vector;
}

bool FoldSplitter::findSizes() {
  Value destination = cast<DestinationStyleOpInterface>(last).getDpsInits()[0];
  auto empty = destination.getDefiningOp<tensor::EmptyOp>();
  auto type = cast<RankedTensorType>(destination.getType());
  if (empty)
    sizes = empty.getMixedSizes();
  else if (type.hasStaticShape())
    sizes = getAsIndexOpFoldResult(type.getContext(), type.getShape());
  return empty || type.hasStaticShape();
}

KernelPart FoldSplitter::split() {
  ImplicitLocOpBuilder b(fold.getLoc(), last);
  AffineMap in = fold.getMatchingIndexingMap(input);
  SmallVector<OpFoldResult> extents;
  for (AffineExpr loop : results) {
    extents.push_back(sizeOf(loop));
    if (unknownRows && loop == b.getAffineDimExpr(*unknownRows))
      extents.back() = unlessEmpty(b, extents.back());
  }
  Type element = getElementTypeOrSelf(fold.getResult(0));
  Value first = arith::ConstantOp::create(b, startOf(kept.empty()));
  Value empty = tensor::EmptyOp::create(b, extents, element);
  auto start = linalg::FillOp::create(b, first, empty);
  b.setInsertionPointAfter(last);
  SmallVector<utils::IteratorType> kinds = fold.getIteratorTypesArray();
  for (unsigned loop : kept)
    kinds[loop] = utils::IteratorType::parallel;
  auto part = linalg::GenericOp::create(
      b, start.getResult(0).getType(), last->getResult(0), start.getResult(0),
      {in, AffineMap::get(in.getNumDims(), 0, results, b.getContext())}, kinds);
  IRMapping mapping;
  fold.getRegion().cloneInto(&part.getRegion(), mapping);
  linalg::GenericOp rest;
  if (!kept.empty())
    rest = foldRest(part.getResult(0));
  fold.getResult(0).replaceAllUsesWith((rest ? rest : part).getResult(0));
  return {start, part, rest};
}

// Rows of no pixels are none: nobody would write what they are folded into.
OpFoldResult FoldSplitter::unlessEmpty(ImplicitLocOpBuilder &b,
                                       OpFoldResult rows) {
  OpFoldResult pixels = sizeOf(b.getAffineDimExpr(row));
  if (getConstantIntValue(pixels))
    return rows;
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value isEmpty = arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq,
      getValueOrCreateConstantIndexOp(b, b.getLoc(), pixels), zero);
  return arith::SelectOp::create(
             b, isEmpty, zero,
             getValueOrCreateConstantIndexOp(b, b.getLoc(), rows))
      .getResult();
}

// What is left: the fold's own start value, and the loops that were kept.
linalg::GenericOp FoldSplitter::foldRest(Value part) {
  ImplicitLocOpBuilder b(fold.getLoc(), fold);
  unsigned rank = output.getNumResults(), all = rank + kept.size();
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  kinds.append(kept.size(), utils::IteratorType::reduction);
  SmallVector<AffineExpr> in, out;
  for (unsigned dim = 0; dim < all; ++dim)
    (dim < rank ? out : in).push_back(b.getAffineDimExpr(dim));
  in.insert(in.begin(), out.begin(), out.end() - 1);
  in.push_back(out.back());
  auto body = [&](OpBuilder &inner, Location, ValueRange arguments) {
    BlockArgument held = fold.getRegionOutputArgs()[0];
    Operation *update = updateOf(fold)->clone();
    for (OpOperand &operand : update->getOpOperands())
      operand.set(operand.get() == held ? arguments[1] : arguments[0]);
    inner.insert(update);
    linalg::YieldOp::create(inner, fold.getLoc(), update->getResults());
  };
  return linalg::GenericOp::create(
      b, fold.getResultTypes(), part, fold.getDpsInits(),
      {AffineMap::get(all, 0, in, b.getContext()),
       AffineMap::get(all, 0, out, b.getContext())},
      kinds, body);
}

} // namespace

std::optional<KernelPart> splitFold(linalg::GenericOp fold, Operation *last,
                                    AffineMap position, linalg::GenericOp root,
                                    const LoopRoles &roles, bool sharePanels,
                                    const char *&reason) {
  FoldSplitter splitter(fold, last, position, root, roles, sharePanels);
  reason = splitter.chooseLoops();
  return reason ? std::nullopt : std::optional(splitter.split());
}

} // namespace onnxc
