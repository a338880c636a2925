// Products and convolutions whose vectors would be mostly empty, for there are
// few columns, or gathered, for columns are a batch or groups. Written
// transposed, with vectors along another loop, they take fewer steps; a move of
// the result, and of the operand that is read along the vectors then, is the
// price.
#include "lowering/ConstantViews.h"
#include "lowering/Passes.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/PixelFolds.h"
#include "lowering/loops/RegisterTile.h"
#include "lowering/tensor/ChannelsFirst.h"
#include "lowering/tensor/Transposed.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_TURNPRODUCTS
#include "lowering/Passes.h.inc"

namespace {

// The time that has to be left of what it was, and where windows slide along
// the vectors then: 24 maps of a group, 0.75 of two vectors, took 1.5 times as
// long.
constexpr double worthwhile = 0.85, worthwhileOfWindows = 0.7;
// What an extent is taken for that is not known.
constexpr int64_t usual = 64;

struct Product {
  linalg::GenericOp root;
  SmallVector<int64_t> extents; // of its loops
  unsigned column;              // the loop that vectors lie along
  bool sumsAlongVectors;        // or they lie along its last sum
  int64_t lanes, perCycle;      // of a multiply-add, of a core
  int64_t l1Bytes;
};

bool slides(linalg::GenericOp root) {
  return llvm::any_of(root.getIndexingMapsArray(), [](AffineMap map) {
    return !map.isProjectedPermutation();
  });
}

// Whether a window slides over channels that all filters see: a convolution
// that runs in NHWC or, where it is narrow, has been turned already.
bool isDenseConvolution(linalg::GenericOp root) {
  SmallVector<AffineMap> maps = root.getIndexingMapsArray();
  return slides(root) &&
         llvm::none_of(llvm::seq(root.getNumLoops()), [&](auto loop) {
           return llvm::all_of(
               maps, [&](AffineMap map) { return map.isFunctionOfDim(loop); });
         });
}

std::optional<Product> matchProduct(linalg::GenericOp root, TargetAttr target) {
  FailureOr<LoopRoles> roles = inferLoopRoles(root);
  auto hasGroupedLanes = [](AffineMap map) {
    return llvm::any_of(map.getResults(), groupIndex);
  };
  if (failed(roles) || !root.hasPureTensorSemantics() ||
      root.getNumDpsInputs() != 2 || isDenseConvolution(root) ||
      llvm::any_of(root.getIndexingMapsArray(), hasGroupedLanes) ||
      chooseAlongSum(root, *roles, target))
    return std::nullopt;
  Type element = getElementTypeOrSelf(root.getResult(0));
  Product product;
  product.root = root;
  product.extents = root.getStaticLoopRanges();
  product.column = roles->vector;
  product.sumsAlongVectors =
      sumsAlongVectors(root, *roles, rowsOf(root, *roles), target);
  product.lanes = target.getVectorBits() / element.getIntOrFloatBitWidth();
  product.perCycle = std::max<int64_t>(target.getFmaPerCycle(), 1);
  product.l1Bytes = target.getL1Bytes();
  for (int64_t &extent : product.extents)
    if (ShapedType::isDynamic(extent))
      extent = usual;
  return product;
}

double elementsOf(Value tensor) {
  double elements = 1;
  for (int64_t size : cast<RankedTensorType>(tensor.getType()).getShape())
    elements *= ShapedType::isDynamic(size) ? usual : size;
  return elements;
}

// The inputs that move along a loop.
SmallVector<OpOperand *> inputsAlong(linalg::GenericOp root, unsigned loop) {
  return llvm::filter_to_vector(
      root.getDpsInputOperands(), [&](OpOperand *input) {
        return root.getMatchingIndexingMap(input).isFunctionOfDim(loop);
      });
}

// The only dimension of a tensor that is walked along `loop`, if by ones.
std::optional<int64_t> dimensionAlong(AffineMap map, unsigned loop) {
  std::optional<int64_t> found;
  for (auto [dim, index] : llvm::enumerate(map.getResults())) {
    if (!index.isFunctionOfDim(loop))
      continue;
    if (found || coefficient(index, loop) != 1)
      return std::nullopt;
    found = dim;
  }
  return found;
}

// Vectors that hold so many elements. Half ones, of which two are multiplied at
// once where one whole one is, may be fuller.
double vectorsOf(int64_t elements, const Product &product) {
  double whole = llvm::divideCeil(elements, product.lanes);
  if (!joinsHalves(product.lanes, product.perCycle))
    return whole;
  return std::min(whole, llvm::divideCeil(elements, product.lanes / 2) / 2.0);
}

// Whether a loop of these extents repeats what is read at `map`.
bool isRepeated(AffineMap map, ArrayRef<int64_t> extents) {
  return llvm::any_of(llvm::enumerate(extents), [&](auto loop) {
    return loop.value() != 1 && !map.isFunctionOfDim(loop.index());
  });
}

// Cycles where vectors lie along `loop`, but for moves of the result. What they
// read whose elements lie apart there is moved once, or it is gathered in each
// step where each is read once or along a batch. Constants lie as they should.
double cyclesAlong(const Product &product, unsigned loop) {
  linalg::GenericOp root = product.root;
  double steps = vectorsOf(product.extents[loop], product);
  for (auto [other, extent] : llvm::enumerate(product.extents))
    if (other != loop)
      steps *= extent;
  double cycles = steps / product.perCycle;
  SmallVector<OpOperand *> inputs = inputsAlong(root, loop);
  for (OpOperand *input : inputs) {
    AffineMap map = root.getMatchingIndexingMap(input);
    std::optional<int64_t> dim = dimensionAlong(map, loop);
    if (dim == map.getNumResults() - 1 || constantBehind(input->get()))
      continue;
    cycles += dim && inputs.size() == 1 && isRepeated(map, product.extents)
                  ? cyclesOfTranspose * elementsOf(input->get())
                  : steps * product.lanes / loadsPerCycle;
  }
  return cycles;
}

// Cycles of the product as it is. Where lanes lie along the sum, each element
// of the result loads two vectors for a multiplication, one of them from L2
// where L1 does not hold the rows of either operand, and folds them.
double cyclesNow(const Product &product) {
  linalg::GenericOp root = product.root;
  if (!product.sumsAlongVectors)
    return cyclesAlong(product, product.column);
  int64_t bytes =
      getElementTypeOrSelf(root.getResult(0)).getIntOrFloatBitWidth() /
      CHAR_BIT;
  double rows = std::numeric_limits<double>::max();
  for (Value input : root.getDpsInputs())
    rows = std::min(rows, bytes * elementsOf(input));
  double loads = 2 / loadsPerCycle;
  if (rows > product.l1Bytes)
    loads = 1 / loadsPerCycle + product.lanes * bytes / l2BytesPerCycle;
  double steps = 1;
  int64_t sum = 1;
  for (auto [loop, kind] : llvm::enumerate(root.getIteratorTypesArray()))
    if (linalg::isReductionIterator(kind)) {
      steps *= sum;
      sum = product.extents[loop];
    }
  steps *= llvm::divideCeil(sum, product.lanes);
  return elementsOf(root.getResult(0)) * (steps * loads + foldOfLanes);
}

// Cycles where the result is written with the loop innermost.
double cyclesTurned(const Product &product, unsigned loop) {
  linalg::GenericOp root = product.root;
  return cyclesAlong(product, loop) +
         cyclesOfTranspose * elementsOf(root.getResult(0));
}

bool slidesAlong(linalg::GenericOp root, unsigned loop) {
  return llvm::any_of(root.getIndexingMapsArray(), [&](AffineMap map) {
    return llvm::any_of(map.getResults(), [&](AffineExpr index) {
      return !isa<AffineDimExpr>(index) && index.isFunctionOfDim(loop);
    });
  });
}

// The loop that vectors had better lie along, if it is not theirs. One of
// unknown size is much better or is not, and never than another: vectors along
// a batch that turns out to be one image took up to 8 times as long as along
// its pixels, and where windows slide there always are pixels. The innermost
// one has its elements nearest to each other.
std::optional<unsigned> betterColumn(const Product &product) {
  constexpr double muchBetter = 0.5;
  linalg::GenericOp root = product.root;
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  double least =
      (slides(root) ? worthwhileOfWindows : worthwhile) * cyclesNow(product);
  std::optional<unsigned> best;
  SmallVector<unsigned> ofAnySize;
  for (AffineExpr index : llvm::reverse(
           root.getIndexingMapsArray().back().getResults().drop_back())) {
    unsigned loop = cast<AffineDimExpr>(index).getPosition();
    if (loop == product.column || inputsAlong(root, loop).size() != 1)
      continue;
    if (ShapedType::isDynamic(extents[loop])) {
      if (!ShapedType::isDynamic(extents[product.column]))
        ofAnySize.push_back(loop);
    } else if (double cycles = cyclesTurned(product, loop); cycles < least) {
      least = cycles;
      best = loop;
    }
  }
  if (best)
    least *= muchBetter;
  for (unsigned loop : ofAnySize) {
    double cycles = cyclesTurned(product, loop);
    if (cycles < least && (!slides(root) || slidesAlong(root, loop))) {
      least = cycles;
      best = loop;
    }
  }
  return best;
}

// Whether it is made of sums of exponentials, elementwise.
bool isOfExponentials(Value value, unsigned steps = 4) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || steps == 0)
    return false;
  if (isFold(op)) {
    auto terms = op.getDpsInputs()[0].getDefiningOp<linalg::GenericOp>();
    return terms && isa<arith::AddFOp>(op.getBody()->front()) &&
           isa<math::ExpOp>(terms.getBody()->front());
  }
  return isElementwise(op) && llvm::any_of(op.getInputs(), [&](Value input) {
           return isOfExponentials(input, steps - 1);
         });
}

// Whether it is divided by one sum of exponentials for each row, which is what
// lies innermost.
bool isSoftmaxOfRows(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || !isElementwise(op))
    return false;
  unsigned last = op.getNumLoops() - 1;
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return !op.getMatchingIndexingMap(input).isFunctionOfDim(last) &&
           isOfExponentials(input->get());
  });
}

// The loop over channels of values where vectors lie across rows of softmax,
// all of which would be kept and packed. Along the channels the product becomes
// a part of the kernel of the rows. Vectors that are filled by half are worth
// it where all rows are more than the second cache holds twice.
std::optional<unsigned> columnOfAttention(linalg::GenericOp root,
                                          TargetAttr target) {
  constexpr double mostIdle = 1.35, mostIdleOfLarge = 2.1;
  FailureOr<LoopRoles> roles = inferLoopRoles(root);
  if (failed(roles) || !root.hasPureTensorSemantics() ||
      root.getNumDpsInputs() != 2 || slides(root))
    return std::nullopt;
  SmallVector<OpOperand *> weights = inputsAlong(root, roles->vector);
  if (weights.size() != 1 || !isSoftmaxOfRows(weights[0]->get()))
    return std::nullopt;
  AffineMap rows = root.getMatchingIndexingMap(weights[0]);
  unsigned sum = cast<AffineDimExpr>(rows.getResults().back()).getPosition();
  if (!linalg::isReductionIterator(root.getIteratorTypesArray()[sum]))
    return std::nullopt;
  int64_t bits =
      getElementTypeOrSelf(root.getResult(0)).getIntOrFloatBitWidth();
  int64_t lanes = target.getVectorBits() / bits;
  double bytes = elementsOf(weights[0]->get()) * bits / CHAR_BIT;
  double most = bytes > 2 * target.getL2Bytes() ? mostIdleOfLarge : mostIdle;
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  for (AffineExpr index : llvm::reverse(
           root.getIndexingMapsArray().back().getResults().drop_back())) {
    unsigned loop = cast<AffineDimExpr>(index).getPosition();
    int64_t extent = extents[loop];
    // Of unknown extent, which is below 0, or none there are no full vectors.
    if (!rows.isFunctionOfDim(loop) && extent > 0 &&
        llvm::divideCeil(extent, lanes) * lanes <= most * extent)
      return loop;
  }
  return std::nullopt;
}

// All dimensions but one in their order, then that one. Where columns of an
// image that is NCHW elsewhere come last, it is NCHW.
SmallVector<int64_t> withLast(int64_t rank, int64_t last,
                              bool isChannelsFirst) {
  if (isChannelsFirst && last == rank - 2)
    return channelsFirst(rank);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  order.erase(order.begin() + last);
  order.push_back(last);
  return order;
}

// Windows slide along elements that lie side by side. Kernels of products move
// what they read by themselves.
void turnImage(RewriterBase &rewriter, linalg::GenericOp root, unsigned loop) {
  OpOperand *input = inputsAlong(root, loop).front();
  SmallVector<AffineMap> maps = root.getIndexingMapsArray();
  AffineMap &map = maps[input->getOperandNumber()];
  int64_t rank = map.getNumResults();
  std::optional<int64_t> dim = dimensionAlong(map, loop);
  if (!dim || *dim == rank - 1 || map.isProjectedPermutation())
    return;
  SmallVector<int64_t> order =
      withLast(rank, *dim, comesChannelsFirst(input->get()));
  rewriter.setInsertionPoint(root);
  input->set(transposed(rewriter, root.getLoc(), input->get(), order));
  map = AffineMap::get(map.getNumDims(), 0,
                       applyPermutation(map.getResults(), order),
                       map.getContext());
  root.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
}

// Writes the result with `loop` innermost, and what was so far before it.
void turn(linalg::GenericOp root, unsigned loop) {
  IRRewriter rewriter(root.getContext());
  AffineMap output = root.getIndexingMapsArray().back();
  SmallVector<int64_t> order =
      withLast(output.getNumResults(),
               *output.getResultPosition(rewriter.getAffineDimExpr(loop)),
               goesChannelsFirst(root.getResult(0)));
  linalg::GenericOp turned = writtenTransposed(rewriter, root, order);
  if (!turned)
    return;
  turnImage(rewriter, turned, loop);
  rewriter.setInsertionPoint(root);
  rewriter.replaceOp(root,
                     transposed(rewriter, root.getLoc(), turned.getResult(0),
                                invertPermutationVector(order)));
}

// The product of two tensors, one of which is repeated, that the sum adds up
// alone.
linalg::GenericOp factorsOf(linalg::GenericOp sum) {
  if (!isFold(sum) || !isa<arith::AddFOp>(sum.getBody()->front()))
    return {};
  Value terms = sum.getDpsInputs()[0];
  auto product = terms.getDefiningOp<linalg::GenericOp>();
  if (!product || !terms.hasOneUse() || !isElementwise(product) ||
      product.getNumDpsInputs() != 2)
    return {};
  SmallVector<int64_t> extents = product.getStaticLoopRanges();
  auto repeats = [&](OpOperand *input) {
    return isRepeated(product.getMatchingIndexingMap(input), extents);
  };
  Block *body = product.getBody();
  return isa<arith::MulFOp>(body->front()) &&
                 body->getOperations().size() == 2 &&
                 llvm::any_of(product.getDpsInputOperands(), repeats)
             ? product
             : linalg::GenericOp();
}

// Makes one operation of a sum and the product that it adds up where that is
// turned then. Elsewhere the product may be the epilogue of what makes it.
void joinSums(ModuleOp module, TargetAttr target) {
  SmallVector<linalg::GenericOp> sums;
  module.walk([&](linalg::GenericOp sum) {
    if (factorsOf(sum))
      sums.push_back(sum);
  });
  IRRewriter rewriter(module.getContext());
  for (linalg::GenericOp sum : sums) {
    OpOperand *terms = sum.getDpsInputOperand(0);
    if (!linalg::areElementwiseOpsFusable(terms))
      continue;
    rewriter.setInsertionPoint(sum);
    FailureOr<linalg::ElementwiseOpFusionResult> fused =
        linalg::fuseElementwiseOps(rewriter, terms);
    if (failed(fused))
      continue;
    auto joined = cast<linalg::GenericOp>(fused->fusedOp);
    std::optional<Product> product = matchProduct(joined, target);
    if (product && betterColumn(*product))
      rewriter.replaceOp(sum, joined.getResults().take_back());
    else
      rewriter.eraseOp(joined);
  }
}

struct TurnProducts : impl::TurnProductsBase<TurnProducts> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    if (!target || target.getVectorBits() == 0)
      return;
    joinSums(getOperation(), target);
    SmallVector<std::pair<linalg::GenericOp, unsigned>> found;
    getOperation().walk([&](linalg::GenericOp root) {
      std::optional<unsigned> loop = columnOfAttention(root, target);
      if (!loop)
        if (std::optional<Product> product = matchProduct(root, target))
          loop = betterColumn(*product);
      if (loop)
        found.push_back({root, *loop});
    });
    for (auto [root, loop] : found)
      turn(root, loop);
  }
};

} // namespace
} // namespace onnxc
