// A parallel-for of the caller's runs tasks; this pass makes kernels divisible
// into them. The function of a kernel gets two more arguments, the task and how
// many there are, and does that share of its outermost loops. These loops run
// over tiles of the output: no iteration reads what another one writes. So the
// result is the same for every number of tasks, and the number is a constant of
// the kernel, never of the machine that runs it.
//
// Peeling leaves several such loops in a row and single tiles between them. All
// of them together are one sequence of steps, of which a task does a range.
#include "lowering/Passes.h"
#include "lowering/loops/KernelWork.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_SPLITKERNELS
#include "lowering/Passes.h.inc"

namespace {

// About 20 us of one core; handing out less costs more than it saves.
constexpr int64_t leastWork = int64_t(1) << 20;
constexpr int64_t mostTasks = 64;

bool writes(Operation &op) {
  auto effects = getEffectsRecursively(&op);
  return !effects || llvm::any_of(*effects, [](auto &instance) {
    return isa<MemoryEffects::Write, MemoryEffects::Free>(instance.getEffect());
  });
}

// A loop over tiles, or operations that do one tile.
struct Step {
  scf::ForOp loop;
  SmallVector<Operation *> tile;
  std::optional<int64_t> trips; // of a loop, where it is known
};

class Splitter {
public:
  explicit Splitter(func::FuncOp function)
      : function(function), b(function.getLoc(), function.getContext()) {}

  // Whether its outermost loops could be found.
  bool findSteps();
  std::optional<int64_t> total() const;
  void addArguments();
  void split();

private:
  void promoteSingleLoop();
  bool addTile(ArrayRef<Operation *> section);
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value tripsOf(const Step &step);
  Value within(Value position, Value first, Value trips);

  func::FuncOp function;
  ImplicitLocOpBuilder b;
  SmallVector<Step> steps;
  bool hasScratch = false;
};

// A batch of one is a loop around all others.
void Splitter::promoteSingleLoop() {
  IRRewriter rewriter(function.getContext());
  for (bool changed = true; changed;) {
    changed = false;
    for (auto loop :
         llvm::make_early_inc_range(function.front().getOps<scf::ForOp>()))
      changed |= succeeded(loop.promoteIfSingleIteration(rewriter));
  }
}

// What is used after the section stays where everybody runs it; it may compute
// and read, but not write.
bool Splitter::addTile(ArrayRef<Operation *> section) {
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
  steps.push_back(std::move(step));
  return true;
}

bool Splitter::findSteps() {
  promoteSingleLoop();
  SmallVector<Operation *> section;
  for (Operation &op : function.front().without_terminator()) {
    hasScratch |= isa<memref::AllocaOp>(op);
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || loop.getNumResults() != 0) {
      section.push_back(&op);
      continue;
    }
    if (!addTile(section))
      return false;
    section.clear();
    std::optional<APInt> trips = loop.getStaticTripCount();
    steps.push_back({loop, {}, {}});
    if (trips)
      steps.back().trips = trips->getSExtValue();
  }
  if (!addTile(section))
    return false;
  // Scratch may hold what an earlier step left for a later one.
  bool isSingle = steps.size() == 1 && steps.front().loop;
  return isSingle || (!hasScratch && total());
}

// Nothing where it is known to the run alone.
std::optional<int64_t> Splitter::total() const {
  int64_t sum = 0;
  for (const Step &step : steps) {
    if (step.loop && !step.trips)
      return std::nullopt;
    sum += step.loop ? *step.trips : 1;
  }
  return sum;
}

void Splitter::addArguments() {
  for (int i = 0; i < 2; ++i)
    (void)function.insertArgument(function.getNumArguments(), b.getIndexType(),
                                  {}, function.getLoc());
}

Value Splitter::tripsOf(const Step &step) {
  if (!step.loop || step.trips)
    return index(step.trips.value_or(1));
  scf::ForOp loop = step.loop;
  Value span = arith::SubIOp::create(b, loop.getUpperBound(),
                                     loop.getLowerBound());
  Value trips = arith::CeilDivSIOp::create(b, span, loop.getStep());
  return arith::MaxSIOp::create(b, trips, index(0));
}

// A position in the whole sequence as one in a step that begins at `first`.
Value Splitter::within(Value position, Value first, Value trips) {
  Value inside = arith::SubIOp::create(b, position, first);
  inside = arith::MaxSIOp::create(b, inside, index(0));
  return arith::MinSIOp::create(b, inside, trips);
}

void Splitter::split() {
  Value task = function.getArguments().drop_back().back();
  Value tasks = function.getArguments().back();
  if (steps.size() == 1)
    b.setInsertionPoint(steps.front().loop);
  else
    b.setInsertionPointToStart(&function.front());
  Value all = total() ? index(*total()) : tripsOf(steps.front());
  auto share = [&](Value number) -> Value {
    return arith::DivUIOp::create(b, arith::MulIOp::create(b, all, number),
                                  tasks);
  };
  Value begin = share(task);
  Value end = share(arith::AddIOp::create(b, task, index(1)));
  int64_t position = 0;
  for (Step &step : steps) {
    Value first = index(position), trips = tripsOf(step);
    Value from = within(begin, first, trips), to = within(end, first, trips);
    position += step.trips.value_or(1);
    OpBuilder::InsertionGuard guard(b);
    if (scf::ForOp loop = step.loop) {
      b.setInsertionPoint(loop);
      Value low = loop.getLowerBound(), width = loop.getStep();
      auto at = [&](Value trip) -> Value {
        return arith::AddIOp::create(b, low,
                                     arith::MulIOp::create(b, trip, width));
      };
      loop.setLowerBound(at(from));
      loop.setUpperBound(at(to));
      continue;
    }
    b.setInsertionPoint(step.tile.back()); // what it uses is before that
    Value isMine =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, from, to);
    auto mine = scf::IfOp::create(b, isMine, /*withElseRegion=*/false);
    for (Operation *op : step.tile)
      op->moveBefore(mine.thenYield());
  }
}

struct SplitKernels : impl::SplitKernelsBase<SplitKernels> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    llvm::DenseMap<StringRef, int64_t> divided;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto work =
          dyn_cast_or_null<IntegerAttr>(function->removeAttr(workAttrName));
      // Threads come with a heap.
      if (!work || !target || !target.getHeap())
        continue;
      int64_t tasks = std::min(work.getInt() / leastWork, mostTasks);
      Splitter splitter(function);
      if (tasks < 2 || !splitter.findSteps())
        continue;
      tasks = std::min(tasks, splitter.total().value_or(tasks));
      if (tasks < 2)
        continue;
      splitter.addArguments();
      splitter.split();
      function->setAttr(tasksAttrName, Builder(&getContext()).getUnitAttr());
      divided[function.getName()] = tasks;
    }
    getOperation().walk([&](func::CallOp call) {
      auto tasks = divided.find(call.getCallee());
      if (tasks == divided.end())
        return;
      ImplicitLocOpBuilder b(call.getLoc(), call);
      Value numbers[] = {arith::ConstantIndexOp::create(b, 0),
                         arith::ConstantIndexOp::create(b, tasks->second)};
      call.getOperandsMutable().append(numbers);
    });
  }
};

} // namespace
} // namespace onnxc
