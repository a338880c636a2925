#include "lowering/tensor/TensorReads.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {

OpOperand *operandOf(linalg::GenericOp op, Value element) {
  auto argument = dyn_cast<BlockArgument>(element);
  bool isOwn = argument && argument.getOwner() == op.getBody();
  return isOwn ? op.getMatchingOpOperand(argument) : nullptr;
}

Value tensorOf(linalg::GenericOp op, Value element) {
  OpOperand *operand = operandOf(op, element);
  return operand ? operand->get() : Value();
}

bool isMovement(Operation *op, Value value) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
               tensor::ExtractSliceOp, linalg::TransposeOp, linalg::PackOp>(op);
  Operation *yield = generic.getBody()->getTerminator();
  return generic.getNumDpsInits() == 1 &&
         tensorOf(generic, yield->getOperand(0)) == value;
}

Value originOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (op->getNumOperands() == 0)
      return value;
    Value from = op->getOperand(0);
    bool isOnlyMoved =
        isMovement(op, from) && (!generic || generic.getNumDpsInputs() == 1);
    if (!isOnlyMoved && !onlyOp<arith::TruncFOp>(generic))
      return value;
    value = from;
  }
  return value;
}

bool isFactorOf(Operation *op, Value value) {
  auto sum = dyn_cast<linalg::GenericOp>(op);
  if (!sum || sum.getNumDpsInits() != 1 || sum.getDpsInits()[0] == value)
    return false;
  std::optional<Combiner> combiner = combinerOf(sum, 0);
  auto product = combiner && isa<arith::AddFOp>(combiner->op)
                     ? combiner->folded.getDefiningOp<arith::MulFOp>()
                     : arith::MulFOp();
  return product && llvm::all_of(sum.getDpsInputOperands(), [&](OpOperand *x) {
           return x->get() != value ||
                  llvm::all_of(
                      sum.getMatchingBlockArgument(x).getUsers(),
                      [&](Operation *user) { return user == product; });
         });
}

} // namespace onnxc
