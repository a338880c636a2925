// One pattern for each family. A family's pattern never asks which operator it
// has.
#include "dialects/onnx/Families.h"
#include "lowering/Passes.h"
#include "lowering/tensor/OnnxToLinalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_ONNXTOLINALG
#include "lowering/Passes.h.inc"

namespace {

//===-- By hand -----------------------------------------------------------===//

// Without signedness and names; a bool is a byte.
ElementsAttr storedValue(ElementsAttr value, RankedTensorType type) {
  return value.getType() == type ? value : retype(value, type);
}

struct LowerConstant : OpConversionPattern<ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = getTypeConverter()->convertType(op.getType());
    ElementsAttr value =
        storedValue(op.getValue(), cast<RankedTensorType>(type));
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, value);
    return success();
  }
};

} // namespace

// What the types are about to lose and the object's interface needs.
static DictionaryAttr rememberType(DictionaryAttr attrs, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  NamedAttrList remembered(attrs);
  if (tensor && isa_and_nonnull<ArrayAttr>(tensor.getEncoding())) {
    SmallVector<StringRef> names;
    for (Dim dim : shapeOf(tensor))
      names.push_back(dim.symbol ? unquotedName(dim.symbol.getValue()) : "");
    remembered.set(dimsAttrName,
                   Builder(type.getContext()).getStrArrayAttr(names));
  }
  if (tensor && storageType(tensor.getElementType()) != tensor.getElementType())
    remembered.set(elementAttrName, TypeAttr::get(tensor.getElementType()));
  return remembered.getDictionary(type.getContext());
}

static void rememberTypes(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  auto orEmpty = [&](DictionaryAttr attrs) {
    return attrs ? attrs : DictionaryAttr::get(context);
  };
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
    func.setArgAttrs(i, rememberType(orEmpty(func.getArgAttrDict(i)), type));
  for (auto [i, type] : llvm::enumerate(func.getResultTypes()))
    func.setResultAttrs(i,
                        rememberType(orEmpty(func.getResultAttrDict(i)), type));
}

// Strings are imported, so that a model can be described; nothing computes
// them.
static LogicalResult checkElements(ModuleOp module) {
  auto isText = [](Type type) {
    return isa<StringType>(getElementTypeOrSelf(type));
  };
  bool found = false;
  module.walk([&](Operation *op) {
    bool returnsResults =
        op->hasTrait<OpTrait::IsTerminator>() &&
        llvm::none_of(op->getOperands(), llvm::IsaPred<BlockArgument>);
    if (returnsResults || (llvm::none_of(op->getOperandTypes(), isText) &&
                           llvm::none_of(op->getResultTypes(), isText)))
      return;
    op->emitError("tensors of strings are not supported");
    found = true;
  });
  return failure(found);
}

// A conversion ends with the first operation that no pattern takes; we tell of
// all.
static LogicalResult checkConverted(ModuleOp module) {
  bool left = false;
  module.walk([&](Operation *op) {
    auto node = dyn_cast<OnnxOpInterface>(op);
    if (!node || isa<SubgraphOpInterface>(op))
      return;
    op->emitError() << node.getRecord().type
                    << " is not supported in this form; see docs/ops.md";
    left = true;
  });
  return failure(left);
}

static LogicalResult lowerToLinalg(ModuleOp module) {
  if (failed(checkElements(module)))
    return failure();
  module.walk(rememberTypes);
  MLIRContext *context = module.getContext();
  TypeConverter types; // drops names and signedness
  types.addConversion([](Type type) { return type; });
  types.addConversion([](RankedTensorType type) {
    return RankedTensorType::get(type.getShape(),
                                 storageType(type.getElementType()));
  });
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
    return types.isSignatureLegal(op.getFunctionType());
  });
  target.addDynamicallyLegalOp<func::ReturnOp>(
      [&](func::ReturnOp op) { return types.isLegal(op); });
  RewritePatternSet patterns(context);
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                 types);
  populateReturnOpTypeConversionPattern(patterns, types);
  addScalarPatterns(types, patterns);
  addReductionPatterns(types, patterns);
  addGeneratorPatterns(types, patterns);
  addMovementPatterns(types, patterns);
  addContractionPatterns(types, patterns);
  addWindowPatterns(types, patterns);
  addIrregularPatterns(types, patterns);
  addSubgraphPatterns(types, patterns, target);
  patterns.add<LowerConstant>(types, context);
  ConversionConfig config;
  config.buildMaterializations =
      false; // none are left once everything is converted
  if (failed(applyPartialConversion(module, target, std::move(patterns),
                                    config)) ||
      failed(checkConverted(module)))
    return failure();
  // Patterns that emit onnx operations name sizes by casts.
  SmallVector<UnrealizedConversionCastOp> casts;
  module.walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
  reconcileUnrealizedCasts(casts);
  return success();
}

namespace {
struct OnnxToLinalg : impl::OnnxToLinalgBase<OnnxToLinalg> {
  void runOnOperation() override {
    if (failed(lowerToLinalg(getOperation())))
      signalPassFailure();
  }
};
} // namespace

} // namespace onnxc
