// The form of @model in stage memory: inputs, outputs, then what the caller
// lends: the arena, the weights and the call itself.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace onnxc {

// The function that is the model, or null.
mlir::func::FuncOp findModel(mlir::ModuleOp module);

// Whether `value` is an argument whose sizes are the caller's choice: no output
// and nothing that is lent.
bool isInput(mlir::Value value);

// The name of a symbolic dimension of an argument; where the model has none,
// one that belongs to this argument and dimension alone.
std::string symbolOf(mlir::BlockArgument input, int64_t dim);

struct LentMemory {
  mlir::Value arena, weights, call;
};

void addLentMemory(mlir::func::FuncOp model);

// Fails with a diagnostic where `addLentMemory` did not run.
llvm::FailureOr<LentMemory> lentMemory(mlir::func::FuncOp model);

} // namespace onnxc
