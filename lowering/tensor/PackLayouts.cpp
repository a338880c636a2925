// Packs constant operands of contractions at compile time.
//
// A kernel multiplies a tile of rows by a panel of columns. It wants the panel
// one vector after another, in the order of its reduction loops, so that each
// cache line is used at once and whole: [panel][reduction loops][columns].
#include "dialects/onnx/Constants.h"
#include "lowering/ConstantViews.h"
#include "lowering/Passes.h"
#include "lowering/loops/Contraction.h"
#include "lowering/loops/RegisterTile.h"
#include "lowering/tensor/PermuteConstant.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_PACKLAYOUTS
#include "lowering/Passes.h.inc"

namespace {

// How an operand of shape `shape` is stored: its dimensions in the order
// `outer`, `tiled` counted in panels, then the columns of a panel.
struct Packing {
  SmallVector<int64_t> outer;
  int64_t tiled, columns;
};

// The dimension of an operand that each loop walks over; fails where two share
// one or a loop is missing.
FailureOr<SmallVector<int64_t>> dimensionsOfLoops(AffineMap map) {
  if (!map.isProjectedPermutation())
    return failure();
  SmallVector<int64_t> dimensions(map.getNumDims(), -1);
  for (auto [i, index] : llvm::enumerate(map.getResults()))
    dimensions[cast<AffineDimExpr>(index).getPosition()] = i;
  return dimensions;
}

FailureOr<Packing> choosePacking(linalg::GenericOp root, OpOperand &operand,
                                 const LoopRoles &roles, TargetAttr target) {
  FailureOr<SmallVector<int64_t>> dimensions =
      dimensionsOfLoops(root.getMatchingIndexingMap(&operand));
  if (failed(dimensions) || (*dimensions)[roles.vector] < 0)
    return failure();
  auto type = cast<RankedTensorType>(operand.get().getType());
  ContractionShape shape = shapeOf(root, roles);
  // Depthwise weights are read a vector per tap already if channels are last.
  if (shape.depthwise && (*dimensions)[roles.vector] == type.getRank() - 1)
    return failure();
  Packing packing;
  packing.tiled = (*dimensions)[roles.vector];
  ContractionAttr schedule = chooseSchedule(root.getContext(), target, shape);
  packing.columns =
      schedule.getColumns() / panelsOfTile(schedule, target, shape);
  for (auto loops :
       {roles.batches, roles.pixels, {roles.vector}, roles.reductions})
    for (unsigned loop : loops)
      if ((*dimensions)[loop] >= 0)
        packing.outer.push_back((*dimensions)[loop]);
  return packing;
}

ElementsAttr packConstant(ElementsAttr value, const Packing &packing) {
  auto [outer, tiled, columns] = packing;
  if (auto splat = dyn_cast<SplatElementsAttr>(value))
    return splat.resizeSplat(
        PackedAttr::typeOf(splat.getType(), outer, tiled, columns));
  return PackedAttr::get(value.getContext(), value, outer, tiled, columns);
}

// Stores the constant's dimensions in another order.
bool reorder(linalg::GenericOp root, OpOperand &operand, ElementsAttr value,
             ArrayRef<int64_t> order) {
  ElementsAttr permuted = permuteConstant(value, order);
  if (!permuted)
    return false;
  OpBuilder builder(root);
  operand.set(arith::ConstantOp::create(builder, operand.get().getLoc(),
                                        cast<TypedAttr>(permuted)));
  SmallVector<AffineMap> maps = root.getIndexingMapsArray();
  AffineMap &map = maps[operand.getOperandNumber()];
  map = AffineMap::get(map.getNumDims(), 0,
                       applyPermutation(map.getResults(), order),
                       root.getContext());
  root.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  return true;
}

// Depthwise weights of channels that are no whole vectors lie as the channels
// do: the last vector overlaps the one before, which panels would not let it.
bool putChannelsLast(linalg::GenericOp root, OpOperand &operand,
                     ElementsAttr value, const Packing &packing) {
  auto type = cast<RankedTensorType>(operand.get().getType());
  int64_t channels = type.getDimSize(packing.tiled);
  if (channels < packing.columns || channels % packing.columns == 0)
    return false;
  SmallVector<int64_t> order(packing.outer);
  llvm::erase(order, packing.tiled);
  order.push_back(packing.tiled);
  return reorder(root, operand, value, order);
}

void packOperand(linalg::GenericOp root, OpOperand &operand,
                 const LoopRoles &roles, TargetAttr target) {
  ElementsAttr value = constantBehind(operand.get());
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!value || !type || type.getNumElements() == 0 ||
      !type.getElementType().isIntOrFloat())
    return;
  FailureOr<Packing> packing = choosePacking(root, operand, roles, target);
  if (failed(packing))
    return;
  Operation *before = operand.get().getDefiningOp();
  bool isReordered = chooseAlongSum(root, roles, target)
                         ? reorder(root, operand, value, packing->outer)
                         : shapeOf(root, roles).depthwise &&
                               putChannelsLast(root, operand, value, *packing);
  if (isReordered) {
    if (before->use_empty())
      before->erase();
    return;
  }
  // Where kernels that share a constant see it in the same place.
  OpBuilder builder(before);
  Location loc = before->getLoc();
  ElementsAttr packed = packConstant(value, *packing);
  Value source = arith::ConstantOp::create(builder, loc, packed);
  Value destination = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                              type.getElementType());
  Value unpacked = linalg::UnPackOp::create(
      builder, loc, source, destination, packing->tiled,
      ArrayRef<OpFoldResult>{builder.getIndexAttr(packing->columns)},
      packing->outer);
  operand.set(unpacked);
  if (before->use_empty())
    before->erase();
}

// Whether fusion may move the operand into the body, as it does with constants
// and with what is filled with one.
bool mayBecomeNumber(Value input) {
  return constantBehind(input) || input.getDefiningOp<linalg::FillOp>();
}

struct PackLayouts : impl::PackLayoutsBase<PackLayouts> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    SmallVector<linalg::GenericOp> roots;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops())
        roots.push_back(op);
    });
    for (linalg::GenericOp root : roots) {
      // No kernel is left to read the other one where it is packed.
      if (llvm::all_of(root.getDpsInputs(), mayBecomeNumber))
        continue;
      FailureOr<LoopRoles> roles = inferLoopRoles(root);
      if (failed(roles) ||
          sumsAlongVectors(root, *roles, rowsOf(root, *roles), target) ||
          sharesNothing(root, *roles))
        continue;
      for (OpOperand *input : root.getDpsInputOperands())
        packOperand(root, *input, *roles, target);
    }
  }
};

} // namespace
} // namespace onnxc
