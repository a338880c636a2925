#include "lowering/memory/ChangeLayout.h"
#include "dialects/onnxc/Onnxc.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace onnxc {
namespace {

// Reads and writes elements by their indices, whatever the strides.
bool isAccess(Operation *op) {
  return isa<linalg::LinalgOp, KernelOp, memref::CopyOp, memref::LoadOp,
             memref::StoreOp, memref::DimOp>(op);
}

// The type of a view once its source has type `source`; null where such a view
// does not exist.
MemRefType viewType(Operation *view, MemRefType source) {
  if (auto part = dyn_cast<memref::SubViewOp>(view))
    return memref::SubViewOp::inferRankReducedResultType(
        part.getType().getShape(), source, part.getMixedOffsets(),
        part.getMixedSizes(), part.getMixedStrides());
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(view)) {
    FailureOr<MemRefType> type = memref::ExpandShapeOp::computeExpandedType(
        source, expand.getResultType().getShape(),
        expand.getReassociationIndices());
    return succeeded(type) ? *type : MemRefType();
  }
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(view)) {
    SmallVector<ReassociationIndices> groups =
        collapse.getReassociationIndices();
    return memref::CollapseShapeOp::isGuaranteedCollapsible(source, groups)
               ? memref::CollapseShapeOp::computeCollapsedType(source, groups)
               : MemRefType();
  }
  return {};
}

} // namespace

bool takesAnyLayout(Value buffer, MemRefType type) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    if (isAccess(user))
      return true;
    MemRefType view = viewType(user, type);
    return view && takesAnyLayout(user->getResult(0), view);
  });
}

void replaceBuffer(Value buffer, Value replacement) {
  auto type = cast<MemRefType>(replacement.getType());
  SmallVector<Operation *> users(buffer.getUsers());
  for (Operation *user : users) {
    user->replaceUsesOfWith(buffer, replacement);
    if (isAccess(user))
      continue;
    // Views of views: the result keeps its identity, its type changes.
    Value result = user->getResult(0);
    MemRefType view = viewType(user, type);
    result.setType(view);
    SmallVector<Operation *> inner(result.getUsers());
    if (!inner.empty())
      replaceBuffer(result, result);
  }
}

} // namespace onnxc
