#include "lowering/loops/Extreme.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace onnxc {

Value asExtreme(ImplicitLocOpBuilder &b, Value value, Value before) {
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<VectorType>(value.getType());
  bool isLargest = isa_and_nonnull<arith::MaximumFOp>(op);
  if (!(isLargest || isa_and_nonnull<arith::MinimumFOp>(op)) || !type ||
      type.getNumElements() == 1 || type.getElementTypeBitWidth() < 32)
    return value;
  auto flags =
      LLVM::FastmathFlagsAttr::get(b.getContext(), LLVM::FastmathFlags::nsz);
  Value lhs = op->getOperand(0), rhs = op->getOperand(1), extreme;
  if (lhs == before)
    std::swap(lhs, rhs);
  if (isLargest)
    extreme = LLVM::MaximumOp::create(b, type, lhs, rhs, flags);
  else
    extreme = LLVM::MinimumOp::create(b, type, lhs, rhs, flags);
  op->erase();
  return extreme;
}

} // namespace onnxc
