#include "dialects/onnx/Constants.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/Missed.h"
#include "lowering/Passes.h"
#include "lowering/loops/Winograd.h"
#include "lowering/tensor/Transposed.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_TRANSFORMFILTERS
#include "lowering/Passes.h.inc"

namespace {

// Moves the image to NHWC, before it is padded.
void turnImage(const FilteredConvolution &conv) {
  if (llvm::is_sorted(conv.imageOrder))
    return;
  linalg::GenericOp root = conv.root;
  ImplicitLocOpBuilder b(root.getLoc(), root);
  auto pad = conv.image->get().getDefiningOp<tensor::PadOp>();
  if (pad && !pad.getConstantPaddingValue())
    pad = {};
  Value turned =
      transposed(b, b.getLoc(), pad ? pad.getSource() : conv.image->get(),
                 conv.imageOrder);
  if (pad)
    turned = paddedTransposed(b, pad, turned, conv.imageOrder);
  SmallVector<AffineMap> maps = root.getIndexingMapsArray();
  AffineMap &map = maps[conv.image->getOperandNumber()];
  map = AffineMap::get(map.getNumDims(), 0,
                       applyPermutation(map.getResults(), conv.imageOrder),
                       b.getContext());
  conv.image->set(turned);
  root.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
}

void transform(linalg::GenericOp root, TargetAttr target) {
  FailureOr<FilteredConvolution> conv = matchFilteredConvolution(root);
  // A kernel is formed for certain only where roles are inferred.
  if (failed(conv) || failed(inferLoopRoles(root)))
    return;
  auto constant = conv->filter->get().getDefiningOp<arith::ConstantOp>();
  auto value =
      constant ? dyn_cast<ElementsAttr>(constant.getValue()) : ElementsAttr();
  if (!value || value.isSplat())
    return;
  if (isSmall(root->getParentOfType<ModuleOp>())) {
    missed(root, "transform-filters")
        << "transformed filters take several times the bytes: small code was "
           "asked for";
    return;
  }
  WinogradAttr schedule = chooseWinograd(*conv, target);
  if (!schedule) {
    missed(root, "transform-filters")
        << "few channels or pixels: a direct convolution is as fast";
    return;
  }
  if (areWhole(value))
    return;
  OpBuilder builder(constant);
  Value source = arith::ConstantOp::create(
      builder, constant.getLoc(),
      TransformedFilterAttr::get(builder.getContext(), value, schedule));
  turnImage(*conv);
  conv->filter->set(WinogradFilterOp::create(
      builder, constant.getLoc(), constant.getType(), source, schedule));
  if (constant->use_empty())
    constant.erase();
}

struct TransformFilters : impl::TransformFiltersBase<TransformFilters> {
  void runOnOperation() override {
    if (isStrict(getOperation()))
      return;
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    SmallVector<linalg::GenericOp> roots;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops())
        roots.push_back(op);
    });
    for (linalg::GenericOp root : roots)
      transform(root, target);
  }
};

} // namespace
} // namespace onnxc
