// MLIR's diagnostics in the user's words:
// "model.onnx: node 'conv1' (Conv): error: message".
#pragma once
#include "compiler/Options.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"

namespace onnxc {

struct Problem {
  std::string node, type, message; // of the node, as far as one is known
};

// What follows from an error is noise: only the first one is told, or the first
// of each node.
enum class Errors { First, OfEachNode };

// The code that an error's words mean.
Exit exitFor(llvm::StringRef message);

// While it lives, every diagnostic of the context is printed by it. An error
// that says "not supported" means exit code 3, "exceeds the budget" 4, any
// other one 1.
class Diagnostics {
public:
  Diagnostics(mlir::MLIRContext *context, std::string file, Errors told);
  Exit exit() const { return worst; }
  // Every error that was told.
  llvm::ArrayRef<Problem> problems() const { return errors; }

  // What compiling went wrong with outside of MLIR; always returns failure.
  llvm::LogicalResult error(const llvm::Twine &message,
                            Exit code = Exit::BadInput);
  // The same; its words choose the code, as those of diagnostics do.
  llvm::LogicalResult error(llvm::Error error);

private:
  void print(mlir::Diagnostic &diagnostic);
  bool record(Problem problem);
  void raise(Exit code);

  std::string file;
  Errors told;
  Exit worst = Exit::Ok;
  std::vector<Problem> errors;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace onnxc
