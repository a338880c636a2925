#include "codegen/Optimize.h"
#include "dialects/onnxc/KernelFunction.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ProfDataUtils.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/SimpleLoopUnswitch.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace onnxc {

TargetLibraryInfoImpl freestandingLibrary(const Triple &triple) {
  TargetLibraryInfoImpl library(triple);
  library.disableAllFunctions();
  return library;
}

// Kernels come unrolled as far as that pays: around another loop LLVM would
// write channels, taps and rows of a border many times. Some come so as a
// whole.
static void keepRolled(Function &function) {
  DominatorTree tree(function);
  LoopInfo loops(tree);
  bool isWhole = function.hasFnAttribute(rolledAttrName);
  for (Loop *loop : loops.getLoopsInPreorder())
    if (isWhole || !loop->isInnermost())
      addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1);
}

// Registers go to what runs most often. Without counts LLVM takes every loop
// for some thirty iterations, and the deepest nest for the hottest.
static void countIterations(Function &function,
                            FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  for (Loop *loop : loops.getLoopsInPreorder()) {
    BasicBlock *latch = loop->getLoopLatch();
    unsigned count = evolution.getSmallConstantTripCount(loop);
    if (!count || !latch || latch != loop->getExitingBlock())
      continue;
    Instruction *branch = latch->getTerminator();
    uint32_t weights[] = {count - 1, 1};
    if (branch->getSuccessor(0) != loop->getHeader())
      std::swap(weights[0], weights[1]);
    setBranchWeights(*branch, weights, /*IsExpected=*/false);
  }
}

// The only lane that a mask has; nothing where it has more, or the run knows.
static std::optional<unsigned> onlyLane(Value *mask) {
  auto *type = dyn_cast<FixedVectorType>(mask->getType());
  auto *constant = dyn_cast<Constant>(mask);
  std::optional<unsigned> only;
  for (unsigned lane = 0; constant && type && lane < type->getNumElements();
       ++lane) {
    Constant *bit = constant->getAggregateElement(lane);
    if (!bit || (!bit->isNullValue() && !bit->isOneValue()) ||
        (only && bit->isOneValue()))
      return std::nullopt;
    if (bit->isOneValue())
      only = lane;
  }
  return only;
}

// Stores of one lane as what they are. LLVM 22 does so late, where it forgets
// for x86 that the vector has wider elements before: it writes those, over what
// lies behind the element.
static void storeSingleLanes(Function &function) {
  for (Instruction &instruction :
       make_early_inc_range(instructions(function))) {
    auto *store = dyn_cast<IntrinsicInst>(&instruction);
    if (!store || store->getIntrinsicID() != Intrinsic::masked_store)
      continue;
    std::optional<unsigned> lane =
        onlyLane(store->getArgOperand(store->arg_size() - 1));
    if (!lane)
      continue;
    IRBuilder<> builder(store);
    Value *element =
        builder.CreateExtractElement(store->getArgOperand(0), *lane);
    Value *place = builder.CreateConstGEP1_32(element->getType(),
                                              store->getArgOperand(1), *lane);
    uint64_t bytes =
        function.getDataLayout().getTypeStoreSize(element->getType());
    Align vector = store->getParamAlign(1).valueOrOne();
    builder.CreateAlignedStore(element, place,
                               commonAlignment(vector, *lane * bytes));
    store->eraseFromParent();
  }
}

namespace {
// LLVM would copy a nest for each condition that no iteration changes, as
// whether a row has a rest, or anything but a rest: eight copies of a movement,
// none of them faster.
struct TrivialUnswitch : PassInfoMixin<TrivialUnswitch> {
  PreservedAnalyses run(Loop &loop, LoopAnalysisManager &analyses,
                        LoopStandardAnalysisResults &results,
                        LPMUpdater &updater) {
    return SimpleLoopUnswitchPass().run(loop, analyses, results, updater);
  }
};
} // namespace

void optimize(Module &module, TargetMachine &machine, unsigned level) {
  for (Function &function : module)
    if (!function.isDeclaration())
      keepRolled(function);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [](StringRef pass, auto) { return pass != "SimpleLoopUnswitchPass"; });
  PassBuilder builder(&machine, {}, {}, &callbacks);
  builder.registerLateLoopOptimizationsEPCallback(
      [](LoopPassManager &passes, auto) { passes.addPass(TrivialUnswitch()); });
  TargetLibraryInfoImpl library = freestandingLibrary(module.getTargetTriple());
  functions.registerPass([&] { return TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  const OptimizationLevel levels[] = {
      OptimizationLevel::O0, OptimizationLevel::O1, OptimizationLevel::O2,
      OptimizationLevel::O3};
  ModulePassManager passes =
      level == 0
          ? builder.buildO0DefaultPipeline(OptimizationLevel::O0)
          : builder.buildPerModuleDefaultPipeline(levels[std::min(level, 3u)]);
  passes.run(module, modules);
  for (Function &function : module) {
    storeSingleLanes(function);
    if (function.hasFnAttribute(countedAttrName))
      countIterations(function, functions);
  }
}

} // namespace onnxc
