#include "lowering/loops/KernelWork.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace onnxc {

// From behind L1, where what another kernel wrote mostly is.
static constexpr double bytesPerCycle = 16;
// Of arithmetic that a function of math takes.
static constexpr double mathOperations = 16;

static double countOf(ArrayRef<int64_t> sizes) {
  double count = 1;
  for (int64_t size : sizes)
    count *= ShapedType::isDynamic(size) ? unknownSize : size;
  return count;
}

static double operationsOf(linalg::LinalgOp op) {
  double perPoint = 0;
  for (Operation &inner : op.getBlock()->without_terminator())
    perPoint += isa<math::MathDialect>(inner.getDialect()) ? mathOperations : 1;
  return countOf(op.getStaticLoopRanges()) * std::max(perPoint, 1.0);
}

static double bytesOf(Operation *op) {
  double bytes = 0;
  for (Type type : op->getOperandTypes())
    if (auto shaped = dyn_cast<ShapedType>(type);
        shaped && shaped.hasRank() && shaped.getElementType().isIntOrFloat())
      bytes += countOf(shaped.getShape()) * shaped.getElementTypeBitWidth() / 8;
  return bytes;
}

int64_t workOf(Operation *op, TargetAttr target) {
  double operations = 0;
  op->walk([&](linalg::LinalgOp inner) { operations += operationsOf(inner); });
  int64_t lanes =
      target ? std::max<int64_t>(target.getVectorBits() / 32, 1) : 1;
  double calculating = operations / (2.0 * lanes);
  double cycles = std::max(calculating, bytesOf(op) / bytesPerCycle);
  return std::min(cycles, double(int64_t(1) << 60));
}

} // namespace onnxc
