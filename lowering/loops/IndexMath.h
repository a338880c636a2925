// Arithmetic on indices that may be known: numbers fold while the code is
// built, values become arith operations.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpDefinition.h"

namespace onnxc {

mlir::OpFoldResult add(mlir::ImplicitLocOpBuilder &b, mlir::OpFoldResult lhs,
                       mlir::OpFoldResult rhs);
mlir::OpFoldResult subtract(mlir::ImplicitLocOpBuilder &b,
                            mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
mlir::OpFoldResult multiply(mlir::ImplicitLocOpBuilder &b,
                            mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
mlir::OpFoldResult floorDivide(mlir::ImplicitLocOpBuilder &b,
                               mlir::OpFoldResult lhs, int64_t rhs);
// For lhs >= 0, rhs > 0.
mlir::OpFoldResult ceilDivide(mlir::ImplicitLocOpBuilder &b,
                              mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
mlir::OpFoldResult minimum(mlir::ImplicitLocOpBuilder &b,
                           mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
mlir::OpFoldResult maximum(mlir::ImplicitLocOpBuilder &b,
                           mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);

// The index as an operand.
mlir::Value asValue(mlir::ImplicitLocOpBuilder &b, mlir::OpFoldResult index);

// 0, stride, 2 * stride, ...: how far elements of a vector lie behind the
// first.
mlir::Value laneOffsets(mlir::ImplicitLocOpBuilder &b, int64_t lanes,
                        mlir::OpFoldResult stride);

// A mask of the first `count` lanes, a constant where the count is known.
mlir::Value firstLanes(mlir::ImplicitLocOpBuilder &b, int64_t lanes,
                       mlir::OpFoldResult count);

inline mlir::OpFoldResult number(mlir::ImplicitLocOpBuilder &b, int64_t value) {
  return b.getIndexAttr(value);
}

} // namespace onnxc
