#include "lowering/tensor/Windowing.h"
#include "lowering/tensor/Transposed.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace onnxc {

Sizes channelsLast(ArrayRef<Index> sizes) {
  Sizes last = {sizes[0]};
  llvm::append_range(last, sizes.drop_front(2));
  last.push_back(sizes[1]);
  return last;
}

Value toChannelsLast(ImplicitLocOpBuilder &builder, Value image) {
  int64_t rank = cast<RankedTensorType>(image.getType()).getRank();
  SmallVector<int64_t> order = {0};
  llvm::append_range(order, range(2, rank));
  order.push_back(1);
  return transposed(builder, builder.getLoc(), image, order);
}

Value toChannelsFirst(ImplicitLocOpBuilder &builder, Value image) {
  int64_t rank = cast<RankedTensorType>(image.getType()).getRank();
  SmallVector<int64_t> order = {0, rank - 1};
  llvm::append_range(order, range(1, rank - 1));
  return transposed(builder, builder.getLoc(), image, order);
}

Value padImage(ImplicitLocOpBuilder &builder, Value image, const Window &window,
               Value with) {
  Sizes low = {0}, high = {0};
  bool any = false;
  for (const WindowDim &dim : window) {
    low.push_back(dim.before);
    high.push_back(dim.touchedAfter());
    any = any || !low.back().is(0) || !high.back().is(0);
  }
  if (!any)
    return image;
  int64_t rank = cast<RankedTensorType>(image.getType()).getRank();
  low.resize(rank, 0);
  high.resize(rank, 0);
  return tensor::PadOp::create(builder, Type(), image, folded(builder, low),
                               folded(builder, high), with);
}

} // namespace onnxc
