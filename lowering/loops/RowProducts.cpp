#include "lowering/loops/RowProducts.h"
#include "lowering/loops/ContractionNest.h"
#include "lowering/loops/EmitContraction.h"

using namespace mlir;

namespace onnxc {

FailureOr<ProductAccess> inputOf(KernelOp product, OpOperand &operand) {
  BlockArgument argument = product.getBlockArgument(operand);
  FailureOr<linalg::GenericOp> root = findContraction(product);
  if (failed(root) || !argument.hasOneUse())
    return failure();
  OpOperand &use = *argument.getUses().begin();
  if (use.getOwner() != *root || !root->isDpsInput(&use))
    return failure();
  return ProductAccess{*root, root->getMatchingIndexingMap(&use)};
}

FailureOr<ProductAccess> outputOf(KernelOp product) {
  FailureOr<linalg::GenericOp> root = findContraction(product);
  if (failed(root) || product.getYielded().size() != 1)
    return failure();
  FailureOr<AffineMap> position =
      positionOfYielded(product.getYielded().front(), *root);
  if (failed(position))
    return failure();
  return ProductAccess{*root, *position};
}

FailureOr<SmallVector<unsigned>>
outerLoops(const FailureOr<ProductAccess> &access, unsigned outer) {
  if (failed(access) || access->position.getNumResults() < outer)
    return failure();
  LoopRoles roles = *inferLoopRoles(access->root);
  SmallVector<unsigned> loops;
  for (AffineExpr index : access->position.getResults().take_front(outer)) {
    auto loop = dyn_cast<AffineDimExpr>(index);
    if (!loop || loop.getPosition() == roles.vector ||
        llvm::is_contained(roles.reductions, loop.getPosition()) ||
        llvm::is_contained(loops, loop.getPosition()))
      return failure();
    loops.push_back(loop.getPosition());
  }
  for (AffineExpr index : access->position.getResults().drop_front(outer))
    if (llvm::any_of(
            loops, [&](unsigned loop) { return index.isFunctionOfDim(loop); }))
      return failure();
  return loops;
}

llvm::SmallBitVector sharedAlong(linalg::GenericOp root,
                                 ArrayRef<unsigned> loops) {
  llvm::SmallBitVector shares(loops.size());
  for (auto [i, loop] : llvm::enumerate(loops))
    shares[i] = llvm::any_of(root.getDpsInputOperands(), [&](OpOperand *input) {
      return !root.getMatchingIndexingMap(input).isFunctionOfDim(loop);
    });
  return shares;
}

// Whether nobody reads the value after `op` does, element by element.
static bool isLastReadBy(linalg::GenericOp op, Value value) {
  AffineMap own = op.getIndexingMapsArray().back();
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (use.getOwner() == op)
      return op.getMatchingIndexingMap(&use) == own;
    return use.getOwner()->getBlock() == op->getBlock() &&
           use.getOwner()->isBeforeInBlock(op);
  });
}

Value inPlaceInput(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0)
    return {};
  for (Value input : op.getDpsInputs())
    if (isa_and_nonnull<linalg::GenericOp, KernelOp>(input.getDefiningOp()) &&
        input.getType() == op.getResultTypes()[0] && isLastReadBy(op, input))
      return input;
  return {};
}

} // namespace onnxc
