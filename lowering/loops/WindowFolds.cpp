#include "lowering/loops/WindowFolds.h"
#include "lowering/loops/PixelFolds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace onnxc {

// Whether the body takes one element of the operand in, and does no more.
static bool takesIn(linalg::GenericOp op, OpOperand *operand) {
  Operation *update =
      op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!update || update->getNumOperands() != 2 ||
      !arith::getNeutralElement(update))
    return false;
  auto isOperand = [&](BlockArgument argument) {
    return llvm::is_contained(update->getOperands(), argument);
  };
  return isOperand(op.getMatchingBlockArgument(operand)) &&
         isOperand(op.getRegionOutputArgs()[0]);
}

// The size of windows that cut a dimension without gaps, which `index` walks
// by loops over windows and in them; nothing where they do not.
static std::optional<int64_t> windowOf(AffineExpr index, unsigned outer,
                                       linalg::GenericOp op) {
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    MLIRContext *context = op.getContext();
    int64_t size = op.getStaticLoopRanges()[loop];
    AffineExpr within = getAffineDimExpr(loop, context);
    if (kind == utils::IteratorType::reduction && size > 1 &&
        index == getAffineDimExpr(outer, context) * size + within)
      return size;
  }
  return std::nullopt;
}

FailureOr<WindowFold> matchWindowFold(linalg::GenericOp op) {
  if (op.getNumLoops() != 6 || op.getNumReductionLoops() != 2 ||
      op.getNumDpsInits() != 1 || !hasVectorForm(op))
    return failure();
  auto isRead = [&](OpOperand *input) {
    return op.payloadUsesValueFromOperand(input);
  };
  SmallVector<OpOperand *> inputs = op.getDpsInputOperands();
  OpOperand **image = llvm::find_if(inputs, isRead);
  AffineMap output = op.getIndexingMapsArray().back();
  if (llvm::count_if(inputs, isRead) != 1 || !takesIn(op, *image) ||
      !output.isProjectedPermutation() || output.getNumResults() != 4)
    return failure();
  AffineMap map = op.getMatchingIndexingMap(*image);
  auto loop = [&](unsigned dim) { return output.getDimPosition(dim); };
  auto isPlain = [&](unsigned dim) {
    return map.getResult(dim) == output.getResult(dim);
  };
  if (map.getNumResults() != 4 || !isPlain(0) || !isPlain(3))
    return failure();
  std::optional<int64_t> rows = windowOf(map.getResult(1), loop(1), op),
                         columns = windowOf(map.getResult(2), loop(2), op);
  if (!rows || !columns)
    return failure();
  return WindowFold{op,      *image,  loop(0), loop(1),
                    loop(2), loop(3), *rows,   *columns};
}

FailureOr<WindowFold> matchRowFold(linalg::GenericOp op) {
  if (!foldsColumns(op) || op.getNumReductionLoops() != 1)
    return failure();
  OpOperand *image = op.getDpsInputOperand(0);
  AffineMap map = op.getMatchingIndexingMap(image);
  auto loop = [&](unsigned dim) { return map.getDimPosition(dim); };
  return WindowFold{op,         image,        loop(0),
                    loop(1),    loop(2),      loop(3),
                    /*rows=*/1, /*columns=*/0};
}

} // namespace onnxc
