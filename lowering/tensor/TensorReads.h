// How operations on tensors read them: element by element, as factors of sums,
// or only to move them.
#pragma once
#include "lowering/loops/LaneBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace onnxc {

// The operation that makes what `op` yields of its elements.
template <typename... OpTs>
mlir::Operation *onlyOp(mlir::linalg::GenericOp op) {
  if (!op || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0)
    return nullptr;
  mlir::Block *body = op.getBody();
  mlir::Operation *result =
      body->getTerminator()->getOperand(0).getDefiningOp();
  bool isOnly =
      result && llvm::hasNItems(*body, 2) && mlir::isa<OpTs...>(result);
  return isOnly ? result : nullptr;
}

// What the body sees an element of as `element`; null if nothing.
mlir::OpOperand *operandOf(mlir::linalg::GenericOp op, mlir::Value element);
mlir::Value tensorOf(mlir::linalg::GenericOp op, mlir::Value element);

// Whether `op` only moves elements of `value`.
bool isMovement(mlir::Operation *op, mlir::Value value);

// What `value` is a repetition, another shape or the rounded value of.
mlir::Value originOf(mlir::Value value);

// The reduction of `tensor` that `value` is, in some shape and maybe of more
// bits; null if it is none.
template <typename OpT>
mlir::linalg::GenericOp reductionOf(mlir::Value value, mlir::Value tensor) {
  auto op = originOf(value).getDefiningOp<mlir::linalg::GenericOp>();
  if (!op || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return nullptr;
  std::optional<Combiner> combiner = combinerOf(op, 0);
  if (!combiner || !mlir::isa<OpT>(combiner->op))
    return nullptr;
  auto widened = combiner->folded.template getDefiningOp<mlir::arith::ExtFOp>();
  mlir::Value folded = widened ? widened.getIn() : combiner->folded;
  return tensorOf(op, folded) == tensor ? op : nullptr;
}

// Whether `op` sums products of elements of `value`, and reads it for nothing
// else.
bool isFactorOf(mlir::Operation *op, mlir::Value value);

} // namespace onnxc
