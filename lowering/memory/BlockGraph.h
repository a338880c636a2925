// What has to run before what in a block of operations on tensors, and what
// memory they will touch.
#pragma once
#include "lowering/memory/RunOrder.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace onnxc {

struct BlockGraph {
  RunGraph graph;
  // Of every step: one, and in front of it what begins memory for it alone.
  std::vector<llvm::SmallVector<mlir::Operation *>> operations;
};

// `inside` is what operations with blocks of their own take there. Sizes that
// the run alone knows count as `hint`.
BlockGraph graphOf(mlir::Block &block, int64_t hint,
                   const llvm::DenseMap<mlir::Operation *, uint64_t> &inside);

} // namespace onnxc
