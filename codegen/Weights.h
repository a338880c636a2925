// The weights never become LLVM constants: that would hold them several times
// in memory. The object gets a section of zeros, and the bytes are written over
// it.
#pragma once
#include "dialects/onnxc/Onnxc.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace onnxc {

// Streams all weights; gaps are zero.
llvm::Error writeWeights(mlir::ModuleOp module, llvm::raw_ostream &stream);

struct WeightsSection {
  std::string name;
  bool isLarge; // may lie more than 2 GB from the code
};
WeightsSection weightsSection(const llvm::Triple &triple,
                              llvm::StringRef prefix, uint64_t bytes,
                              uint64_t largestNearBytes);

// Defines `symbol` in the section, as zeros or as the contents of a file.
void defineWeights(llvm::Module &module, const WeightsSection &section,
                   llvm::StringRef symbol, uint64_t bytes,
                   llvm::StringRef includedFile);

// Writes the weights over the section's zeros in the object file at `path`.
llvm::Error patchWeights(mlir::ModuleOp module, const WeightsSection &section,
                         llvm::StringRef path);

} // namespace onnxc
