#include "codegen/Optimize.h"
#include "dialects/onnxc/KernelFunction.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ProfDataUtils.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace onnxc {

TargetLibraryInfoImpl freestandingLibrary(const Triple &triple) {
  TargetLibraryInfoImpl library(triple);
  library.disableAllFunctions();
  return library;
}

// Some kernels come with their loops unrolled as far as that pays: LLVM would
// write loops over vectors of channels, taps and rows of a border many times.
static void keepRolled(Function &function) {
  DominatorTree tree(function);
  LoopInfo loops(tree);
  for (Loop *loop : loops.getLoopsInPreorder())
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

void optimize(Module &module, TargetMachine &machine, unsigned level) {
  for (Function &function : module)
    if (function.hasFnAttribute(rolledAttrName))
      keepRolled(function);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
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
  for (Function &function : module)
    if (function.hasFnAttribute(countedAttrName))
      countIterations(function, functions);
}

} // namespace onnxc
