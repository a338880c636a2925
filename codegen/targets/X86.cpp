// x86-64. Vector width and register count follow from the features alone:
// AVX-512 has 32 registers of 512 bits, AVX 16 of 256, the baseline 16 of 128.
// How many full-width FMA a cycle a core issues is not a feature; the cores
// that do fewer 512-bit ones than 256-bit ones are named below. Object files
// run on any current machine by default: x86-64-v3 is Haswell and Zen, 2013 and
// 2017.
#include "codegen/Target.h"
#include "runtime/include/onnxc/model.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/TargetSelect.h"

using namespace llvm;

namespace onnxc {
namespace {

bool accepts(const Triple &triple) {
  return triple.getArch() == Triple::x86_64;
}

std::string defaultCpu(const Triple &) { return "x86-64-v3"; }

bool isClient(StringRef cpu) {
  return StringSwitch<bool>(cpu)
      .Cases({"icelake-client", "tigerlake", "rocketlake"}, true)
      .Default(false);
}

// A hypervisor may give a server's core a client's name, but not AMX.
StringRef coreOf(StringRef cpu, const Features &features) {
  return isClient(cpu) && features.has("amx-tile") ? "sapphirerapids" : cpu;
}

// Zen 4 joins two 256-bit pipes for one 512-bit FMA; client cores have one.
bool issuesOneWideFma(StringRef cpu) {
  return cpu == "znver4" || isClient(cpu);
}

struct Caches {
  int64_t l1, l2, l3; // KiB
  int64_t l2BytesPerCycle, l3BytesPerCycle = 8;
  int64_t memoryBytesPerCycle = 8;
};

// One line for each family of cores: data caches of a core, the L3 of its
// group where all of the family but the smallest have it, the rate of L2, which
// Zen 5 doubled, and what one core gets from L3 and from memory, little where
// Intel's mesh lies between. Of levels that are not one core's name, the
// smallest that the CPUs in question have.
Caches cachesOf(StringRef cpu, bool wide) {
  return StringSwitch<Caches>(cpu)
      .Case("znver1", {32, 512, 8 << 10, 32})
      .Case("znver2", {32, 512, 16 << 10, 32})
      .Case("znver3", {32, 512, 32 << 10, 32})
      .Case("znver4", {32, 1 << 10, 32 << 10, 32, 24})
      .Case("znver5", {48, 1 << 10, 32 << 10, 64, 24})
      .Cases({"icelake-client", "rocketlake"}, {48, 512, 0, 64})
      .Cases({"icelake-server", "tigerlake", "alderlake"}, {48, 1280, 0, 64})
      .Cases({"sapphirerapids", "emeraldrapids", "graniterapids",
              "graniterapids-d"},
             {48, 2 << 10, 0, 64, 8, 3})
      .Cases({"raptorlake", "meteorlake"}, {48, 2 << 10, 0, 64})
      .Default({32, wide ? 1 << 10 : 256, 0, wide ? 64 : 32});
}

MachineFacts facts(StringRef name, const Features &features) {
  StringRef cpu = coreOf(name, features);
  MachineFacts facts;
  bool wide = features.has("avx512f") && features.has("avx512vl");
  facts.vectorBits = wide ? 512 : features.has("avx") ? 256 : 128;
  facts.vectorRegisters = wide ? 32 : 16;
  facts.fmaPerCycle = wide && issuesOneWideFma(cpu) ? 1 : 2;
  Caches caches = cachesOf(cpu, wide);
  facts.l1Bytes = caches.l1 << 10;
  facts.l2Bytes = caches.l2 << 10;
  facts.l3Bytes = caches.l3 << 10;
  facts.l2BytesPerCycle = caches.l2BytesPerCycle;
  facts.l3BytesPerCycle = caches.l3BytesPerCycle;
  facts.memoryBytesPerCycle = caches.memoryBytesPerCycle;
  // A core of a server has a small share of L3. On Emerald Rapids, writing 16
  // MB past the caches and reading them took as long as through L3 that held
  // them, and 0.75 of the time where it did not.
  bool sharesL3 = caches.memoryBytesPerCycle < caches.l3BytesPerCycle;
  facts.streamBytes =
      std::max<int64_t>(facts.l3Bytes, sharesL3 ? 16 << 20 : 32 << 20);
  // Streams go through L2 beside the blocks: on Zen 3 and 5 networks took up to
  // 1.1 times as long with blocks for all of it.
  int64_t most = cpu.starts_with("znver") ? facts.l2Bytes / 2 : 1 << 20;
  if (facts.l2Bytes > most)
    facts.blockBytes = most;
  facts.hasF16 = features.has("f16c");
  facts.hasScale = wide; // vscalefps
  facts.hasFma = features.has("fma");
  facts.hasPermute = features.has("avx2"); // vpermps
  return facts;
}

uint64_t requiredFeatures(const Features &features) {
  uint64_t mask = 0;
#define X(bit, name) mask |= features.has(name) ? uint64_t(1) << bit : 0;
  ONNXC_X86_FEATURES(X)
#undef X
  return mask;
}

// Loops that begin elsewhere took up to 1.2 times as long on Zen 5, whole
// networks of them.
constexpr unsigned loopAlignment = 32;

void initialize() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeX86AsmParser();
}

} // namespace

extern const TargetBackend targetX86 = {"x86",
                                        accepts,
                                        defaultCpu,
                                        facts,
                                        ONNXC_MACHINE_X86_64,
                                        requiredFeatures,
                                        loopAlignment,
                                        initialize};

} // namespace onnxc
