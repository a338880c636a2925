#include "lowering/loops/Strassen.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/PointProducts.h"
#include "lowering/loops/RegisterTile.h"
#include "lowering/loops/RowTiles.h"

using namespace mlir;

namespace onnxc {

// It is a little less exact, and its matrix larger, so it must be worth it.
static constexpr double leastGain = 1.05;

// Pairs of a block where only the run knows how many there are: tasks share
// blocks.
static constexpr int64_t pairsOfRun = 16;

// What the sums of a pair of rows cost for a vector of half the sum, and of
// half the columns, in cycles of a core with one multiply-add per cycle.
static constexpr double inputCost = 30, outputCost = 32;

FailureOr<ConstantProduct> matchConstantProduct(linalg::GenericOp root) {
  if (root.getNumDpsInputs() != 2 || root.getNumDpsInits() != 1 ||
      !isMultiplyAdd(root))
    return failure();
  FailureOr<LoopRoles> roles = inferLoopRoles(root);
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  if (failed(roles))
    return failure();
  ConstantProduct product{};
  product.root = root;
  product.column = roles->vector;
  SmallVector<unsigned> sums = llvm::to_vector(llvm::make_filter_range(
      roles->reductions, [&](unsigned loop) { return extents[loop] != 1; }));
  auto isEven = [&](unsigned loop) {
    return !ShapedType::isDynamic(extents[loop]) && extents[loop] % 2 == 0;
  };
  if (sums.size() != 1 || !isEven(sums.front()) ||
      ShapedType::isDynamic(extents[product.column]))
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
      !matrix.isProjectedPermutation() ||
      !matrix.isFunctionOfDim(product.summed) ||
      !result.isProjectedPermutation())
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

// How many rows a choice is for where only the run knows. Images would take
// code for both numbers of rows, and behind a mesh few rows read lines. Where
// the matrix is small or caches keep it from run to run, few rows take longer:
// two by 256 x 256 1.25 times, one by 1024 x 1024 1.45 times as long.
static std::optional<int64_t> typicalRows(const ConstantProduct &product,
                                          TargetAttr target,
                                          int64_t bytesOfModel) {
  constexpr int64_t usualRows = 64;
  if (product.rows())
    return product.rows();
  constexpr size_t mostLoops = 2; // batch and sequence
  int64_t bytes =
      4 * product.extent(product.summed) * product.extent(product.column);
  // Where the last cache is not known, it is taken for a usual one.
  int64_t kept =
      target.getL3Bytes() ? target.getL3Bytes() : 8 * target.getL2Bytes();
  if (product.pixels.size() > mostLoops || isFarFromMemory(target) ||
      bytes < target.getL2Bytes() / 2 || bytesOfModel <= kept)
    return std::nullopt;
  return usualRows;
}

// Pairs of a block; fewer where their sums and products are more than L2 keeps
// of them, none where that is hardly one. Two workers do half of the blocks
// each: 784 rows in eight blocks instead of seven took two cores of Emerald
// Rapids 0.87 to 0.92 of the time, and one 1.0 to 1.03; BERT's 128 rows in two
// instead of one, whose steps workers share, two cores of Zen 4 0.87, and one
// 1.01. Behind a mesh a large matrix comes through it for each block: ViT-B's
// 197 rows in one instead of two took Granite Rapids 0.94, and two cores 1.02;
// by a matrix of four megabytes one core 0.98 to 1.04, two cores 1.15 to 1.26.
static int64_t pairsOfBlock(const ConstantProduct &product,
                            const PointProducts &products, TargetAttr target) {
  constexpr int64_t leastPairs = 8, timesL2 = 4;
  int64_t bytes = 4 * products.points * (products.inputs + products.outputs),
          inL2 = timesL2 * target.getL2Bytes() / bytes,
          most = std::min(product.rows() ? mostPairs : pairsOfRun, inL2);
  if (!product.rows())
    return most < leastPairs ? 0 : most;
  int64_t matrixBytes =
      4 * products.points * products.inputs * products.outputs;
  if (isFarFromMemory(target) && matrixBytes > timesL2 * target.getL2Bytes() &&
      product.pairs() > most &&
      product.pairs() <= std::min(mostPairsAtOnce, inL2))
    return product.pairs();
  if (most < std::min(leastPairs, product.pairs()))
    return 0;
  int64_t blocks = llvm::divideCeil(product.pairs(), most);
  if (product.pairs() >= 2 * leastPairs)
    blocks += blocks % 2;
  return llvm::divideCeil(product.pairs(), blocks);
}

StrassenAttr chooseStrassen(const ConstantProduct &product, TargetAttr target,
                            int64_t bytesOfModel) {
  if (!target || !target.getHeap() || target.getVectorBits() < 128)
    return {};
  int64_t lanes = target.getVectorBits() / 32,
          columns = product.extent(product.column),
          summed = product.extent(product.summed);
  std::optional<int64_t> rows = typicalRows(product, target, bytesOfModel);
  if (!rows || *rows < 2 || columns < 2 * lanes || summed < 2 * lanes)
    return {};
  double pairs = llvm::divideCeil(*rows, 2);
  PointProducts products{StrassenAttr::points, summed / 2,
                         StrassenAttr::halfOf(columns, lanes)};
  double perCycle = lanes * target.getFmaPerCycle();
  int64_t block = pairsOfBlock(product, products, target);
  if (!block)
    return {};
  // Beside the multiplications, the matrix comes from memory. One that L3 does
  // not hold comes again for each block, and about half of that is waiting: by
  // 512 x 32128, 20 to 40 rows in quarters took 1.2 to 1.8 times as long.
  // Behind a mesh that is so where L2 does not hold it, and it takes half as
  // long again beside multiplications: on Granite Rapids BERT took 1.32 times
  // as long with blocks of 32 pairs, ViT-B 1.08 with 50, and Whisper 0.98
  // with 63.
  auto cyclesOf = [&](double elements, double rows, double blocks) {
    double work = rows * elements / perCycle, bytes = 4 * elements,
           memory = bytes / target.getMemoryBytesPerCycle();
    if (isFarFromMemory(target))
      return std::max(
          work, bytes <= target.getL2Bytes() ? memory : 1.5 * blocks * memory);
    double waiting = bytes <= l3BytesOf(target) ? 0 : blocks * memory / 2;
    return std::max(work + waiting, memory);
  };
  double direct = cyclesOf(double(summed) * columns, *rows, 1),
         quartered = cyclesOf(double(products.points) * products.inputs *
                                  products.outputs,
                              pairs, std::ceil(pairs / block)),
         transforms =
             pairs *
             (products.inputs * inputCost + products.outputs * outputCost) /
             perCycle;
  if ((quartered + transforms) * leastGain > direct)
    return {};
  // Few rows of a run are tiles of the same code.
  int64_t atOnce = product.rows() ? block : mostExactRows;
  return StrassenAttr::get(target.getContext(), block,
                           scheduleOf(products, atOnce, target));
}

} // namespace onnxc
