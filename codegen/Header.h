// The C header of a compiled model: C11 and C++17, no name of the model's in
// it.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace onnxc {

// From the attributes that emit-model-descriptor leaves on the module.
std::string headerFor(mlir::ModuleOp module, llvm::StringRef prefix);

// A C identifier from the stem of a file: "resnet-50" becomes "resnet_50".
std::string prefixFrom(llvm::StringRef stem);

// Whether symbols with this prefix would be those of model.h or runtime.h.
bool isOwnPrefix(llvm::StringRef prefix);

} // namespace onnxc
