#include "lowering/loops/BehindViews.h"
#include "dialects/onnxc/Onnxc.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {

// Null for all that is no view.
static const char *whatItDoes(Operation *op) {
  if (isa<tensor::ExtractSliceOp>(op))
    return "a part of the result is taken in between";
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return "the result gets another shape in between";
  if (isa<linalg::TransposeOp>(op))
    return "the result gets another layout in between";
  return nullptr;
}

SmallVector<BehindView> readersBehindViews(Value value) {
  SmallVector<BehindView> readers;
  for (Operation *view : value.getUsers()) {
    const char *why = whatItDoes(view);
    if (!why || view->getOperand(0) != value)
      continue;
    for (Operation *reader : view->getResult(0).getUsers())
      if (!whatItDoes(reader) && isa<linalg::GenericOp, KernelOp>(reader))
        readers.push_back({reader, why});
    for (BehindView other : readersBehindViews(view->getResult(0)))
      readers.push_back({other.op, why});
  }
  return readers;
}

BehindView makerBehindViews(Value value) {
  const char *why = nullptr;
  Operation *maker = value.getDefiningOp();
  while (maker && whatItDoes(maker)) {
    why = whatItDoes(maker);
    maker = maker->getOperand(0).getDefiningOp();
  }
  bool isFound = why && isa_and_nonnull<linalg::GenericOp, KernelOp>(maker);
  return {isFound ? maker : nullptr, why};
}

} // namespace onnxc
