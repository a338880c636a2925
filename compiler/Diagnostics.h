// MLIR's diagnostics in the user's words:
// "model.onnx: node 'conv1' (Conv): error: message".
#pragma once
#include "compiler/Options.h"
#include "mlir/IR/Diagnostics.h"

namespace onnxc {

// While it lives, every diagnostic of the context is printed by it. An error
// that says "not supported" means exit code 3, any other one 1.
class Diagnostics {
public:
  Diagnostics(mlir::MLIRContext *context, std::string file);
  Exit exit() const { return worst; }

  // What compiling went wrong with outside of MLIR; always returns failure.
  llvm::LogicalResult error(const llvm::Twine &message,
                            Exit code = Exit::BadInput);

private:
  void print(mlir::Diagnostic &diagnostic);
  void raise(Exit code);

  std::string file;
  Exit worst = Exit::Ok;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace onnxc
