#include "compiler/report/Apart.h"
#include "compiler/report/Work.h"
#include "dialects/onnxc/Onnxc.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace onnxc {
namespace {

// Sums of squares in a kernel of rows are folds.
bool isProduct(linalg::GenericOp op) {
  auto kernel = op->getParentOfType<KernelOp>();
  return isSumOfProducts(op) &&
         !(kernel && isa<RowsAttr>(kernel.getSchedule()));
}

bool isContraction(Operation *region) {
  return region
      ->walk([](linalg::GenericOp op) {
        return isProduct(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool isMovement(Operation *region) {
  auto op = dyn_cast<linalg::GenericOp>(region);
  auto kernel = dyn_cast<KernelOp>(region);
  return (op && !op.getNumReductionLoops() &&
          op.getBody()->without_terminator().empty()) ||
         (kernel && isa<SquaresAttr>(kernel.getSchedule()));
}

// Whether `op` multiplies elements of `value`, or a kernel does, also of what
// padding, packing and other movements make of it.
bool multiplies(Operation *op, Value value) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return isProduct(generic) &&
           llvm::is_contained(generic.getDpsInputs(), value);
  auto reach = [](Value inner) {
    return llvm::any_of(inner.getUsers(), [&](Operation *user) {
      return multiplies(user, inner);
    });
  };
  if (auto kernel = dyn_cast<KernelOp>(op))
    return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
      return operand.get() == value && reach(kernel.getBodyBlock()->getArgument(
                                           operand.getOperandNumber()));
    });
  return llvm::any_of(op->getResults(), reach);
}

} // namespace

const char *whyApart(Operation *maker, Value made, Operation *reader,
                     Value read, bool hasOthers) {
  if (maker->getBlock() != reader->getBlock())
    return "a loop or a choice lies between";
  if (isa<linalg::FillOp>(maker))
    return "it fills what the other one adds to or pads with";
  for (Operation *region : {maker, reader})
    if (isa<LoopLikeOpInterface>(region))
      return "one is a loop that has no specification";
  if (isa<memref::CopyOp, linalg::CopyOp>(reader))
    return "its result is copied to where others find it";
  if (isa<memref::CopyOp, linalg::CopyOp>(maker))
    return "the copy brings together what the other one reads as a whole";
  if (multiplies(reader, read))
    return isContraction(maker)
               ? "tiles of the one make parts of what each tile of the other "
                 "one sums"
               : "what is multiplied is read by many tiles and made once";
  if (made != read)
    return "a part or another shape of the result is read";
  if (isContraction(reader))
    return "it is an operand of what is around the other one's products";
  if (hasOthers)
    return "others read its result, too";
  return isMovement(reader) || isMovement(maker)
             ? "a change of order is a region of its own"
             : "no kernel has both";
}

} // namespace onnxc
