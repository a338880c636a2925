// Sums of products of 8-bit integers. Where the weights are constants and small
// enough, no sum of them with any input passes 2^24: f32 holds every one of
// them, so that the faster kernels of floats compute integers.
#include "dialects/onnx/Constants.h"
#include "dialects/onnx/Graph.h"
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {

constexpr int64_t f32 = 1, i32 = 6;

static bool isByte(Node x) {
  return x.value && getElementTypeOrSelf(x.value.getType()).isInteger(8);
}

static int64_t accumulatorType(IntegerProduct in) {
  auto weights =
      in.weights.value ? constantInts(in.weights.value) : std::nullopt;
  if (!isByte(in.x) || !isByte(in.weights) || !weights)
    return i32;
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(in.weights.value.getType()).getShape();
  int64_t channels = shape[in.channel], inner = 1;
  for (int64_t size : shape.drop_front(in.channel + 1))
    inner *= size;
  // One number for all channels, or one for each.
  auto perChannel = [&](Node list) -> std::optional<SmallVector<int64_t>> {
    if (!list.given())
      return SmallVector<int64_t>(channels, 0);
    auto known = constantInts(list.value);
    if (known && known->size() == 1)
      known->resize(channels, known->front());
    return known && int64_t(known->size()) == channels ? known : std::nullopt;
  };
  auto zeros = perChannel(in.weightsZero), biases = perChannel(in.bias);
  if (!zeros || !biases)
    return i32;
  constexpr int64_t farthest = 255, exact = 1 << 24;
  SmallVector<int64_t> sums =
      llvm::map_to_vector(*biases, [](int64_t bias) { return std::abs(bias); });
  for (auto [i, weight] : llvm::enumerate(*weights)) {
    int64_t channel = int64_t(i) / inner % channels;
    sums[channel] += std::abs(weight - (*zeros)[channel]) * farthest;
  }
  return llvm::all_of(sums, [](int64_t sum) { return sum < exact; }) ? f32
                                                                     : i32;
}

static Node centeredAs(int64_t type, Node x, Node zeroPoint, int64_t axis) {
  Node wide = cast(x, type);
  if (!zeroPoint.given())
    return wide;
  return wide - cast(alignAt(zeroPoint, axis, rankOf(x)), type);
}

Node integerConvolution(IntegerProduct in, ArrayRef<NamedNumber> attributes) {
  in.channel = 0;
  int64_t type = accumulatorType(in);
  Node from = centeredAs(type, in.x, in.zero, 0);
  Node by = centeredAs(type, in.weights, in.weightsZero, 0);
  return op<ConvOp>({from, by, in.bias.given() ? cast(in.bias, type) : in.bias},
                    attributes);
}

Node integerMatMul(IntegerProduct in) {
  int64_t row = std::max<int64_t>(rankOf(in.x) - 2, 0);
  in.channel = rankOf(in.weights) - 1;
  int64_t type = in.channel == 1 ? accumulatorType(in) : i32;
  Node sum = matmul(centeredAs(type, in.x, in.zero, row),
                    centeredAs(type, in.weights, in.weightsZero, in.channel));
  return in.bias.given() ? sum + cast(in.bias, type) : sum;
}

} // namespace onnxc
