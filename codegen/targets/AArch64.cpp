// AArch64. NEON is part of the architecture: 32 registers of 128 bits, two to
// four FMA a cycle on application cores. SVE's scalable vectors are not used;
// its 128-bit subset is NEON. Half-precision conversions are in the baseline.
#include "codegen/Target.h"
#include "runtime/include/onnxc/model.h"
#include "llvm/Support/TargetSelect.h"

using namespace llvm;

namespace onnxc {
namespace {

bool accepts(const Triple &triple) { return triple.isAArch64(); }

std::string defaultCpu(const Triple &) { return "generic"; }

MachineFacts facts(StringRef cpu, const Features &features) {
  MachineFacts facts;
  facts.vectorBits = 128;
  facts.vectorRegisters = 32;
  bool isWide = cpu.starts_with("apple") || cpu.starts_with("neoverse-v");
  facts.fmaPerCycle = isWide ? 4 : 2;
  facts.l1Bytes = 32 << 10;
  facts.l2Bytes = 512 << 10;
  facts.hasF16 = true;
  facts.hasFma = true;
  return facts;
}

uint64_t requiredFeatures(const Features &features) {
  uint64_t mask = 0;
#define X(bit, name) mask |= features.has(name) ? uint64_t(1) << bit : 0;
  ONNXC_AARCH64_FEATURES(X)
#undef X
  return mask;
}

void initialize() {
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  LLVMInitializeAArch64AsmParser();
}

} // namespace

extern const TargetBackend targetAArch64 = {
    "aarch64",           accepts,   defaultCpu, facts, ONNXC_MACHINE_AARCH64,
    requiredFeatures,
    /*loopAlignment=*/0, initialize};

} // namespace onnxc
