// A structured loop that becomes branches splits the block that it stands in,
// which costs as much as what follows it. The last one goes first here: nothing
// but straight code follows it, and a model of ten thousand loops is lowered in
// linear time.
#include "lowering/Passes.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace onnxc {

#define GEN_PASS_DEF_LOWERLOOPS
#include "lowering/Passes.h.inc"

namespace {

struct LowerLoops : impl::LowerLoopsBase<LowerLoops> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateSCFToControlFlowConversionPatterns(patterns);
    // In post-order, which the driver takes from its end.
    SmallVector<Operation *> loops;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<scf::SCFDialect>(op->getDialect()) &&
          !op->hasTrait<OpTrait::IsTerminator>())
        loops.push_back(op);
    });
    auto config = GreedyRewriteConfig()
                      .setStrictness(GreedyRewriteStrictness::ExistingAndNewOps)
                      .enableFolding(false)
                      .enableConstantCSE(false);
    if (failed(applyOpPatternsGreedily(loops, std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
} // namespace onnxc
