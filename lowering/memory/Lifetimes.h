// When each buffer of a function holds a value, through all its aliases.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace onnxc {

// Every operation has a position where it begins and one where it ends; those
// of the operations inside lie between.
struct Positions {
  explicit Positions(mlir::func::FuncOp func);
  llvm::DenseMap<mlir::Operation *, int64_t> begin, end;
};

struct BufferLifetime {
  mlir::memref::AllocOp alloc;
  int64_t first, last; // positions in program order, inclusive
  // Carried to the next iteration of a loop that allocates it anew: two of them
  // live at once, so that it has no single place.
  bool outlivesIteration;
};

llvm::SmallVector<BufferLifetime> computeLifetimes(mlir::func::FuncOp func,
                                                   const Positions &positions);

} // namespace onnxc
