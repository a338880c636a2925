#include "lowering/memory/Lifetimes.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace onnxc {

Positions::Positions(func::FuncOp func) {
  int64_t next = 0;
  func.walk([&](Operation *op, const WalkStage &stage) {
    if (stage.isBeforeAllRegions())
      begin[op] = next++;
    if (stage.isAfterAllRegions())
      end[op] = next++;
  });
}

namespace {

// The outermost loop around `user` that does not hold `alloc` too.
Operation *loopBetween(Operation *alloc, Operation *user) {
  Operation *outermost = user;
  for (Operation *op = user; op && !op->isAncestor(alloc);
       op = op->getParentOp())
    if (isa<LoopLikeOpInterface>(op))
      outermost = op;
  return outermost;
}

bool isCarriedByLoopAround(Operation *alloc, Value alias) {
  auto argument = dyn_cast<BlockArgument>(alias);
  Operation *loop =
      argument ? argument.getOwner()->getParentOp() : alias.getDefiningOp();
  return isa<LoopLikeOpInterface>(loop) && loop->isProperAncestor(alloc);
}

// Takes the address and no byte.
bool isView(Operation *op) {
  return isa<ViewLikeOpInterface, memref::DimOp>(op);
}

BufferLifetime lifetimeOf(memref::AllocOp alloc, const Positions &positions,
                          const BufferViewFlowAnalysis &views) {
  constexpr int64_t never = std::numeric_limits<int64_t>::max();
  BufferLifetime lifetime = {alloc, never, -1, false};
  for (Value alias : views.resolve(alloc.getMemref())) {
    lifetime.outlivesIteration |= isCarriedByLoopAround(alloc, alias);
    for (Operation *user : alias.getUsers()) {
      if (isView(user))
        continue;
      Operation *op = loopBetween(alloc, user);
      lifetime.first = std::min(lifetime.first, positions.begin.lookup(op));
      lifetime.last = std::max(lifetime.last, positions.end.lookup(op));
    }
  }
  return lifetime;
}

} // namespace

SmallVector<BufferLifetime> computeLifetimes(func::FuncOp func,
                                             const Positions &positions) {
  BufferViewFlowAnalysis views(func);
  SmallVector<BufferLifetime> lifetimes;
  func.walk([&](memref::AllocOp alloc) {
    lifetimes.push_back(lifetimeOf(alloc, positions, views));
  });
  return lifetimes;
}

} // namespace onnxc
