#include "lowering/loops/RowOperations.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace onnxc {

SetVector<Value> capturedBy(Operation *op) {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  return captured;
}

bool readsTensors(linalg::GenericOp op) {
  return llvm::any_of(capturedBy(op), [](Value value) {
    return isa<ShapedType>(value.getType());
  });
}

bool isContraction(linalg::GenericOp op) {
  return op.getNumReductionLoops() &&
         (linalg::isaContractionOpInterface(op) ||
          linalg::isaConvolutionOpInterface(op) ||
          !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
            return map.isProjectedPermutation(/*allowZeroInResults=*/true);
          }));
}

bool isByRows(AffineMap map, unsigned outer) {
  if (map.getNumResults() < outer)
    return false;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    if (i < outer && expr != getAffineDimExpr(i, map.getContext()))
      return false;
    if (i >= outer)
      for (unsigned dim = 0; dim < outer; ++dim)
        if (expr.isFunctionOfDim(dim))
          return false;
  }
  return true;
}

bool hasOuterLoops(linalg::GenericOp op, ArrayRef<int64_t> outer) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (sizes.size() < outer.size() ||
      ArrayRef(sizes).take_front(outer.size()) != outer)
    return false;
  for (unsigned loop = 0; loop < outer.size(); ++loop)
    if (op.getIteratorTypesArray()[loop] != utils::IteratorType::parallel)
      return false;
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return isByRows(op.getMatchingIndexingMap(&init), outer.size());
  });
}

bool hasDenseRows(linalg::GenericOp op, ArrayRef<int64_t> outer) {
  return llvm::none_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    if (map.getNumResults() <= outer.size())
      return false;
    AffineExpr last = map.getResults().back();
    for (auto [loop, size] : llvm::enumerate(outer))
      if (size != 1 && last.isFunctionOfDim(loop))
        return true;
    return false;
  });
}

static bool isFill(Value value) {
  return value.getDefiningOp<linalg::FillOp>() != nullptr;
}

bool startsAnew(linalg::GenericOp op) {
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return isFill(init.get()) || !op.payloadUsesValueFromOperand(&init);
  });
}

bool readsNothing(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputs(), [](Value input) {
    return input.getDefiningOp<tensor::EmptyOp>() != nullptr;
  });
}

int64_t rowBytes(Value value, unsigned outer) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  auto type = cast<RankedTensorType>(value.getType());
  uint64_t bytes = std::max(type.getElementTypeBitWidth() / 8, 1u);
  for (int64_t size : type.getShape().drop_front(outer)) {
    if (ShapedType::isDynamic(size))
      return most;
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, size);
  }
  return std::min<uint64_t>(bytes, most);
}

} // namespace onnxc
