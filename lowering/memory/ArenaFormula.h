// The offsets of a StackedPlan and the size of its arena as code: run at entry
// by the model, and before the call by whoever provides the arena.
#pragma once
#include "lowering/memory/ArenaPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace onnxc {

inline constexpr uint64_t arenaAlignment = 64;

int64_t elementBytes(mlir::MemRefType type);

// The size of the buffer if every symbol were `hint`.
uint64_t hintBytes(mlir::memref::AllocOp alloc, int64_t hint);

// At the start of the model, where the arena is known to be large enough: plain
// arithmetic.
llvm::SmallVector<mlir::Value>
emitOffsets(mlir::func::FuncOp model, const StackedPlan &plan,
            llvm::ArrayRef<mlir::memref::AllocOp> allocs);

// @model_arena_bytes(symbols): the size of the arena; the largest index where
// it, a size on the way to it or a symbol is none that an index can hold.
void emitArenaBytes(mlir::func::FuncOp model, const StackedPlan &plan,
                    llvm::ArrayRef<mlir::memref::AllocOp> allocs);

// @model_worker_bytes(symbols): the scratch of the kernel that has most, where
// the size of some is no constant; no function where there is none.
void emitWorkerBytes(mlir::func::FuncOp model);

} // namespace onnxc
