// One file in codegen/targets/ fills one of these for a family of machines.
#pragma once
#include "llvm/Support/Error.h"
#include "llvm/TargetParser/Triple.h"
#include <cstdint>
#include <string>

namespace onnxc {

// What #onnxc.target says of the machine, without the names.
struct MachineFacts {
  int64_t vectorBits = 0;
  int64_t vectorRegisters = 0;
  int64_t fmaPerCycle = 1;
  int64_t l1Bytes = 0;
  int64_t l2Bytes = 0;
  int64_t l3Bytes = 0;             // of a group of cores; 0: not known
  int64_t blockBytes = 0;          // of L2, that kernels count on; 0: all of it
  int64_t l2BytesPerCycle = 64;    // into L1, at most
  int64_t l3BytesPerCycle = 8;     // to one core
  int64_t memoryBytesPerCycle = 8; // to one core
  int64_t streamBytes = 0; // results of as many go past the caches; 0: none
  bool heap = true;
  bool hasF16 = false;
  bool hasScale = false;
  bool hasFma = false;
  bool hasPermute = false;
};

// The features that are on for a CPU, by LLVM's names.
class Features {
public:
  virtual bool has(llvm::StringRef feature) const = 0;

protected:
  ~Features() = default;
};

struct TargetBackend {
  llvm::StringLiteral name;
  bool (*accepts)(const llvm::Triple &triple);
  // What `--target` alone means.
  std::string (*defaultCpu)(const llvm::Triple &triple);
  MachineFacts (*facts)(llvm::StringRef cpu, const Features &features);
  // For onnxc_model: ELF's machine number and the bit of each feature that the
  // code needs of the CPU, from the list in onnxc/model.h.
  uint32_t machine;
  uint64_t (*requiredFeatures)(const Features &features);
  // Bytes to which loops are aligned; 0 leaves it to LLVM.
  unsigned loopAlignment;
  void (*initialize)(); // registers LLVM's part
};

// Null where no target accepts the triple.
const TargetBackend *findTarget(const llvm::Triple &triple);

} // namespace onnxc
