// The stages of a compilation, in order. Read Pipeline.cpp first.
#pragma once
#include "compiler/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace onnxc {

struct Stage {
  llvm::StringRef name;
  // Null for the two stages that are no passes: reading and writing.
  void (*add)(mlir::OpPassManager &pm, const Options &options);
  llvm::StringRef leaves; // what the IR looks like when the stage is done
  // Whether an operation may be in that IR; null for the last stage.
  bool (*allows)(mlir::Operation *op);
};

llvm::ArrayRef<Stage> pipeline();
// The position in pipeline(), or nothing for an unknown name.
std::optional<size_t> stageIndex(llvm::StringRef name);

// All passes by name, for the flags of MLIR that take one.
void registerPasses();

// Reports the first operation that breaks the promise of a stage.
llvm::LogicalResult verifyStage(const Stage &stage, mlir::ModuleOp module);

} // namespace onnxc
