// Functions whose instructions LLVM's scheduler leaves where they are.
#pragma once
#include "llvm/CodeGen/TargetPassConfig.h"

namespace onnxc {

// Those with `orderedAttrName`, before registers are allocated.
void keepOrderedCode(llvm::TargetPassConfig &config);

} // namespace onnxc
