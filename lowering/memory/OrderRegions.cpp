// A graph lists its nodes in any order that is right: often layer by layer
// through branches that have nothing to do with each other, so that what all
// of them hold lives at once. Here, regions are final and values still are
// tensors, which say by themselves what depends on what. Another order is
// taken where it needs clearly less; all others stay as they are, for who
// wrote them may have had the caches in mind.
#include "lowering/Passes.h"
#include "lowering/memory/ArenaFormula.h"
#include "lowering/memory/BlockGraph.h"
#include "lowering/memory/BufferizationModels.h"
#include "lowering/memory/Signature.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;

namespace onnxc {

#define GEN_PASS_DEF_ORDERREGIONS
#include "lowering/Passes.h.inc"

namespace {

// A gain of less than this part is not worth another order.
constexpr uint64_t leastGain = 16;

bool isClearlyLess(uint64_t bytes, uint64_t given) {
  return bytes < given - given / leastGain;
}

// What is live at most does not always fit in as much.
uint64_t arenaBytes(const RunGraph &graph, ArrayRef<unsigned> order) {
  return planArena(lifetimesOf(graph, order), arenaAlignment).bytes;
}

struct OrderRegions : impl::OrderRegionsBase<OrderRegions> {
  using OrderRegionsBase::OrderRegionsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerBufferizationModels(registry);
  }

  void runOnOperation() override {
    if (func::FuncOp model = findModel(getOperation()))
      order(model.getBody().front());
  }

  // Returns the peak of the block.
  uint64_t order(Block &block) {
    DenseMap<Operation *, uint64_t> inside;
    for (Operation &op : block)
      if (isa<RegionBranchOpInterface>(op))
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            inside[&op] = std::max(inside[&op], order(inner));
    auto [graph, operations] = graphOf(block, symbolHint, inside);
    RunOrder given = givenOrder(graph), best = given;
    uint64_t peak = peakBytes(graph, given), least = peak;
    for (const RunOrder &other : {orderByGrowth(graph), orderFromEnd(graph)})
      if (uint64_t bytes = peakBytes(graph, other); bytes < least) {
        least = bytes;
        best = other;
      }
    if (!isClearlyLess(least, peak) ||
        !isClearlyLess(arenaBytes(graph, best), arenaBytes(graph, given)))
      return peak;
    for (unsigned step : best)
      for (Operation *op : operations[step])
        if (op != block.getTerminator())
          op->moveBefore(block.getTerminator());
    ++orderedBlocks;
    return least;
  }
};

} // namespace
} // namespace onnxc
