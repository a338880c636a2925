// Passes see the uses of a value in the order of a list that the history of the
// module left, and upstream's depend on it: which of two conflicting uses gets
// a copy, for one. Text does not keep that history. Each stage therefore starts
// from one order, or a module that was written and read again would be
// compiled to another object.
#include "compiler/UseOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace onnxc {
namespace {

class UseSorter {
public:
  void sort(ModuleOp module) {
    module->walk<WalkOrder::PreOrder>(
        [&](Operation *op) { positions.try_emplace(op, positions.size()); });
    module->walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value result : op->getResults())
        sortOf(result);
      for (Region &region : op->getRegions())
        for (Block &block : region) {
          sortOf(block);
          for (Value argument : block.getArguments())
            sortOf(argument);
        }
    });
  }

private:
  template <typename Used> void sortOf(Used &&used) {
    using Place = std::pair<size_t, unsigned>;
    SmallVector<Place> places;
    for (auto &use : used.getUses())
      places.emplace_back(positions.at(use.getOwner()), use.getOperandNumber());
    if (llvm::is_sorted(places, std::greater<Place>()))
      return;
    auto order = llvm::to_vector(llvm::seq<unsigned>(0, places.size()));
    llvm::sort(order,
               [&](unsigned a, unsigned b) { return places[a] > places[b]; });
    SmallVector<unsigned> targets(order.size()); // of each use as it is now
    for (auto [target, use] : llvm::enumerate(order))
      targets[use] = target;
    used.shuffleUseList(targets);
  }

  DenseMap<Operation *, size_t> positions;
};

} // namespace

void sortUses(ModuleOp module) { UseSorter().sort(module); }

} // namespace onnxc
