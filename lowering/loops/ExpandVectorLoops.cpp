// Every linalg operation on buffers that no kernel took becomes loops of vector
// code, in place: elementwise chains, reductions, pools, transposes, gathers,
// contractions without a tile.
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Missed.h"
#include "lowering/Passes.h"
#include "lowering/loops/EmitNest.h"
#include "lowering/loops/KernelWork.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_EXPANDVECTORLOOPS
#include "lowering/Passes.h.inc"

namespace {

// Copies and named operations as generics.
void generalize(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  SmallVector<memref::CopyOp> copies;
  module.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies) {
    rewriter.setInsertionPoint(copy);
    if (isa<MemRefType>(copy.getSource().getType()))
      linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(),
                               copy.getTarget());
    rewriter.eraseOp(copy);
  }
  SmallVector<linalg::LinalgOp> named;
  module.walk([&](linalg::LinalgOp op) {
    if (op.hasPureBufferSemantics() && !isa<linalg::GenericOp>(op))
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
}

// The last dimension that a body reads along is one of more than one element.
void dropLastUnits(linalg::GenericOp op) {
  auto isUnit = [](memref::LoadOp load) {
    MemRefType type = load.getMemRefType();
    return type.getRank() > 1 && type.getShape().back() == 1;
  };
  auto loads = llvm::to_vector(
      llvm::make_filter_range(op.getBody()->getOps<memref::LoadOp>(), isUnit));
  for (memref::LoadOp load : loads) {
    int64_t rank = load.getMemRefType().getRank(), kept = rank;
    while (kept > 1 && load.getMemRefType().getDimSize(kept - 1) == 1)
      --kept;
    SmallVector<ReassociationIndices> groups;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (dim < kept)
        groups.push_back({dim});
      else
        groups.back().push_back(dim);
    if (!memref::CollapseShapeOp::isGuaranteedCollapsible(load.getMemRefType(),
                                                          groups))
      continue;
    OpBuilder builder(op);
    Value whole = memref::CollapseShapeOp::create(builder, load.getLoc(),
                                                  load.getMemRef(), groups);
    builder.setInsertionPoint(load);
    load.replaceAllUsesWith(
        memref::LoadOp::create(builder, load.getLoc(), whole,
                               load.getIndices().take_front(kept))
            .getResult());
    load.erase();
  }
}

struct ExpandVectorLoops : impl::ExpandVectorLoopsBase<ExpandVectorLoops> {
  void runOnOperation() override {
    Lanes lanes = lanesOf(getOperation());
    generalize(getOperation());
    SmallVector<linalg::GenericOp> generics;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureBufferSemantics())
        generics.push_back(op);
    });
    for (linalg::GenericOp op : generics) {
      dropLastUnits(op);
      ImplicitLocOpBuilder b(op.getLoc(), op);
      FailureOr<Nest> nest = makeNest(b, op, op->getOperands());
      if (failed(nest)) { // scalar loops
        missed(op, "expand-vector-loops") << "an index is not linear";
        // Its loops keep their order, a reduction may come first.
        if (op.getNumReductionLoops())
          op->getParentOfType<func::FuncOp>()->removeAttr(workAttrName);
        continue;
      }
      // A function is copied for stores past the caches.
      Lanes here = lanes;
      if (!op->getParentOfType<func::FuncOp>()->hasAttr(workAttrName))
        here.streamBytes = 0;
      emitNest(b, *nest, here);
      op.erase();
    }
    getOperation().walk([](CreepOp op) {
      op.replaceAllUsesWith(op.getPosition());
      op.erase();
    });
  }
};

} // namespace
} // namespace onnxc
