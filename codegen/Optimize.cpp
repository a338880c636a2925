#include "codegen/Optimize.h"
#include "dialects/onnxc/KernelFunction.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
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
}

} // namespace onnxc
