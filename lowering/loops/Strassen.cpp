#include "lowering/loops/Strassen.h"
#include "lowering/loops/PointProducts.h"
#include "lowering/loops/RowTiles.h"

using namespace mlir;

namespace onnxc {

// It is a little less exact, and its matrix larger, so it must be worth it.
static constexpr double leastGain = 1.05;

// Of a block, whose sums and products L2 keeps for the most part, and which
// reads the matrix once: from 16 to 100 pairs took Zen 4 the same time.
static constexpr int64_t mostPairs = 64;

// What the sums of a pair of rows cost for a vector of half the sum, and of
// half the columns, in cycles of a core with one multiply-add per cycle.
static constexpr double inputCost = 22, outputCost = 30;

FailureOr<ConstantProduct> matchConstantProduct(linalg::GenericOp root) {
  if (root.getNumDpsInputs() != 2 || root.getNumDpsInits() != 1 ||
      !isMultiplyAdd(root))
    return failure();
  FailureOr<LoopRoles> roles = inferLoopRoles(root);
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  if (failed(roles) || llvm::is_contained(extents, ShapedType::kDynamic))
    return failure();
  ConstantProduct product{};
  product.root = root;
  product.column = roles->vector;
  SmallVector<unsigned> sums = llvm::to_vector(llvm::make_filter_range(
      roles->reductions, [&](unsigned loop) { return extents[loop] != 1; }));
  if (sums.size() != 1 || extents[sums.front()] % 2)
    return failure();
  product.summed = sums.front();
  for (OpOperand *input : root.getDpsInputOperands()) {
    bool isMatrix =
        root.getMatchingIndexingMap(input).isFunctionOfDim(product.column);
    (isMatrix ? product.matrix : product.left) = input;
    if (!getElementTypeOrSelf(input->get()).isF32())
      return failure();
  }
  if (!product.matrix || !product.left)
    return failure();
  AffineMap left = root.getMatchingIndexingMap(product.left),
            matrix = root.getMatchingIndexingMap(product.matrix),
            result = root.getIndexingMapsArray().back();
  AffineExpr sum = getAffineDimExpr(product.summed, root.getContext());
  if (left.getNumResults() == 0 || left.getResults().back() != sum ||
      left.dropResult(left.getNumResults() - 1)
          .isFunctionOfDim(product.summed) ||
      !matrix.isProjectedPermutation() || !result.isProjectedPermutation())
    return failure();
  for (AffineExpr index : result.getResults().drop_back())
    product.pixels.push_back(cast<AffineDimExpr>(index).getPosition());
  auto sharesMatrix = [&](unsigned loop) {
    return extents[loop] == 1 || !matrix.isFunctionOfDim(loop);
  };
  if (!llvm::all_of(product.pixels, sharesMatrix) ||
      product.pixels.size() + 1 != root.getNumParallelLoops())
    return failure();
  return product;
}

StrassenAttr chooseStrassen(const ConstantProduct &product, TargetAttr target) {
  if (!target || !target.getHeap() || target.getVectorBits() < 128)
    return {};
  int64_t lanes = target.getVectorBits() / 32, rows = product.rows(),
          columns = product.extent(product.column),
          summed = product.extent(product.summed);
  if (rows < 2 || columns < 2 * lanes || summed < 2 * lanes)
    return {};
  PointProducts products{StrassenAttr::points, summed / 2,
                         StrassenAttr::halfOf(columns, lanes)};
  double perCycle = lanes * target.getFmaPerCycle();
  // Beside the multiplications, the matrix comes from memory.
  auto cyclesOf = [&](double points, double rows, double elements) {
    return std::max(points * rows * elements / perCycle,
                    4 * points * elements / target.getMemoryBytesPerCycle());
  };
  double elements = double(products.inputs) * products.outputs,
         direct = cyclesOf(1, rows, double(summed) * columns),
         transforms =
             double(product.pairs()) *
             (products.inputs * inputCost + products.outputs * outputCost) /
             perCycle;
  double cycles =
      cyclesOf(products.points, product.pairs(), elements) + transforms;
  if (cycles * leastGain > direct)
    return {};
  int64_t pairs = balancedTiles(product.pairs(), mostPairs).front().rows;
  return StrassenAttr::get(target.getContext(), pairs,
                           scheduleOf(products, pairs, target));
}

} // namespace onnxc
