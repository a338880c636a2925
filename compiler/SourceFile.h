// What a compilation reads: a model, or a text that some stage left.
#pragma once
#include "compiler/Diagnostics.h"
#include "compiler/import/Model.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"

namespace onnxc {

class SourceFile {
public:
  SourceFile(mlir::MLIRContext *context, const Options &options,
             Diagnostics &diagnostics)
      : context(context), options(options), diagnostics(diagnostics) {}

  // Reports through `diagnostics`.
  llvm::LogicalResult read();
  // Those that were read.
  std::vector<std::string> files() const;

  // Points into what the source holds.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  size_t stage = 0; // which left the module

private:
  llvm::LogicalResult checkOverrides(const ::onnx::GraphProto &graph);
  llvm::LogicalResult readText(llvm::StringRef bytes);
  llvm::LogicalResult checkText();
  llvm::LogicalResult readWire(llvm::StringRef bytes);

  mlir::MLIRContext *context;
  const Options &options;
  Diagnostics &diagnostics;
  std::unique_ptr<llvm::MemoryBuffer> input, weights;
  std::unique_ptr<Model> model;
};

} // namespace onnxc
