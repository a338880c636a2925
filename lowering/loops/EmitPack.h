// Copies an operand whose columns lie apart into panels of columns.
#pragma once
#include "dialects/onnxc/Onnxc.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxc {

// `arguments` are the kernel's operands in a function of its own.
llvm::LogicalResult emitPack(mlir::ImplicitLocOpBuilder &b, KernelOp kernel,
                             mlir::ValueRange arguments);

} // namespace onnxc
