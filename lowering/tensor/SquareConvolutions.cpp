#include "lowering/tensor/SquareConvolutions.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/ConstantViews.h"
#include "lowering/loops/IndexMath.h"
#include "lowering/loops/Winograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using linalg::GenericOp;

namespace onnxc {

bool isPaddedWithKnownZeros(tensor::PadOp pad) {
  Value constant = pad.getConstantPaddingValue();
  return constant && matchPattern(constant, m_AnyZeroFloat()) &&
         !ShapedType::isDynamicShape(pad.getStaticLow()) &&
         !ShapedType::isDynamicShape(pad.getStaticHigh());
}

Value paddedWithZeros(ImplicitLocOpBuilder &b, Value value,
                      ArrayRef<ZerosBeside> padding) {
  SmallVector<OpFoldResult> low, high;
  bool any = false;
  for (auto [before, behind] : padding) {
    low.push_back(before ? before : number(b, 0));
    high.push_back(behind ? behind : number(b, 0));
    any |= !isConstantIntValue(low.back(), 0) ||
           !isConstantIntValue(high.back(), 0);
  }
  if (!any)
    return value;
  Value zero =
      arith::ConstantOp::create(b, b.getZeroAttr(getElementTypeOrSelf(value)));
  return tensor::PadOp::create(b, Type(), value, low, high, zero);
}

Value gathered(ImplicitLocOpBuilder &b, Value source,
               ArrayRef<OpFoldResult> sizes, AffineMap from) {
  Value empty = tensor::EmptyOp::create(b, sizes, getElementTypeOrSelf(source));
  SmallVector<AffineMap> maps = {from, b.getMultiDimIdentityMap(sizes.size())};
  SmallVector<utils::IteratorType> loops(sizes.size(),
                                         utils::IteratorType::parallel);
  auto body = [](OpBuilder &inside, Location loc, ValueRange elements) {
    linalg::YieldOp::create(inside, loc, elements.front());
  };
  return GenericOp::create(b, empty.getType(), source, empty, maps, loops, body)
      .getResult(0);
}

GenericOp squareConvolution(ImplicitLocOpBuilder &b, GenericOp root,
                            Value image, Value filter, Value start) {
  enum Loop { N, H, W, M, KH, KW, C, loopCount };
  auto dim = [&](unsigned loop) { return b.getAffineDimExpr(loop); };
  auto mapOf = [&](ArrayRef<AffineExpr> indices) {
    return AffineMap::get(loopCount, 0, indices, b.getContext());
  };
  SmallVector<AffineMap> maps = {
      mapOf({dim(N), dim(H) + dim(KH), dim(W) + dim(KW), dim(C)}),
      mapOf({dim(M), dim(C), dim(KH), dim(KW)}),
      mapOf({dim(N), dim(H), dim(W), dim(M)})};
  SmallVector<utils::IteratorType> loops(loopCount,
                                         utils::IteratorType::parallel);
  for (unsigned loop : {KH, KW, C})
    loops[loop] = utils::IteratorType::reduction;
  auto made = GenericOp::create(b, start.getType(), ValueRange{image, filter},
                                start, maps, loops);
  IRMapping mapping;
  root.getRegion().cloneInto(&made.getRegion(), mapping);
  FailureOr<FilteredConvolution> conv = matchFilteredConvolution(made);
  auto target = root->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>(
      targetAttrName);
  if (succeeded(conv) && chooseWinograd(*conv, target))
    return made;
  made.erase();
  return {};
}

bool isFiltered(GenericOp root, TargetAttr target) {
  auto module = root->getParentOfType<ModuleOp>();
  FailureOr<FilteredConvolution> conv = matchFilteredConvolution(root);
  return succeeded(conv) && !isStrict(module) && !isSmall(module) &&
         constantBehind(conv->filter->get()) && chooseWinograd(*conv, target);
}

bool isFoldable(GenericOp op, unsigned loops) {
  return op.getNumLoops() == loops && op.getNumReductionLoops() > 1 &&
         op.getNumDpsInputs() == 2 && op.getNumDpsInits() == 1;
}

void forEachConvolution(ModuleOp module, unsigned loops,
                        llvm::function_ref<void(GenericOp)> fold) {
  if (isStrict(module) || isSmall(module))
    return;
  SmallVector<GenericOp> roots;
  module.walk([&](GenericOp op) {
    if (isFoldable(op, loops))
      roots.push_back(op);
  });
  llvm::for_each(roots, fold);
}

} // namespace onnxc
