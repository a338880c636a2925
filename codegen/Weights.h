// The weights never become LLVM constants: that would hold them several times
// in memory. The object gets a section of zeros, and the bytes are written over
// it.
#pragma once
#include "dialects/onnxc/Onnxc.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace onnxc {

uint64_t weightsBytes(mlir::ModuleOp module);

// Streams all weights; gaps are zero.
llvm::Error writeWeights(mlir::ModuleOp module, llvm::raw_ostream &stream);

// Defines `symbol` in its section, as zeros or as the contents of a file.
void defineWeights(llvm::Module &module, llvm::StringRef prefix,
                   llvm::StringRef symbol, uint64_t bytes,
                   llvm::StringRef includedFile);

// Writes the weights over the zeros of the object file at `path`.
llvm::Error patchWeights(mlir::ModuleOp module, llvm::StringRef prefix,
                         llvm::StringRef path);

} // namespace onnxc
