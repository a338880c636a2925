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
      ImplicitLocOpBuilder b(op.getLoc(), op);
      FailureOr<Nest> nest = makeNest(b, op, op->getOperands());
      if (failed(nest)) { // scalar loops
        missed(op, "expand-vector-loops") << "an index is not linear";
        // Its loops keep their order, a reduction may come first.
        if (op.getNumReductionLoops())
          op->getParentOfType<func::FuncOp>()->removeAttr(workAttrName);
        continue;
      }
      emitNest(b, *nest, lanes);
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
