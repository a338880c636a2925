// Cortex-M: ARMv7-M and later microcontrollers. No MMU, no heap, no vectors
// (MVE comes with the integer kernels); weights stay in flash, everything else
// is in one arena of the caller's. Single precision is in hardware on cores
// with an FPU, double precision hardly anywhere. Caches, where there are any,
// are small.
#include "codegen/Target.h"
#include "runtime/include/onnxc/model.h"
#include "llvm/Support/TargetSelect.h"

using namespace llvm;

namespace onnxc {
namespace {

bool accepts(const Triple &triple) {
  return triple.isThumb() && triple.isArmMClass();
}

std::string defaultCpu(const Triple &triple) {
  return triple.getSubArch() == Triple::ARMSubArch_v7em  ? "cortex-m4"
         : triple.getSubArch() == Triple::ARMSubArch_v7m ? "cortex-m3"
                                                         : "generic";
}

MachineFacts facts(StringRef, const Features &features) {
  MachineFacts facts;
  facts.vectorBits = 0;
  // Scalar floating-point registers; register tiles are made of these.
  facts.vectorRegisters = 0;
  facts.l1Bytes = 4 << 10;
  facts.l2Bytes = 16 << 10;
  facts.heap = false;
  facts.hasF16 = features.has("fp16");
  return facts;
}

// Nobody can ask a microcontroller; the image is built for it.
uint64_t requiredFeatures(const Features &) { return 0; }

void initialize() {
  LLVMInitializeARMTargetInfo();
  LLVMInitializeARMTarget();
  LLVMInitializeARMTargetMC();
  LLVMInitializeARMAsmPrinter();
  LLVMInitializeARMAsmParser();
}

} // namespace

extern const TargetBackend targetArmV7M = {
    "armv7m",          accepts,          defaultCpu,          facts,
    ONNXC_MACHINE_ARM, requiredFeatures, /*loopAlignment=*/0, initialize};

} // namespace onnxc
