// No math operation may end in libm, which a freestanding object does not have.
// What is one instruction or a short sequence on every target stays for LLVM;
// what is a formula of those is expanded; everything else calls, element by
// element, the support library of codegen by the names that C gives them. The
// hot ones have become vector code long before.
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Passes.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace onnxc {

#define GEN_PASS_DEF_LOWERMATH
#include "lowering/Passes.h.inc"

namespace {

bool isInline(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::IsFiniteOp,
             math::IsInfOp, math::IsNaNOp, math::IsNormalOp, math::RoundEvenOp,
             math::RoundOp, math::SqrtOp, math::TruncOp>(op);
}

struct LowerMath : impl::LowerMathBase<LowerMath> {
  void runOnOperation() override {
    RewritePatternSet formulas(&getContext());
    math::populateExpansionPatterns(
        formulas, {"clampf", "fpowi", "ipowi", "rsqrt", "sincos"});
    if (failed(applyPatternsGreedily(getOperation(), std::move(formulas))))
      return signalPassFailure();

    RewritePatternSet calls(&getContext());
    populateMathToLibmConversionPatterns(calls, /*benefit=*/1);
    ConversionTarget target(getContext());
    target.addLegalDialect<arith::ArithDialect, func::FuncDialect,
                           vector::VectorDialect, LLVM::LLVMDialect>();
    target.addDynamicallyLegalDialect<math::MathDialect>(isInline);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(
            applyPartialConversion(getOperation(), target, std::move(calls))))
      signalPassFailure();
  }
};

} // namespace
} // namespace onnxc
