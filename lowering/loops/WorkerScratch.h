// Scratch of kernels that tasks share: each worker's own.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace onnxc {

// Bytes that a function of a kernel needs for its scratch, as far as they are
// known; 0 where it has none, nothing where not all calls give it places in the
// arena.
std::optional<int64_t> scratchBytes(mlir::func::FuncOp function,
                                    llvm::ArrayRef<mlir::func::CallOp> calls);

// Whether the size of some of it is a formula, @model_worker_bytes.
bool hasScratchOfAnySize(mlir::func::FuncOp function);

// In place of its scratch the function gets the arena, offsets of it, which are
// the first worker's, and sizes that are not known; worker w has as many bytes
// that end w - 1 times as many before the arena. `worker` is an argument of the
// function.
void giveScratchToWorkers(mlir::func::FuncOp function,
                          llvm::ArrayRef<mlir::func::CallOp> calls,
                          mlir::Value worker);

} // namespace onnxc
