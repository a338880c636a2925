// A parallel-for of the caller's runs tasks; this pass makes kernels divisible
// into them. The function of a kernel gets two more arguments, the task and how
// many there are, and does that share of its outermost loops. These loops run
// over tiles of the output: no iteration reads what another one writes. So the
// result is the same for every number of tasks, and the number is a constant of
// the kernel or of the sizes of its operands, never of the machine that runs
// it.
//
// All of them together are one sequence of steps, of which a task does a range.
// Few steps are divided once more, along the loops in them that are marked as
// inner ones. Where the run alone knows how many steps there are, the number of
// tasks is computed before the call.
#include "lowering/Estimate.h"
#include "lowering/Passes.h"
#include "lowering/loops/KernelSteps.h"
#include "lowering/loops/KernelWork.h"
#include "lowering/loops/WorkerScratch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <cmath>

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_SPLITKERNELS
#include "lowering/Passes.h.inc"

namespace {

constexpr int64_t mostTasks = 64;
// So many steps keep workers busy equally long. Parts of a step read the same
// weights, each anew: transformers took 1.05 to 1.14 times as long on two cores
// where 8 to 15 steps were divided, and all into 64.
constexpr int64_t manySteps = 8;

bool isSharedFirst(scf::ForOp loop) {
  return loop->hasAttr(sharedFirstAttrName);
}

class Splitter {
public:
  Splitter(func::FuncOp function, KernelSteps found)
      : function(function), found(std::move(found)),
        b(function.getLoc(), function.getContext()) {}

  // Whether there can be more tasks than one.
  bool chooseTasks(int64_t work);
  // Returns the argument that is the worker's number.
  Value addArguments();
  void split();
  // How many tasks there should be.
  Value tasksOf(func::CallOp call);

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  int64_t longestInnerLoop();
  void chooseTasksOfRun(int64_t work);
  void countSteps();
  Value cloneInto(OpBuilder &builder, Value value, IRMapping &mapping);
  Value tripsOf(const Step &step);
  Value within(Value position, Value first, Value trips);
  Value begin(Value all, Value share, Value shares);
  void splitSteps(Value task, Value tasks);
  void splitAround(Value &from, Value &to);
  void splitInnerLoops(Value share, Value shares);
  void restrict(scf::ForOp loop, Value from, Value to);

  func::FuncOp function;
  KernelSteps found;
  ImplicitLocOpBuilder b;
  SmallVector<scf::ForOp> innerLoops;
  int64_t innerShares = 1; // of each step, at most where the run decides
  int64_t tasks = 1;       // where the sizes are known

  // Where the run decides.
  SmallVector<Value> inside; // steps in an iteration of loops around
  Value count;               // of all steps
  int64_t tasksPerStep = 1, stepsPerTask = 1;
};

int64_t Splitter::longestInnerLoop() {
  int64_t longest = 1;
  for (scf::ForOp loop : innerLoops)
    longest = std::max(longest, stepOf(loop).trips.value_or(mostTasks));
  return longest;
}

bool Splitter::chooseTasks(int64_t work) {
  if (!found.around.empty() || !found.total()) {
    chooseTasksOfRun(work);
    return true;
  }
  int64_t wanted = std::min(work / leastWork, mostTasks), all = *found.total();
  innerLoops = found.innerLoops();
  if (llvm::any_of(innerLoops, isSharedFirst) &&
      longestInnerLoop() >= manySteps) {
    tasks = innerShares = std::min(wanted, longestInnerLoop());
    return tasks > 1;
  }
  tasks = std::min(wanted, all);
  if (all == 0 || all >= std::min(wanted, manySteps))
    innerLoops.clear();
  if (!innerLoops.empty()) {
    innerShares = std::min({wanted / all, longestInnerLoop(),
                            int64_t(llvm::divideCeil(manySteps, all))});
    tasks = std::max(tasks, all * innerShares);
  }
  return tasks > 1;
}

// Of so much work as there is where each unknown size is the one that it was
// estimated with.
void Splitter::chooseTasksOfRun(int64_t work) {
  countSteps();
  int64_t steps = std::max<int64_t>(estimate(count, unknownSize), 1);
  double perStep = double(work) / double(steps);
  if (perStep < double(leastWork)) {
    stepsPerTask = int64_t(std::ceil(double(leastWork) / perStep));
    return;
  }
  tasksPerStep = int64_t(std::min(perStep / leastWork, double(mostTasks)));
  innerLoops = found.innerLoops();
  tasksPerStep = std::min(tasksPerStep, longestInnerLoop());
  innerShares = tasksPerStep;
}

// What it takes goes to where the function begins.
void Splitter::countSteps() {
  Block &front = function.front();
  Operation *last = nullptr;
  for (Operation *op : found.early) {
    if (last)
      op->moveAfter(last);
    else if (op != &front.front())
      op->moveBefore(&front.front());
    last = op;
  }
  if (last)
    b.setInsertionPointAfter(last);
  else
    b.setInsertionPointToStart(&front);
  count = index(0);
  for (const Step &step : found.steps)
    count = arith::AddIOp::create(b, count, tripsOf(step));
  inside.resize(found.around.size());
  for (unsigned i = found.around.size(); i-- > 0;) {
    inside[i] = count;
    count = arith::MulIOp::create(b, tripsOf(stepOf(found.around[i])), count);
  }
}

Value Splitter::cloneInto(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value mapped = mapping.lookupOrNull(value))
    return mapped;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneInto(builder, operand, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

Value Splitter::tasksOf(func::CallOp call) {
  ImplicitLocOpBuilder at(call.getLoc(), call);
  auto number = [&](int64_t value) {
    return arith::ConstantIndexOp::create(at, value);
  };
  if (!count)
    return number(tasks);
  IRMapping mapping;
  mapping.map(function.getArguments().take_front(call.getNumOperands()),
              call.getOperands());
  Value wanted = cloneInto(at, count, mapping);
  if (stepsPerTask > 1)
    wanted = arith::DivUIOp::create(at, wanted, number(stepsPerTask));
  if (tasksPerStep > 1)
    wanted = arith::MulIOp::create(at, wanted, number(tasksPerStep));
  return arith::MinUIOp::create(at, wanted, number(mostTasks));
}

Value Splitter::addArguments() {
  unsigned count = function.getNumArguments();
  for (int i = 0; i < 3; ++i)
    (void)function.insertArgument(function.getNumArguments(), b.getIndexType(),
                                  {}, function.getLoc());
  return function.getArgument(count);
}

Value Splitter::tripsOf(const Step &step) {
  if (!step.loop || step.trips)
    return index(step.trips.value_or(1));
  scf::ForOp loop = step.loop;
  Value span =
      arith::SubIOp::create(b, loop.getUpperBound(), loop.getLowerBound());
  Value trips = arith::CeilDivSIOp::create(b, span, loop.getStep());
  return arith::MaxSIOp::create(b, trips, index(0));
}

// A position in the whole sequence as one in a step that begins at `first`.
Value Splitter::within(Value position, Value first, Value trips) {
  Value inside = arith::SubIOp::create(b, position, first);
  inside = arith::MaxSIOp::create(b, inside, index(0));
  return arith::MinSIOp::create(b, inside, trips);
}

// Where a share of `all` begins.
Value Splitter::begin(Value all, Value share, Value shares) {
  return arith::DivUIOp::create(b, arith::MulIOp::create(b, all, share),
                                shares);
}

void Splitter::restrict(scf::ForOp loop, Value from, Value to) {
  Value low = loop.getLowerBound(), width = loop.getStep();
  auto at = [&](Value trip) -> Value {
    return arith::AddIOp::create(b, low, arith::MulIOp::create(b, trip, width));
  };
  loop.setLowerBound(at(from));
  loop.setUpperBound(at(to));
  for (Operation *user : loop.getInductionVar().getUsers())
    if (user->hasAttr(firstAttrName))
      user->setOperand(1, loop.getLowerBound());
}

void Splitter::split() {
  Value task = function.getArguments().drop_back().back();
  Value tasks = function.getArguments().back();
  if (count)
    b.setInsertionPointAfterValue(count);
  else
    b.setInsertionPointToStart(&function.front());
  if (innerShares == 1)
    return splitSteps(task, tasks);
  // One task does all of it, or each a share of one step.
  Value shares;
  if (count) {
    Value some = arith::MaxUIOp::create(b, count, index(1));
    Value fitting = arith::DivUIOp::create(b, tasks, some);
    fitting = arith::MaxUIOp::create(b, fitting, index(1));
    shares = arith::MinUIOp::create(b, fitting, index(innerShares));
  } else {
    Value isOne =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, tasks, index(1));
    shares = arith::SelectOp::create(b, isOne, index(1), index(innerShares));
  }
  Value step = arith::DivUIOp::create(b, task, shares);
  splitInnerLoops(arith::RemUIOp::create(b, task, shares), shares);
  b.setInsertionPointAfterValue(step);
  splitSteps(step, arith::DivUIOp::create(b, tasks, shares));
}

void Splitter::splitInnerLoops(Value share, Value shares) {
  for (scf::ForOp loop : innerLoops) {
    b.setInsertionPoint(loop);
    Value trips = tripsOf(stepOf(loop));
    Value next = arith::AddIOp::create(b, share, index(1));
    restrict(loop, begin(trips, share, shares), begin(trips, next, shares));
  }
}

// Each loop around the steps runs while there are some of the range in it.
void Splitter::splitAround(Value &from, Value &to) {
  for (auto [loop, inside] : llvm::zip_equal(found.around, inside)) {
    Value some = arith::MaxUIOp::create(b, inside, index(1));
    Value low = loop.getLowerBound(), width = loop.getStep();
    Value first = arith::DivUIOp::create(b, from, some);
    restrict(loop, first, arith::CeilDivUIOp::create(b, to, some));
    b.setInsertionPointToStart(loop.getBody());
    Value trip = arith::SubIOp::create(b, loop.getInductionVar(), low);
    trip = arith::DivUIOp::create(b, trip, width);
    Value begin = arith::MulIOp::create(b, trip, inside);
    from = within(from, begin, inside);
    to = within(to, begin, inside);
  }
}

void Splitter::splitSteps(Value task, Value tasks) {
  Value all = count ? count : index(*found.total());
  Value from = begin(all, task, tasks);
  Value to = begin(all, arith::AddIOp::create(b, task, index(1)), tasks);
  splitAround(from, to);
  // All shares before anything moves, this place included.
  SmallVector<std::pair<Value, Value>> shares;
  Value first = index(0);
  for (const Step &step : found.steps) {
    Value trips = tripsOf(step);
    Value low = within(from, first, trips);
    shares.push_back({low, within(to, first, trips)});
    first = b.createOrFold<arith::AddIOp>(first, trips);
  }
  for (auto [step, share] : llvm::zip_equal(found.steps, shares)) {
    auto [low, high] = share;
    if (step.loop) {
      b.setInsertionPoint(step.loop);
      restrict(step.loop, low, high);
      continue;
    }
    b.setInsertionPoint(step.tile.back()); // what it uses is before that
    Value isMine =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, low, high);
    auto mine = scf::IfOp::create(b, isMine, /*withElseRegion=*/false);
    for (Operation *op : step.tile)
      op->moveBefore(mine.thenYield());
  }
}

struct SplitKernels : impl::SplitKernelsBase<SplitKernels> {
  void runOnOperation() override {
    llvm::DenseMap<StringRef, SmallVector<func::CallOp>> callsOf;
    getOperation().walk(
        [&](func::CallOp call) { callsOf[call.getCallee()].push_back(call); });
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    SmallVector<std::pair<func::FuncOp, Value>> divided;
    int64_t workerBytes = 0;
    bool hasAnySize = false;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto work =
          dyn_cast_or_null<IntegerAttr>(function->removeAttr(workAttrName));
      if (!work || !hasThreads(target))
        continue;
      ArrayRef<func::CallOp> calls = callsOf[function.getName()];
      std::optional<int64_t> scratch = scratchBytes(function, calls);
      if (work.getInt() < 2 * leastWork || !scratch)
        continue;
      std::optional<KernelSteps> found = findSteps(function);
      if (!found)
        continue;
      Splitter splitter(function, std::move(*found));
      if (!splitter.chooseTasks(work.getInt()))
        continue;
      bool isOfAnySize = hasScratchOfAnySize(function);
      divided.push_back({function, splitter.addArguments()});
      splitter.split();
      function->setAttr(tasksAttrName, Builder(&getContext()).getUnitAttr());
      for (func::CallOp call : calls)
        passTasks(call, splitter.tasksOf(call));
      workerBytes = std::max(workerBytes, *scratch);
      hasAnySize |= isOfAnySize;
    }
    for (auto [function, worker] : divided)
      giveScratchToWorkers(function, callsOf[function.getName()], worker);
    if (Operation *formula = getOperation().lookupSymbol(workerBytesName);
        formula && !hasAnySize)
      formula->erase();
    if (workerBytes)
      getOperation()->setAttr(
          workerBytesAttrName,
          Builder(&getContext()).getI64IntegerAttr(workerBytes));
    for (auto function : getOperation().getOps<func::FuncOp>())
      function->removeAttr(scratchAttrName);
    getOperation().walk([](Operation *op) {
      if (isa<scf::ForOp, memref::AllocaOp>(op))
        for (StringRef name :
             {innerAttrName, sharedFirstAttrName, stepAttrName, tileAttrName})
          op->removeAttr(name);
    });
  }

  // The first worker, the first task, and how many there should be.
  static void passTasks(func::CallOp call, Value tasks) {
    ImplicitLocOpBuilder b(call.getLoc(), call);
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value numbers[] = {zero, zero, tasks};
    call.getOperandsMutable().append(numbers);
  }
};

} // namespace
} // namespace onnxc
