// Kernels that run row by row: softmax, normalizations, attention.
#pragma once
#include "dialects/onnxc/Onnxc.h"
#include "lowering/loops/EmitNest.h"

namespace onnxc {

// `arguments` are the kernel's operands in a function of its own.
llvm::LogicalResult emitRows(mlir::ImplicitLocOpBuilder &b, KernelOp kernel,
                             mlir::ValueRange arguments);

} // namespace onnxc
