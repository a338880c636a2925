// Exporters compute a layer on a matrix of rows and give its result back the
// dimensions of a sequence (Gemm, Reshape), and the groups of a convolution are
// joined to channels behind it. What follows element by element would be the
// product's epilogue, but for the reshape between: this pass makes the reshape
// behind it, by upstream's patterns.
#include "lowering/Passes.h"
#include "lowering/loops/Contraction.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace onnxc {
#define GEN_PASS_DEF_SINKRESHAPES
#include "lowering/Passes.h.inc"

using namespace mlir;
using linalg::GenericOp;

namespace {

// Whether `value` is a sum of products, or what was computed of one element by
// element: its first operand of all elements is.
bool comesFromProduct(Value value) {
  while (auto op = value.getDefiningOp<GenericOp>()) {
    if (op.getNumReductionLoops())
      return op.getNumDpsInputs() > 1;
    SmallVector<OpOperand *> inputs = op.getDpsInputOperands();
    auto *full = llvm::find_if(inputs, [&](OpOperand *input) {
      return op.getMatchingIndexingMap(input).isIdentity();
    });
    if (!isElementwise(op) || full == inputs.end())
      return false;
    value = (*full)->get();
  }
  return false;
}

// Operands of all elements can be reshaped as well, and so can constants. What
// is computed per row, as by a norm, keeps its dimensions.
bool canBeReshaped(OpOperand *operand) {
  auto op = dyn_cast<GenericOp>(operand->getOwner());
  auto reshape = operand->get().getDefiningOp<tensor::ExpandShapeOp>();
  return op && reshape && isElementwise(op) && !op.hasIndexSemantics() &&
         llvm::all_of(op.getDpsInputOperands(),
                      [&](OpOperand *input) {
                        return op.getMatchingIndexingMap(input).isIdentity() ||
                               matchPattern(input->get(), m_Constant());
                      }) &&
         comesFromProduct(reshape.getSrc());
}

// Whether nothing but two dimensions of known size is joined: the last ones,
// or, where vectors lie along pixels, those in front of the last one or of all
// of them.
bool joinsGroups(tensor::CollapseShapeOp op) {
  auto groups = op.getReassociationIndices();
  ArrayRef<int64_t> shape = op.getSrcType().getShape();
  if (op.getSrcType().getRank() != op.getResultType().getRank() + 1)
    return false;
  auto pair = llvm::find_if(groups, [](const ReassociationIndices &group) {
    return group.size() == 2;
  });
  bool areChannels = pair - groups.begin() == 1;
  return (areChannels || groups.end() - pair <= 2) &&
         !ShapedType::isDynamicShape(shape.slice(pair->front(), 2));
}

bool canBeGrouped(OpOperand *operand) {
  auto op = dyn_cast<GenericOp>(operand->getOwner());
  auto reshape = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  return op && reshape && isElementwise(op) && !op.hasIndexSemantics() &&
         joinsGroups(reshape) && comesFromProduct(reshape.getSrc());
}

struct SinkReshapes : impl::SinkReshapesBase<SinkReshapes> {
  void runOnOperation() override {
    RewritePatternSet joining(&getContext()), grouping(&getContext());
    // A reshape may pass as many operations as a network is deep.
    auto untilDone =
        GreedyRewriteConfig().setMaxIterations(GreedyRewriteConfig::kNoLimit);
    linalg::populateFoldReshapeOpsByCollapsingPatterns(joining, canBeReshaped);
    linalg::populateFoldReshapeOpsByExpansionPatterns(grouping, canBeGrouped);
    for (RewritePatternSet *patterns : {&joining, &grouping}) {
      tensor::CollapseShapeOp::getCanonicalizationPatterns(*patterns,
                                                           &getContext());
      tensor::ExpandShapeOp::getCanonicalizationPatterns(*patterns,
                                                         &getContext());
      if (failed(applyPatternsGreedily(getOperation(), std::move(*patterns),
                                       untilDone)))
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace onnxc
