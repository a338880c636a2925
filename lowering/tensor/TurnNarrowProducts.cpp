// Products whose vectors would be mostly empty, for there are few columns, or
// gathered, for columns are a batch. Written transposed, with vectors along
// what were rows, they take fewer steps; a move of the result, and of the
// matrix that is read along the vectors then, is the price.
#include "lowering/ConstantViews.h"
#include "lowering/Passes.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/RegisterTile.h"
#include "lowering/tensor/Transposed.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_TURNNARROWPRODUCTS
#include "lowering/Passes.h.inc"

namespace {

// The time that has to be left of what it was.
constexpr double worthwhile = 0.85;
// What an extent is taken for that is not known.
constexpr int64_t usual = 64;

struct Product {
  linalg::GenericOp root;
  SmallVector<int64_t> extents; // of its loops
  int64_t lanes, perCycle;      // of a multiply-add, of a core
  bool sumsAlongVectors;
};

std::optional<Product> matchProduct(linalg::GenericOp root, TargetAttr target) {
  FailureOr<LoopRoles> roles = inferLoopRoles(root);
  bool isPlain = root.hasPureTensorSemantics() && root.getNumDpsInputs() == 2 &&
                 llvm::all_of(root.getIndexingMapsArray(), [](AffineMap map) {
                   return map.isProjectedPermutation();
                 });
  if (failed(roles) || !isPlain || chooseAlongSum(root, *roles, target))
    return std::nullopt;
  Type element = getElementTypeOrSelf(root.getResult(0));
  Product product;
  product.root = root;
  product.extents = root.getStaticLoopRanges();
  product.lanes = target.getVectorBits() / element.getIntOrFloatBitWidth();
  product.perCycle = std::max<int64_t>(target.getFmaPerCycle(), 1);
  product.sumsAlongVectors = sumsAlongVectors(root, *roles, target);
  auto column = cast<AffineDimExpr>(
      root.getIndexingMapsArray().back().getResults().back());
  if (ShapedType::isDynamic(product.extents[column.getPosition()]))
    return std::nullopt;
  for (int64_t &extent : product.extents)
    if (ShapedType::isDynamic(extent))
      extent = usual;
  return product;
}

double elementsOf(const Product &product, AffineMap map) {
  double elements = 1;
  for (auto [loop, extent] : llvm::enumerate(product.extents))
    if (map.isFunctionOfDim(loop))
      elements *= extent;
  return elements;
}

// The inputs that move along a loop.
SmallVector<OpOperand *> inputsAlong(linalg::GenericOp root, unsigned loop) {
  return llvm::filter_to_vector(
      root.getDpsInputOperands(), [&](OpOperand *input) {
        return root.getMatchingIndexingMap(input).isFunctionOfDim(loop);
      });
}

// Cycles where vectors lie along `loop`, but for moves of the result. What they
// read whose elements lie apart there is moved once, or it is gathered in each
// step where nothing is shared by rows.
double cyclesAlong(const Product &product, unsigned loop) {
  linalg::GenericOp root = product.root;
  double steps = llvm::divideCeil(product.extents[loop], product.lanes);
  for (auto [other, extent] : llvm::enumerate(product.extents))
    if (other != loop)
      steps *= extent;
  double cycles = steps / product.perCycle;
  SmallVector<OpOperand *> inputs = inputsAlong(root, loop);
  for (OpOperand *input : inputs) {
    AffineMap map = root.getMatchingIndexingMap(input);
    if (map.getDimPosition(map.getNumResults() - 1) == loop)
      continue;
    if (inputs.size() > 1)
      cycles += steps * product.lanes / loadsPerCycle;
    else if (!constantBehind(input->get()))
      cycles += cyclesOfTranspose * elementsOf(product, map);
  }
  return cycles;
}

// Cycles of the product as it is. Where lanes lie along the sum, each element
// of the result loads two vectors for a multiplication, and folds them.
double cyclesNow(const Product &product) {
  constexpr double loads = 2, foldOfLanes = 5;
  linalg::GenericOp root = product.root;
  AffineMap output = root.getIndexingMapsArray().back();
  if (!product.sumsAlongVectors)
    return cyclesAlong(product,
                       output.getDimPosition(output.getNumResults() - 1));
  double steps = 1;
  int64_t sum = 1;
  for (auto [loop, kind] : llvm::enumerate(root.getIteratorTypesArray()))
    if (linalg::isReductionIterator(kind)) {
      steps *= sum;
      sum = product.extents[loop];
    }
  steps *= llvm::divideCeil(sum, product.lanes);
  return elementsOf(product, output) *
         (steps * loads / loadsPerCycle + foldOfLanes);
}

// The dimension of the result that vectors had better lie along, if it is not
// the last one.
std::optional<int64_t> betterDimension(const Product &product) {
  linalg::GenericOp root = product.root;
  AffineMap output = root.getIndexingMapsArray().back();
  int64_t last = output.getNumResults() - 1;
  double least = worthwhile * cyclesAlong(product, output.getDimPosition(last));
  std::optional<int64_t> best;
  for (int64_t dim = 0; dim < last; ++dim) {
    unsigned loop = output.getDimPosition(dim);
    if (inputsAlong(root, loop).size() != 1)
      continue;
    double cycles = cyclesAlong(product, loop) +
                    cyclesOfTranspose * elementsOf(product, output);
    if (cycles < least) {
      least = cycles;
      best = dim;
    }
  }
  return best;
}

// Writes the product with `dim` innermost, and what was so far before it.
void turn(linalg::GenericOp root, int64_t dim) {
  IRRewriter rewriter(root.getContext());
  int64_t rank = root.getIndexingMapsArray().back().getNumResults();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  order.erase(order.begin() + dim);
  order.push_back(dim);
  linalg::GenericOp turned = writtenTransposed(rewriter, root, order);
  if (!turned)
    return;
  rewriter.replaceOp(root,
                     transposed(rewriter, root.getLoc(), turned.getResult(0),
                                invertPermutationVector(order)));
}

struct TurnNarrowProducts : impl::TurnNarrowProductsBase<TurnNarrowProducts> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    if (!target || target.getVectorBits() == 0)
      return;
    SmallVector<std::pair<linalg::GenericOp, int64_t>> narrow;
    getOperation().walk([&](linalg::GenericOp root) {
      std::optional<Product> product = matchProduct(root, target);
      if (!product)
        return;
      if (std::optional<int64_t> dim = betterDimension(*product))
        narrow.push_back({root, *dim});
    });
    for (auto [root, dim] : narrow)
      turn(root, dim);
  }
};

} // namespace
} // namespace onnxc
