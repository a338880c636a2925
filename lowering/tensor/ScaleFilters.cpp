// A squeeze and excitation multiplies each channel of an image by a number, and
// a 1x1 convolution follows. Both are linear in the channel, so its filters may
// be multiplied instead: they are fewer than the pixels in a network's first
// stages, and the image is not copied.
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/Passes.h"
#include "lowering/loops/Contraction.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_SCALEFILTERS
#include "lowering/Passes.h.inc"

namespace {

// How many times as large the image has to be: filters come from further away
// than what was just written.
constexpr int64_t fewerFilters = 4;

// A tensor whose channels are multiplied, and by what.
struct Scaling {
  linalg::GenericOp op;
  OpOperand *image, *factors;
};

bool isProduct(linalg::GenericOp op) {
  Operation *result =
      op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  return isElementwise(op) && op.getNumDpsInputs() == 2 &&
         isa_and_nonnull<arith::MulFOp>(result) &&
         llvm::all_of(op.getRegionInputArgs(), [&](BlockArgument argument) {
           return llvm::is_contained(result->getOperands(), argument);
         });
}

// Only where nothing else wants the product. A constant costs nothing where the
// image is made, but filters would be multiplied by it in every call.
std::optional<Scaling> matchScaling(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || !value.hasOneUse() || !isProduct(op))
    return std::nullopt;
  OpOperand *image = op.getDpsInputOperand(0),
            *factors = op.getDpsInputOperand(1);
  AffineMap result = op.getIndexingMapsArray().back();
  if (op.getMatchingIndexingMap(image) != result)
    std::swap(image, factors);
  if (op.getMatchingIndexingMap(image) != result ||
      image->get().getType() != value.getType() ||
      op.getMatchingIndexingMap(factors) == result ||
      matchPattern(factors->get(), m_Constant()))
    return std::nullopt;
  return Scaling{op, image, factors};
}

// Where factors lie in the loops of `root`, which reads the product by `map`.
AffineMap positionOfFactors(Scaling scaling, linalg::GenericOp root,
                            AffineMap map) {
  AffineMap result = scaling.op.getIndexingMapsArray().back();
  return withoutUnitLoops(root,
                          scaling.op.getMatchingIndexingMap(scaling.factors)
                              .compose(inversePermutation(result))
                              .compose(map));
}

// The same as dimensions of the packed filters; null where factors differ
// within one.
AffineMap positionInPanels(AffineMap position, linalg::GenericOp root,
                           OpOperand *filter, linalg::UnPackOp unpack) {
  AffineMap map = root.getMatchingIndexingMap(filter);
  unsigned rank = unpack.getSourceType().getRank();
  ArrayRef<int64_t> order = unpack.getOuterDimsPerm();
  SmallVector<AffineExpr> indices;
  for (AffineExpr index : position.getResults()) {
    if (isa<AffineConstantExpr>(index)) {
      indices.push_back(index);
      continue;
    }
    std::optional<unsigned> dimension = map.getResultPosition(index);
    if (!isa<AffineDimExpr>(index) || !dimension ||
        int64_t(*dimension) == unpack.getInnerDimsPos()[0])
      return {};
    int64_t outer = order.empty()
                        ? *dimension
                        : llvm::find(order, *dimension) - order.begin();
    indices.push_back(getAffineDimExpr(outer, map.getContext()));
  }
  return AffineMap::get(rank, 0, indices, map.getContext());
}

Value scaledPanels(linalg::UnPackOp unpack, Scaling scaling, AffineMap position,
                   Operation *before) {
  ImplicitLocOpBuilder b(scaling.op.getLoc(), before);
  auto type = cast<RankedTensorType>(unpack.getSource().getType());
  Value empty =
      tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  AffineMap same = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inner, Location loc, ValueRange arguments) {
    Value product =
        arith::MulFOp::create(inner, loc, arguments[0], arguments[1]);
    linalg::YieldOp::create(inner, loc, product);
  };
  auto scaled = linalg::GenericOp::create(
      b, type, ValueRange{unpack.getSource(), scaling.factors->get()}, empty,
      {same, position, same}, kinds, body);
  auto again = cast<linalg::UnPackOp>(b.clone(*unpack));
  again.getSourceMutable().assign(scaled.getResult(0));
  return again.getResult();
}

void scaleFilter(linalg::GenericOp root) {
  FailureOr<LoopRoles> roles = inferLoopRoles(root);
  if (failed(roles) || root.getNumDpsInputs() != 2)
    return;
  for (OpOperand *image : root.getDpsInputOperands()) {
    OpOperand *filter = root.getDpsInputOperand(1 - image->getOperandNumber());
    auto unpack = filter->get().getDefiningOp<linalg::UnPackOp>();
    std::optional<Scaling> scaling = matchScaling(image->get());
    if (!unpack || !scaling || isDepthwise(root, *roles))
      continue;
    auto pixels = cast<RankedTensorType>(image->get().getType()),
         weights = cast<RankedTensorType>(unpack.getSource().getType());
    if (!pixels.hasStaticShape() || !weights.hasStaticShape() ||
        pixels.getElementType() != weights.getElementType() ||
        fewerFilters * weights.getNumElements() > pixels.getNumElements())
      continue;
    AffineMap position =
        positionOfFactors(*scaling, root, root.getMatchingIndexingMap(image));
    AffineMap inPanels = positionInPanels(position, root, filter, unpack);
    if (!inPanels)
      continue;
    filter->set(scaledPanels(unpack, *scaling, inPanels, root));
    image->set(scaling->image->get());
    scaling->op.erase();
    return;
  }
}

struct ScaleFilters : impl::ScaleFiltersBase<ScaleFilters> {
  void runOnOperation() override {
    if (isStrict(getOperation()))
      return;
    SmallVector<linalg::GenericOp> roots;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops())
        roots.push_back(op);
    });
    llvm::for_each(roots, scaleFilter);
  }
};

} // namespace
} // namespace onnxc
