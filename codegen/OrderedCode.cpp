// The scheduler has no switch for a single function, but it leaves alone what
// is not to be optimized. So a function is called that for as long as it runs.
#include "codegen/OrderedCode.h"
#include "dialects/onnxc/Ordered.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace onnxc {
namespace {

enum class Skips { Begin, End };

class SkipOrdered : public MachineFunctionPass {
public:
  static char ID;
  explicit SkipOrdered(Skips skips) : MachineFunctionPass(ID), skips(skips) {}

  StringRef getPassName() const override { return "Skip ordered code"; }
  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(MachineFunction &code) override {
    Function &function = code.getFunction();
    if (!function.hasFnAttribute(orderedAttrName))
      return false;
    if (skips == Skips::Begin)
      function.addFnAttr(Attribute::OptimizeNone);
    else
      function.removeFnAttr(Attribute::OptimizeNone);
    return false;
  }

private:
  Skips skips;
};

char SkipOrdered::ID;

} // namespace

void keepOrderedCode(TargetPassConfig &config) {
  config.insertPass(&RenameIndependentSubregsID, new SkipOrdered(Skips::Begin));
  config.insertPass(&MachineSchedulerID, new SkipOrdered(Skips::End));
}

} // namespace onnxc
