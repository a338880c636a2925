// Vectors whose elements change places, by shuffles of two vectors at a time.
#pragma once
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxc {

// Element e of the result, counted over its vectors, is element from[e] of
// `vectors`. All have as many lanes.
llvm::SmallVector<mlir::Value> rearranged(mlir::ImplicitLocOpBuilder &b,
                                          llvm::ArrayRef<mlir::Value> vectors,
                                          llvm::ArrayRef<int64_t> from);

// How many shuffles that takes.
int64_t shufflesToRearrange(int64_t vectors, int64_t lanes,
                            llvm::ArrayRef<int64_t> from);

// The square of as many vectors as they have lanes, turned.
llvm::SmallVector<mlir::Value> transposed(mlir::ImplicitLocOpBuilder &b,
                                          llvm::ArrayRef<mlir::Value> rows);

} // namespace onnxc
