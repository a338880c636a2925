#include "dialects/onnxc/Onnxc.h"
#include "lowering/Passes.h"
#include "lowering/loops/EmitLines.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_FORMLINEKERNELS
#include "lowering/Passes.h.inc"

namespace {

// Whether the rows of a window are little beside the image, and stay in the
// cache with what the producer reads; panels of weights that are outside of its
// pixels would come by once for each row. Memory of bare machines is worth
// that. Tiles of the producer are those of single rows.
bool isWorthIt(const Lines &lines, TargetAttr target) {
  KernelOp producer = lines.producer;
  auto schedule = cast<ContractionAttr>(producer.getSchedule());
  auto type = cast<RankedTensorType>(lines.image->get().getType());
  int64_t bytes = lineBuffer(lines).getNumElements() *
                  llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  bool isBlocked =
      schedule.getBlock() || schedule.getGroup() > 1 || schedule.getDepth();
  if (!target || isBlocked || type.getDimSize(2) < schedule.getRows() ||
      2 * lines.taps > lines.rows)
    return false;
  return !target.getHeap() || (schedule.getOuter() == LoopOrder::Pixels &&
                               bytes <= target.getL2ForBlocks() / 2);
}

void formKernel(const Lines &lines, tensor::EmptyOp place) {
  KernelOp producer = lines.producer, pool = lines.pool;
  llvm::SetVector<Value> inputs(llvm::from_range, producer.getInputs());
  inputs.insert_range(place.getDynamicSizes());
  inputs.insert_range(pool.getInputs());
  inputs.remove(producer->getResult(0));
  ImplicitLocOpBuilder b(pool.getLoc(), pool);
  RankedTensorType buffer = lineBuffer(lines);
  Value scratch =
      tensor::EmptyOp::create(b, buffer.getShape(), buffer.getElementType());
  auto kernel =
      KernelOp::create(b, LinesAttr::get(b.getContext()), inputs.getArrayRef(),
                       ValueRange{pool.getOutputs()[0], scratch});
  auto arguments = kernel.getBodyBlock()->getArguments();
  IRMapping mapping;
  mapping.map(inputs.getArrayRef(), arguments.take_front(inputs.size()));
  mapping.map(pool.getOutputs()[0], arguments[inputs.size()]);
  pool->getResult(0).replaceAllUsesWith(kernel->getResult(0));
  b.setInsertionPointToEnd(kernel.getBodyBlock());
  for (Operation *part :
       {place.getOperation(), producer.getOperation(), pool.getOperation()})
    b.clone(*part, mapping);
  KernelYieldOp::create(
      b, ValueRange{mapping.lookup(pool->getResult(0)), arguments.back()});
  pool.erase();
  producer.erase();
}

struct FormLineKernels : impl::FormLineKernelsBase<FormLineKernels> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    SmallVector<KernelOp> producers;
    getOperation().walk([&](KernelOp kernel) { producers.push_back(kernel); });
    DenseSet<Operation *> pools; // that are part of another kernel by now
    for (KernelOp producer : producers) {
      if (pools.contains(producer) || !producer->hasOneUse())
        continue;
      auto pool = dyn_cast<KernelOp>(*producer->getUsers().begin());
      FailureOr<Lines> lines = pool && pool->getBlock() == producer->getBlock()
                                   ? matchLines(producer, pool)
                                   : FailureOr<Lines>(failure());
      auto place = producer.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
      if (failed(lines) || !place || !isWorthIt(*lines, target))
        continue;
      pools.insert(pool);
      formKernel(*lines, place);
    }
  }
};

} // namespace
} // namespace onnxc
