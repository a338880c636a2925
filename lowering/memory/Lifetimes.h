// When each buffer of a function holds a value, through all its aliases.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace onnxc {

struct BufferLifetime {
  mlir::memref::AllocOp alloc;
  int64_t first, last; // positions in program order, inclusive
  // Carried to the next iteration of a loop that allocates it anew: two of them
  // live at once, so that it has no single place.
  bool outlivesIteration;
};

llvm::SmallVector<BufferLifetime> computeLifetimes(mlir::func::FuncOp func);

} // namespace onnxc
