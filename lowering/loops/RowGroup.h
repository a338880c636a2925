// What form-row-kernels puts into one kernel.
#pragma once
#include "dialects/onnxc/Onnxc.h"
#include "lowering/loops/RowMemory.h"
#include "lowering/loops/RowTiles.h"
#include "llvm/ADT/SetVector.h"

namespace onnxc {

struct RowGroup {
  llvm::SmallVector<int64_t> outer;       // sizes
  llvm::SetVector<mlir::Operation *> ops; // generics, and kernels of products
  int64_t tile = 1;                       // rows
  llvm::SmallVector<KernelOp> products;
  llvm::SmallBitVector shares; // the outer loops along which they share
  int64_t mostRows = std::numeric_limits<int64_t>::max(); // that fit the stack
  int64_t leastRows = 1; // that take as long as what they share is fetched
  int64_t mostTileBytes = mostStackBytes; // in memory of the kernel's own

  unsigned tiled() const { return tiledLoop(outer, shares); }
};

// Makes a kernel of the group's operations, in their place.
void outlineRows(const RowGroup &group, TargetAttr target);

} // namespace onnxc
