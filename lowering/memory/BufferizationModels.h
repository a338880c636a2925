// Who can be bufferized. The one place that knows: upstream keeps these models
// apart from their dialects.
#pragma once
#include "mlir/IR/DialectRegistry.h"

namespace onnxc {

void registerBufferizationModels(mlir::DialectRegistry &registry);

} // namespace onnxc
