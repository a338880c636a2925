// The regions of a model in stage memory: what runs as a piece and is reported
// and measured as one.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace onnxc {

// Kernels, operations on buffers outside of kernels, and loops that hold
// neither, in program order. Their positions are their numbers.
llvm::SmallVector<mlir::Operation *> regionsOf(mlir::func::FuncOp model);

} // namespace onnxc
