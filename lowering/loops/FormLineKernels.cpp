#include "dialects/onnxc/Onnxc.h"
#include "lowering/Missed.h"
#include "lowering/Passes.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/Contraction.h"
#include "lowering/loops/EmitContraction.h"
#include "lowering/loops/EmitLines.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_FORMLINEKERNELS
#include "lowering/Passes.h.inc"

namespace {

// Whether the kernel is a depthwise convolution, or one of groups in the lanes
// of a vector, and no pool.
bool multiplies(KernelOp kernel) {
  linalg::GenericOp root = *findContraction(kernel);
  return llvm::count_if(root.getDpsInputOperands(), [&](OpOperand *input) {
           return root.payloadUsesValueFromOperand(input);
         }) > 1;
}

// Of one image, where there are several; none where the run knows how many.
int64_t bytesOf(RankedTensorType image) {
  if (ShapedType::isDynamicShape(image.getShape().drop_front()))
    return 0;
  return ShapedType::getNumElements(image.getShape().drop_front()) *
         llvm::divideCeil(image.getElementTypeBitWidth(), 8);
}

// Whether less memory is taken at once: the image lies beside all that it is
// made of, and beside all that is made of it. What the model is given has a
// place of its own, as constants have.
bool savesMemory(Lines lines, int64_t bufferBytes) {
  int64_t made = bytesOf(cast<RankedTensorType>(lines.image->get().getType())),
          written = bytesOf(
              cast<RankedTensorType>(lines.pool.getOutputs()[0].getType())),
          read = 0;
  for (Value input : lines.producer.getInputs()) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    bool isComputed = type && type.getRank() > 1 && input.getDefiningOp() &&
                      !matchPattern(input, m_Constant());
    if (isComputed)
      read += bytesOf(type);
  }
  return std::min(read, written) + bufferBytes < made;
}

// Null where the rows of a depthwise window had better be kept, although those
// that two windows share move up in the line buffer: where memory is scarce,
// and where all behind L2 is far. MobileNets took 0.88 and 0.93 of the time on
// Emerald Rapids.
const char *whyNotWindows(const Lines &lines, int64_t bufferBytes,
                          TargetAttr target) {
  if (!target.getHeap())
    return savesMemory(lines, bufferBytes)
               ? nullptr
               : "no less memory would be taken at once";
  if (!isFarFromMemory(target))
    return "what L2 does not hold comes back soon enough";
  auto image = cast<RankedTensorType>(lines.image->get().getType());
  return bytesOf(image) <= target.getL2Bytes() ? "L2 holds the image" : nullptr;
}

// Null where the rows of a window are little beside the image, and stay in the
// cache with what the producer reads; panels of weights that are outside of its
// pixels would come by once for each row. Memory of bare machines is worth
// that. Tiles of the producer are those of single rows.
const char *whyNotWorthIt(const Lines &lines, TargetAttr target) {
  KernelOp producer = lines.producer;
  auto schedule = cast<ContractionAttr>(producer.getSchedule());
  auto type = cast<RankedTensorType>(lines.image->get().getType());
  int64_t bytes = lineBuffer(lines).getNumElements() *
                  llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  if (schedule.getBlock() || schedule.getGroup() > 1 || schedule.getDepth())
    return "its tiles share more than a row reads";
  if (type.getDimSize(2) < schedule.getRows())
    return "a row is shorter than a tile";
  if (2 * lines.taps > lines.rows)
    return "a window takes more than half of the rows";
  if (!target)
    return "the machine is not known";
  const char *reason =
      multiplies(lines.pool) ? whyNotWindows(lines, bytes, target) : nullptr;
  if (reason || !target.getHeap())
    return reason;
  if (schedule.getOuter() != LoopOrder::Pixels)
    return "its weights would come by once for each row";
  return bytes > target.getL2ForBlocks() / 2
             ? "the cache does not hold the rows of a window"
             : nullptr;
}

// Whether windows of several pixels slide over what the kernel reads.
bool hasWindows(KernelOp kernel) {
  FailureOr<linalg::GenericOp> root = findContraction(kernel);
  return succeeded(root) &&
         llvm::any_of(root->getIndexingMapsArray(), [&](AffineMap map) {
           return !withoutUnitLoops(*root, map)
                       .isProjectedPermutation(
                           /*allowZeroInResults=*/true);
         });
}

// Of a pool that is none of the producer's lines.
const char *whyNoLines(KernelOp producer, KernelOp pool) {
  auto image = cast<ShapedType>(producer.getOutputs()[0].getType());
  if (!isa<ContractionAttr>(producer.getSchedule()))
    return "rows are kept only for a pool behind tiles of single rows";
  if (findFold(producer) || findFold(pool))
    return "rows are kept only for a pool of pixels that nothing else folds";
  if (ShapedType::isDynamicShape(image.getShape().drop_front()))
    return "rows are kept only for a pool of known size";
  return "rows are kept only for a pool that alone reads them and goes along "
         "them";
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
      bool areLines = succeeded(lines) && place;
      const char *reason = areLines ? whyNotWorthIt(*lines, target) : nullptr;
      if (pool && hasWindows(pool) && (reason || !areLines))
        missed(producer, "form-line-kernels", pool)
            << (areLines ? reason : whyNoLines(producer, pool));
      if (reason || !areLines)
        continue;
      pools.insert(pool);
      formKernel(*lines, place);
    }
  }
};

} // namespace
} // namespace onnxc
