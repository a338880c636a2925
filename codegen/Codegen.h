// LLVM-stage module in, bytes for one machine out.
#pragma once
#include "dialects/onnxc/Onnxc.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <string>

namespace onnxc {

enum class Form { Object, Assembly, Llvm, Bitcode, SharedObject, Archive };

struct EmitOptions {
  std::string prefix; // of all exported symbols, a C identifier
  Form form = Form::Object;
  unsigned level = 3;   // -O
  bool isSmall = false; // -Os
  // Where the weights go instead of into the object, and how the descriptor
  // names that file (relative to the object's). Text and bitcode that carry
  // weights put them into this file, too: "model.s" next to "model.s.weights".
  std::string weightsPath;
  std::string weightsName;
  // Whether the object is complete without `weightsPath`.
  bool keepsWeightsOutside = false;
  // More weights than this go to a section that the linker may put far away
  // from the code; nearer ones would push it apart.
  uint64_t largestNearBytes = uint64_t(1) << 30;
};

struct Emitted {
  uint64_t codeBytes = 0; // of loaded sections, without the weights
  uint64_t weightsBytes = 0;
};

// Writes `path`; the same input gives the same bytes. Nothing is left of `path`
// after a failure that could be mistaken for an object.
llvm::Expected<Emitted> emit(mlir::ModuleOp module, const EmitOptions &options,
                             llvm::StringRef path);

// Sets what LLVM has only flags of its own for; call before a program forgets
// or parses flags.
void setFlagsOfLlvm();

// The dialect interfaces that translation needs; call before parsing a module.
void registerTranslations(mlir::DialectRegistry &registry);

} // namespace onnxc
