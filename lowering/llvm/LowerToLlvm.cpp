// The last lowering: what is left of arith, cf, func, math, memref, ub and
// vector becomes the LLVM dialect, in full conversions that leave nothing
// behind.
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/IR/Iterators.h"

using namespace mlir;

namespace onnxc {

#define GEN_PASS_DEF_LOWERTOLLVM
#include "lowering/Passes.h.inc"

namespace {

// The conversion of functions drops what they say about inlining.
void keepNoInline(ModuleOp module, ArrayRef<StringAttr> names) {
  for (StringAttr name : names)
    module.lookupSymbol<LLVM::LLVMFuncOp>(name).setNoInline(true);
}

LogicalResult convert(ModuleOp module, unsigned indexBits) {
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(indexBits);
  LLVMTypeConverter types(context, options);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  index::populateIndexToLLVMConversionPatterns(types, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
  populateFuncToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns);
  vector::populateVectorTransferLoweringPatterns(patterns,
                                                 /*maxTransferRank=*/1);
  populateVectorToLLVMConversionPatterns(types, patterns);
  ub::populateUBToLLVMConversionPatterns(types, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp, UnrealizedConversionCastOp>();
  // What is converted stays until all of it is, so that is one function.
  FrozenRewritePatternSet frozen(std::move(patterns));
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (failed(applyFullConversion(&op, target, frozen)))
      return failure();
  return success();
}

LogicalResult reconcileCasts(ModuleOp module) {
  SmallVector<UnrealizedConversionCastOp> casts, left;
  module.walk([&](UnrealizedConversionCastOp op) { casts.push_back(op); });
  reconcileUnrealizedCasts(casts, &left);
  for (UnrealizedConversionCastOp cast : left)
    return cast.emitError() << "has no form in LLVM";
  return success();
}

// Takes buffers' fields from where they are put together: what is left uses
// plain pointers and numbers.
void foldDescriptors(ModuleOp module) {
  module.walk([](LLVM::ExtractValueOp extract) {
    SmallVector<OpFoldResult> field;
    while (succeeded(extract->fold(field)) && field.empty())
      ; // looks one insertion further up
    if (!field.empty() && isa<Value>(field.front()))
      extract.replaceAllUsesWith(cast<Value>(field.front()));
  });
  // Users come before what they use.
  module.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isa<LLVM::ExtractValueOp, LLVM::InsertValueOp, LLVM::PoisonOp>(op) &&
        op->use_empty())
      op->erase();
  });
}

struct LowerToLlvm : impl::LowerToLlvmBase<LowerToLlvm> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = module->getAttrOfType<TargetAttr>(targetAttrName);
    if (!target) {
      module.emitError() << "expected the attribute " << targetAttrName;
      return signalPassFailure();
    }
    SmallVector<StringAttr> kept;
    for (auto function : module.getOps<func::FuncOp>())
      if (function.getNoInline())
        kept.push_back(function.getSymNameAttr());
    if (failed(convert(module, target.getIndexBits())) ||
        failed(reconcileCasts(module)))
      return signalPassFailure();
    keepNoInline(module, kept);
    foldDescriptors(module);
  }
};

} // namespace
} // namespace onnxc
