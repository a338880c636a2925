// Runs compiled code in this process: constant folding has no other evaluator.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm::orc {
class LLJIT;
}

namespace onnxc {

class Jit {
public:
  // `module` is in stage llvm's form and its target is this host. Code is made
  // quickly rather than well: it runs once.
  static llvm::Expected<std::unique_ptr<Jit>> create(mlir::ModuleOp module);
  ~Jit();

  // The address of "model_call" or another of the model's entries.
  llvm::Expected<void *> lookup(llvm::StringRef name);

private:
  Jit();
  std::unique_ptr<llvm::orc::LLJIT> jit;
  llvm::SmallVector<char, 0> weights;
};

} // namespace onnxc
