#include "lowering/memory/Branches.h"
#include "dialects/onnxc/Onnxc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace onnxc {
namespace {

// What a branch yields but for its type.
Value behindCast(Value value) {
  auto cast = value.getDefiningOp<memref::CastOp>();
  return cast ? cast.getSource() : value;
}

void tightenType(scf::IfOp branches, OpResult result) {
  unsigned number = result.getResultNumber();
  Value yes = behindCast(branches.thenYield().getOperand(number)),
        no = behindCast(branches.elseYield().getOperand(number));
  Type before = result.getType();
  if (yes.getType() != no.getType() || yes.getType() == before)
    return;
  branches.thenYield().setOperand(number, yes);
  branches.elseYield().setOperand(number, no);
  result.setType(yes.getType());
  OpBuilder builder(branches->getContext());
  builder.setInsertionPointAfter(branches);
  auto cast =
      memref::CastOp::create(builder, branches.getLoc(), before, result);
  result.replaceUsesWithIf(cast, [](OpOperand &use) {
    return !isa<memref::CastOp, memref::CopyOp, KernelOp, linalg::GenericOp>(
        use.getOwner());
  });
  if (cast->use_empty())
    cast->erase();
}

// Whether the branch has made the buffer, and yields it this once.
bool isOwn(Value yielded, Operation *yield) {
  auto made = behindCast(yielded).getDefiningOp<memref::AllocOp>();
  return made && made->getBlock() == yield->getBlock() &&
         llvm::count_if(yield->getOperands(), [&](Value other) {
           return behindCast(other) == made;
         }) == 1;
}

void copyInBranches(scf::IfOp branches, OpResult result) {
  if (!result.hasOneUse())
    return;
  unsigned number = result.getResultNumber();
  auto copy = dyn_cast<memref::CopyOp>(*result.user_begin());
  auto target = copy ? dyn_cast<BlockArgument>(copy.getTarget()) : nullptr;
  scf::YieldOp yields[] = {branches.thenYield(), branches.elseYield()};
  bool isOutput = target && target.hasOneUse() &&
                  isa<func::FuncOp>(target.getOwner()->getParentOp());
  if (!isOutput || !llvm::all_of(yields, [&](scf::YieldOp yield) {
        return isOwn(yield.getOperand(number), yield);
      }))
    return;
  for (scf::YieldOp yield : yields) {
    OpBuilder builder(yield);
    memref::CopyOp::create(builder, copy.getLoc(),
                           behindCast(yield.getOperand(number)), target);
  }
  copy->erase();
}

} // namespace

void tightenBranches(ModuleOp module) {
  SmallVector<scf::IfOp> inner; // come first: outer ones yield their results
  module.walk([&](scf::IfOp branches) { inner.push_back(branches); });
  for (scf::IfOp branches : inner)
    for (OpResult result : branches->getResults())
      if (isa<MemRefType>(result.getType())) {
        tightenType(branches, result);
        copyInBranches(branches, result);
      }
}

} // namespace onnxc
