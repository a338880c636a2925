// Kernels that run row by row: softmax, normalizations.
#pragma once
#include "dialects/onnxc/Onnxc.h"
#include "lowering/loops/EmitNest.h"

namespace onnxc {

// The schedule is a dictionary {rows = n}: the first n loops of all operations
// of the body are the same, a row is what the others walk.
inline constexpr llvm::StringLiteral rowsName = "rows";
std::optional<int64_t> rowsOf(KernelOp kernel);

// `arguments` are the kernel's operands in a function of its own.
llvm::LogicalResult emitRows(mlir::ImplicitLocOpBuilder &b, KernelOp kernel,
                             mlir::ValueRange arguments);

} // namespace onnxc
