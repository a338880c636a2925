// Kernels that run row by row: softmax, normalizations, attention.
#pragma once
#include "dialects/onnxc/Onnxc.h"
#include "lowering/loops/EmitNest.h"

namespace onnxc {

// The sums of a row that is no longer take longer than all else that is done
// with it. So several such rows go through a body together.
constexpr int64_t mostShortRowBytes = 1024;

// `arguments` are the kernel's operands in a function of its own.
llvm::LogicalResult emitRows(mlir::ImplicitLocOpBuilder &b, KernelOp kernel,
                             mlir::ValueRange arguments);

} // namespace onnxc
