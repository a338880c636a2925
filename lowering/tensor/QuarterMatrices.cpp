#include "dialects/onnx/Constants.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/Missed.h"
#include "lowering/Passes.h"
#include "lowering/loops/Strassen.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_QUARTERMATRICES
#include "lowering/Passes.h.inc"

namespace {

void quarter(linalg::GenericOp root, TargetAttr target, int64_t bytesOfModel) {
  FailureOr<ConstantProduct> product = matchConstantProduct(root);
  // What pads its rows is read with the contraction itself.
  if (failed(product) || product->left->get().getDefiningOp<tensor::PadOp>())
    return;
  OpOperand *matrix = product->matrix;
  auto constant = matrix->get().getDefiningOp<arith::ConstantOp>();
  auto value =
      constant ? dyn_cast<ElementsAttr>(constant.getValue()) : ElementsAttr();
  if (!value || value.isSplat())
    return;
  StrassenAttr schedule = chooseStrassen(*product, target, bytesOfModel);
  if (!schedule || areWhole(value))
    return;
  if (isSmall(root->getParentOfType<ModuleOp>())) {
    missed(root, "quarter-matrices")
        << "quartered matrices take 7/4 of the bytes: small code was asked for";
    return;
  }
  AffineMap map = root.getMatchingIndexingMap(matrix);
  auto dimensionOf = [&](unsigned loop) {
    return *map.getResultPosition(getAffineDimExpr(loop, root.getContext()));
  };
  int64_t summed = dimensionOf(product->summed),
          columns = dimensionOf(product->column);
  ElementsAttr scales =
      QuarteredMatrixAttr::scalesOf(value, summed, columns, schedule);
  if (!scales)
    return;
  OpBuilder builder(constant);
  auto stored = [&](ElementsAttr elements) -> Value {
    return arith::ConstantOp::create(builder, constant.getLoc(),
                                     cast<TypedAttr>(elements));
  };
  Value source = stored(QuarteredMatrixAttr::get(
      builder.getContext(), value, summed, columns, scales, schedule));
  matrix->set(QuarteredMatrixOp::create(builder, constant.getLoc(),
                                        constant.getType(), source,
                                        stored(scales), schedule));
  if (constant->use_empty())
    constant.erase();
}

struct QuarterMatrices : impl::QuarterMatricesBase<QuarterMatrices> {
  void runOnOperation() override {
    if (isStrict(getOperation()))
      return;
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    SmallVector<linalg::GenericOp> roots;
    int64_t bytesOfModel = 0;
    getOperation().walk([&](Operation *op) {
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (generic && generic.getNumReductionLoops())
        roots.push_back(generic);
      if (auto constant = dyn_cast<arith::ConstantOp>(op))
        if (auto type = dyn_cast<ShapedType>(constant.getType()))
          bytesOfModel +=
              type.getNumElements() * elementBytes(type.getElementType());
    });
    for (linalg::GenericOp root : roots)
      quarter(root, target, bytesOfModel);
  }
};

} // namespace
} // namespace onnxc
