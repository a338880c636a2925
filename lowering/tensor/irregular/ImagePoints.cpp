#include "lowering/tensor/irregular/ImagePoints.h"
#include "lowering/tensor/ChannelsFirst.h"
#include "lowering/tensor/Transposed.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace onnxc {

// Vectors of fewer channels are not worth turning the image for.
constexpr int64_t fewChannels = 4;

SmallVector<int64_t> orderOfPoints(const Input &x) {
  if (x.sizes[1].isKnown() && x.sizes[1].get() < fewChannels)
    return llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  return invertPermutationVector(channelsFirst(x.rank()));
}

Value pointsOf(ImplicitLocOpBuilder &builder, const Input &x,
               ArrayRef<int64_t> order) {
  Value turned = transposed(builder, builder.getLoc(), x.lowered, order);
  Sizes sizes = applyPermutation(ArrayRef(x.sizes), order);
  Index points = 1;
  for (Index size : ArrayRef(x.sizes).drop_front(2))
    points = points * size;
  Sizes joined = {x.sizes[0], points, x.sizes[1]};
  if (order[1] == 1)
    std::swap(joined[1], joined[2]);
  return reshaped(builder, turned, sizes, joined);
}

} // namespace onnxc
