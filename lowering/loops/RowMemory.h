// Where a tile of rows lies that a kernel makes for itself: on the stack or in
// the kernel's scratch of bytes, its last output.
#pragma once
#include "dialects/onnxc/Onnxc.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxc {

// The stack holds so much of a tile of rows.
constexpr int64_t mostStackBytes = 80 * 1024;

// Bytes of `tile` rows behind `outer` loops; the greatest number where a size
// is not known.
uint64_t tileBytes(mlir::Value value, unsigned outer, int64_t tile);

// Whether it is in memory of its own: not where it becomes another one in
// place.
bool hasOwnTile(mlir::Value value);

// Whether entry knows the sizes of what the operation makes: scratch of such a
// size has a place in the arena.
bool hasSizesOfEntry(mlir::Value value);

// Of what is no output of the kernel.
bool isInScratch(mlir::Value value, unsigned outer, int64_t tile);

// Its sizes: `tiled` is the loop whose rows it has.
llvm::SmallVector<mlir::OpFoldResult> sizesOfTile(mlir::ImplicitLocOpBuilder &b,
                                                  mlir::Value value,
                                                  unsigned outer,
                                                  unsigned tiled, int64_t tile);

// The room that a tile of such sizes takes in scratch. Rows begin with a line
// each: of 49 elements, one behind the other, scores with their softmax and
// products took 1.3 times as long.
llvm::SmallVector<mlir::OpFoldResult>
roomInScratch(mlir::ImplicitLocOpBuilder &b, mlir::Type element,
              llvm::SmallVector<mlir::OpFoldResult> sizes);
// Its bytes, whole lines.
mlir::OpFoldResult bytesOfRoom(mlir::ImplicitLocOpBuilder &b,
                               mlir::Type element,
                               llvm::ArrayRef<mlir::OpFoldResult> room);

} // namespace onnxc
