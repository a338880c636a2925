#include "lowering/graph/Elementwise.h"

using namespace mlir;

namespace onnxc {

bool isElementwise(ScalarOpInterface op, int64_t rank) {
  if (isa<PositionOp>(*op) || op->getNumResults() != 1)
    return false;
  return llvm::all_of(llvm::enumerate(op->getOperandTypes()), [&](auto each) {
    auto type = dyn_cast<RankedTensorType>(each.value());
    if (!type || type.getRank() > rank)
      return false;
    int64_t own = type.getRank();
    for (int64_t dim = 0; dim < own; ++dim)
      if (op.block(each.index(), dim, own) != 1)
        return false;
    return !own || op.firstDim(each.index(), own, rank) == rank - own;
  });
}

} // namespace onnxc
