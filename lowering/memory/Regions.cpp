#include "lowering/memory/Regions.h"
#include "dialects/onnxc/Onnxc.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace onnxc {

static bool isRegion(Operation *op) {
  return isa<KernelOp, linalg::LinalgOp, memref::CopyOp>(op);
}

static bool isLoopWithoutRegions(Operation *op) {
  return isa<LoopLikeOpInterface>(op) &&
         !op->walk([&](Operation *inner) {
              return isRegion(inner) ? WalkResult::interrupt()
                                     : WalkResult::advance();
            }).wasInterrupted();
}

SmallVector<Operation *> regionsOf(func::FuncOp model) {
  SmallVector<Operation *> regions;
  model.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isRegion(op) && !isLoopWithoutRegions(op))
      return WalkResult::advance();
    regions.push_back(op);
    return WalkResult::skip();
  });
  return regions;
}

} // namespace onnxc
