#include "lowering/loops/KernelSteps.h"
#include "lowering/loops/KernelWork.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace onnxc {
namespace {

bool writes(Operation &op) {
  auto effects = getEffectsRecursively(&op);
  return !effects || llvm::any_of(*effects, [](auto &instance) {
    return isa<MemoryEffects::Write, MemoryEffects::Free>(instance.getEffect());
  });
}

class Finder {
public:
  explicit Finder(func::FuncOp function) : function(function) {}
  std::optional<KernelSteps> find();

private:
  void promoteSingleLoops();
  bool findStepsOf(Block &block);
  bool addTile(ArrayRef<Operation *> section);
  bool enterLoop();
  bool isKnownEarly(Value value);
  bool areKnownEarly();

  func::FuncOp function;
  KernelSteps found;
  bool hasScratch = false;
};

// A batch of one is a loop around all others.
void Finder::promoteSingleLoops() {
  IRRewriter rewriter(function.getContext());
  for (bool changed = true; changed;) {
    changed = false;
    for (auto loop :
         llvm::make_early_inc_range(function.front().getOps<scf::ForOp>()))
      changed |= !loop->hasAttr(stepAttrName) &&
                 succeeded(loop.promoteIfSingleIteration(rewriter));
  }
}

// What is used after the section stays where everybody runs it; it may compute
// and read, but not write.
bool Finder::addTile(ArrayRef<Operation *> section) {
  llvm::SmallPtrSet<Operation *, 16> inside(section.begin(), section.end());
  Step step;
  for (Operation *op : llvm::reverse(section)) {
    bool isUsedOutside = llvm::any_of(op->getUsers(), [&](Operation *user) {
      while (user->getBlock() != op->getBlock())
        user = user->getParentOp();
      return !inside.contains(user);
    });
    bool isShared = isUsedOutside || isa<memref::AllocaOp>(op);
    if (isShared && writes(*op))
      return false;
    if (isShared)
      inside.erase(op);
    else
      step.tile.push_back(op);
  }
  if (llvm::none_of(step.tile, [](Operation *op) { return writes(*op); }))
    return true; // nothing but values for others
  std::reverse(step.tile.begin(), step.tile.end());
  found.steps.push_back(std::move(step));
  return true;
}

bool Finder::findStepsOf(Block &block) {
  SmallVector<Operation *> section;
  for (Operation &op : block.without_terminator()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || loop.getNumResults() != 0 || loop->hasAttr(tileAttrName)) {
      section.push_back(&op);
      continue;
    }
    if (!addTile(section))
      return false;
    section.clear();
    found.steps.push_back(stepOf(loop));
  }
  if (!addTile(section))
    return false;
  // Scratch may hold what an earlier step left for a later one.
  bool isSingle = found.steps.size() == 1 && found.steps.front().loop;
  return (isSingle || !hasScratch) && (found.total() || areKnownEarly());
}

// As if the only loop, whose iterations the run alone knows, had but one.
bool Finder::enterLoop() {
  SmallVector<Step> &steps = found.steps;
  scf::ForOp loop = steps.size() == 1 ? steps.front().loop : nullptr;
  if (!loop || steps.front().trips || loop->hasAttr(stepAttrName))
    return false;
  SmallVector<Step> outside = std::exchange(steps, {});
  bool hasLoop =
      findStepsOf(*loop.getBody()) &&
      llvm::any_of(steps, [](const Step &step) { return step.loop; });
  if (hasLoop)
    found.around.push_back(loop);
  else
    steps = std::move(outside);
  return hasLoop;
}

// Whether the arguments alone decide about it.
bool Finder::isKnownEarly(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &function.front();
  Operation *op = value.getDefiningOp();
  if (found.early.contains(op))
    return true;
  auto isKnown = [&](Value operand) { return isKnownEarly(operand); };
  return isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), isKnown) && found.early.insert(op);
}

bool Finder::areKnownEarly() {
  return llvm::all_of(found.steps, [&](const Step &step) {
    scf::ForOp loop = step.loop;
    return !loop ||
           (isKnownEarly(loop.getLowerBound()) &&
            isKnownEarly(loop.getUpperBound()) && isKnownEarly(loop.getStep()));
  });
}

std::optional<KernelSteps> Finder::find() {
  promoteSingleLoops();
  hasScratch = llvm::any_of(
      function.front().getOps<memref::AllocaOp>(),
      [](memref::AllocaOp scratch) { return !scratch->hasAttr(tileAttrName); });
  if (!findStepsOf(function.front()))
    return std::nullopt;
  while (enterLoop())
    ;
  return std::move(found);
}

bool isPrivate(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  auto scratch = memory.getDefiningOp<memref::AllocaOp>();
  return scratch && !scratch->hasAttr(tileAttrName);
}

bool writesScratch(scf::ForOp loop) {
  if (loop->hasAttr(stepAttrName))
    return false;
  auto visit = [](Operation *op) -> WalkResult {
    // What orders loads of a tile writes nothing.
    if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        isa<LLVM::FenceOp>(op))
      return WalkResult::advance();
    auto effects = getEffectsRecursively(op);
    bool writes = !effects || llvm::any_of(*effects, [](auto &instance) {
      return isa<MemoryEffects::Write>(instance.getEffect()) &&
             (!instance.getValue() || isPrivate(instance.getValue()));
    });
    return writes ? WalkResult::interrupt() : WalkResult::advance();
  };
  return loop.getBody()->walk(visit).wasInterrupted();
}

} // namespace

Step stepOf(scf::ForOp loop) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  return {
      loop, {}, trips ? std::optional(trips->getSExtValue()) : std::nullopt};
}

std::optional<int64_t> KernelSteps::total() const {
  int64_t sum = 0;
  for (const Step &step : steps) {
    if (step.loop && !step.trips)
      return std::nullopt;
    sum += step.loop ? *step.trips : 1;
  }
  return sum;
}

SmallVector<scf::ForOp> KernelSteps::innerLoops() const {
  SmallVector<scf::ForOp> loops;
  auto visit = [&](Operation *op) -> WalkResult {
    if (op->hasAttr(innerAttrName)) {
      loops.push_back(cast<scf::ForOp>(op));
      return WalkResult::skip();
    }
    bool isNest = op->getNumRegions() > 0;
    return !isNest && writes(*op) ? WalkResult::interrupt()
                                  : WalkResult::advance();
  };
  auto writesOutside = [&](const Step &step) {
    scf::ForOp loop = step.loop;
    if (loop)
      return loop.getBody()->walk<WalkOrder::PreOrder>(visit).wasInterrupted();
    return llvm::any_of(step.tile, [&](Operation *op) {
      return op->walk<WalkOrder::PreOrder>(visit).wasInterrupted();
    });
  };
  if (llvm::any_of(steps, writesOutside) || llvm::any_of(loops, writesScratch))
    return {};
  return loops;
}

std::optional<KernelSteps> findSteps(func::FuncOp kernel) {
  return Finder(kernel).find();
}

} // namespace onnxc
