#include "lowering/Passes.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/Contraction.h"
#include "lowering/loops/EmitContraction.h"
#include "lowering/loops/RegisterTile.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_KEEPPANELS
#include "lowering/Passes.h.inc"

namespace {

// Tiles of rows for which a copy pays.
constexpr int64_t leastTiles = 4;

// The loops that run more than once, or may do so.
SmallVector<unsigned> longLoops(linalg::GenericOp root,
                                ArrayRef<unsigned> loops) {
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  return llvm::filter_to_vector(
      loops, [&](unsigned loop) { return extents[loop] != 1; });
}

// Whether rows of a panel lie in more pages than the first TLB remembers, which
// vectors of a whole line each find out twice a cycle, and a line per step
// where the panel does not stay in the first cache. Copies took 0.78 to 0.94 of
// the time for squares of 384 to 1000 on Emerald Rapids, but up to 1.4 for 200
// and 300; with half as wide vectors 0.96 to 1.07 there, and on Zen 4 0.77 to
// 0.95 for sums of 700 and more, 1.25 for 300.
bool spansPages(OpOperand *input, int64_t rowsOfPanel, TargetAttr target,
                ContractionAttr schedule) {
  constexpr int64_t manyPages = 128;
  auto type = cast<ShapedType>(input->get().getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8,
          panelBytes = rowsOfPanel * schedule.getColumns() * bytes;
  bool areLines = schedule.getVector() * bytes >= lineBytes;
  if (!type.hasStaticShape() || target.getFmaPerCycle() < 2 ||
      type.getShape().back() <= schedule.getColumns() ||
      (!areLines && (!target.getHeap() || panelBytes <= target.getL1Bytes())))
    return false;
  return rowsOfPanel * type.getShape().back() * bytes > manyPages * pageBytes;
}

// How long the sum is, where the kernel had better copy panels of its second
// matrix.
std::optional<int64_t> depthOfCopies(KernelOp kernel, TargetAttr target) {
  auto schedule = dyn_cast<ContractionAttr>(kernel.getSchedule());
  FailureOr<linalg::GenericOp> root = findContraction(kernel);
  if (!schedule || schedule.getOuter() != LoopOrder::Panels || failed(root) ||
      schedule.getVector() == 1 || kernel.getOutputs().size() != 1 ||
      findFold(kernel))
    return std::nullopt;
  LoopRoles roles = *inferLoopRoles(*root);
  OpOperand *input = inputOfPanels(*root, roles);
  SmallVector<unsigned> rows = longLoops(*root, roles.pixels),
                        sums = longLoops(*root, roles.reductions);
  if (!input || !isa<BlockArgument>(input->get()) || rows.size() != 1 ||
      sums.size() != 1 || !shapeOf(*root, roles).isProduct)
    return std::nullopt;
  SmallVector<int64_t> extents = root->getStaticLoopRanges();
  AffineMap map = withoutUnitLoops(*root, root->getMatchingIndexingMap(input));
  if (!map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
      map.getResults().back() !=
          getAffineDimExpr(roles.vector, map.getContext()) ||
      ShapedType::isDynamic(extents[rows.front()]) ||
      extents[rows.front()] < leastTiles * schedule.getRows() ||
      !(rowsCollide(*root, input, sums.front(), target) ||
        spansPages(input, extents[sums.front()], target, schedule)))
    return std::nullopt;
  return extents[sums.front()];
}

void addRoom(KernelOp kernel, int64_t depth) {
  auto schedule = cast<ContractionAttr>(kernel.getSchedule());
  if (schedule.getDepth())
    depth = schedule.getDepth();
  FailureOr<linalg::GenericOp> root = findContraction(kernel);
  Value panels = inputOfPanels(*root, *inferLoopRoles(*root))->get();
  OpBuilder builder(kernel);
  Location loc = kernel.getLoc();
  SmallVector<Value> outputs(kernel.getOutputs());
  outputs.push_back(tensor::EmptyOp::create(
      builder, loc,
      ArrayRef<int64_t>{schedule.getGroup() * schedule.getColumns() * depth},
      getElementTypeOrSelf(panels)));
  auto roomy =
      KernelOp::create(builder, loc, schedule, kernel.getInputs(), outputs);
  Block *body = roomy.getBodyBlock(), *old = kernel.getBodyBlock();
  for (auto [from, to] : llvm::zip(old->getArguments(), body->getArguments()))
    from.replaceAllUsesWith(to);
  body->getOperations().splice(body->end(), old->getOperations());
  body->getTerminator()->insertOperands(1, body->getArguments().back());
  kernel.getResult(0).replaceAllUsesWith(roomy.getResult(0));
  kernel.erase();
}

struct KeepPanels : impl::KeepPanelsBase<KeepPanels> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    if (!target)
      return;
    SmallVector<std::pair<KernelOp, int64_t>> found;
    getOperation().walk<WalkOrder::PreOrder>([&](KernelOp kernel) {
      if (std::optional<int64_t> depth = depthOfCopies(kernel, target))
        found.push_back({kernel, *depth});
      return WalkResult::skip(); // a product in it is part of it
    });
    for (auto [kernel, depth] : found)
      addRoom(kernel, depth);
  }
};

} // namespace
} // namespace onnxc
