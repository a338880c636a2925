// One machine to generate code for: a target, a CPU and its features.
#pragma once
#include "codegen/Target.h"
#include "dialects/onnxc/Onnxc.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>

namespace onnxc {

// What the command line says of the machine; empty means the default.
struct MachineRequest {
  std::string triple;   // this host
  std::string cpu;      // "native" asks this host
  std::string features; // "+avx2,-fma"
};

// The facts for `#onnxc.target`; fails for a triple or CPU that nobody knows.
llvm::Expected<TargetAttr> targetAttrFor(mlir::MLIRContext *context,
                                         const MachineRequest &request);

// LLVM's view of the machine that the attribute names.
struct Machine {
  const TargetBackend *backend;
  std::unique_ptr<llvm::TargetMachine> llvm;
  uint64_t requiredFeatures;
};
llvm::Expected<Machine> machineFor(TargetAttr target, unsigned level);

} // namespace onnxc
