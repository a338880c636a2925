#include "lowering/tensor/ChannelsFirst.h"
#include "lowering/tensor/Windowing.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace onnxc {

SmallVector<int64_t> channelsFirst(int64_t rank) {
  SmallVector<int64_t> order = {0, rank - 1};
  llvm::append_range(order, llvm::seq<int64_t>(1, rank - 1));
  return order;
}

static AffineMap permuted(AffineMap map, ArrayRef<int64_t> order) {
  return AffineMap::get(map.getNumDims(), 0,
                        applyPermutation(map.getResults(), order),
                        map.getContext());
}

void runChannelsFirst(linalg::GenericOp root, OpOperand *image) {
  ImplicitLocOpBuilder b(root.getLoc(), root);
  SmallVector<int64_t> order =
      channelsFirst(root.getIndexingMapsArray().back().getNumResults());
  SmallVector<AffineMap> maps = root.getIndexingMapsArray();
  SmallVector<Value> inputs(root.getInputs());
  unsigned number = image->getOperandNumber();
  inputs[number] = toChannelsFirst(b, inputs[number]);
  maps[number] = permuted(maps[number], order);
  maps.back() = permuted(maps.back(), order);
  auto fill = root.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  Value empty = tensor::EmptyOp::create(
      b,
      applyPermutation(
          tensor::getMixedSizes(b, b.getLoc(), root.getOutputs()[0]), order),
      getElementTypeOrSelf(root.getResult(0)));
  Value start = linalg::FillOp::create(b, fill.getInputs(), empty).getResult(0);
  auto turned = linalg::GenericOp::create(b, start.getType(), inputs, start,
                                          maps, root.getIteratorTypesArray());
  turned.getRegion().takeBody(root.getRegion());
  root->replaceAllUsesWith(ValueRange(toChannelsLast(b, turned.getResult(0))));
  root.erase();
}

} // namespace onnxc
