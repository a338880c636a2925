#include "lowering/loops/KernelWork.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace onnxc {

static constexpr int64_t unknownSize = 8;

int64_t workOf(KernelOp kernel) {
  int64_t work = 0;
  kernel->walk([&](linalg::LinalgOp op) {
    int64_t points = 1;
    for (int64_t size : op.getStaticLoopRanges())
      points = llvm::SaturatingMultiply<uint64_t>(
          points, ShapedType::isDynamic(size) ? unknownSize : size);
    int64_t operations = llvm::range_size(op.getBlock()->without_terminator());
    work = llvm::SaturatingAdd<uint64_t>(
        work, llvm::SaturatingMultiply<uint64_t>(
                  points, std::max<int64_t>(operations, 1)));
  });
  return std::clamp<int64_t>(work, 0, int64_t(1) << 60);
}

} // namespace onnxc
