#include "dialects/onnx/Microsoft.h"
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {

Node activated(Node x, StringRef name, ArrayRef<float> parameters) {
  auto parameter = [&](size_t i, double otherwise) {
    return i < parameters.size() ? double(parameters[i]) : otherwise;
  };
  if (!x.value || name.empty())
    return x;
  if (name == "Clip")
    return op<ClipOp>({x, parameter(0, -infinity), parameter(1, infinity)});
  Attributes attributes;
  if (name == "LeakyRelu")
    attributes = {{"alpha", parameter(0, 0.01)}};
  else if (name == "HardSigmoid")
    attributes = {{"alpha", parameter(0, 0.2)}, {"beta", parameter(1, 0.5)}};
  else if (!llvm::is_contained({"Relu", "Tanh", "Sigmoid"}, name))
    x.graph->fail("activation '" + name + "' is not supported");
  return x.graph->op(("onnx." + name).str(), x, attributes);
}

Node scaledProduct(Quantized left, Quantized right) {
  int64_t row = rankOf(left.numbers) - 2, column = rankOf(right.numbers) - 1;
  Node sum = matmul(centered(left.numbers, left.zeroPoint, row),
                    centered(right.numbers, right.zeroPoint, column));
  return castLike(sum, left.scale) * left.scale * right.scale;
}

Node channelsFirst(Node image) {
  SmallVector<int64_t> permutation = range(0, rankOf(image));
  std::rotate(permutation.begin() + 1, permutation.end() - 1,
              permutation.end());
  return transpose(image, permutation);
}

Node channelsLast(Node image) {
  SmallVector<int64_t> permutation = range(0, rankOf(image));
  std::rotate(permutation.begin() + 1, permutation.begin() + 2,
              permutation.end());
  return transpose(image, permutation);
}

// [N, bytes] as [N, numbers].
static Node unpackBits(Node bytes, int64_t bits) {
  if (bits == 8)
    return bytes;
  SmallVector<Node> parts;
  for (int64_t shift = 0; shift < 8; shift += bits) {
    Node shifted = shift ? op<BitShiftOp>({bytes, shift},
                                          {{"direction", StringRef("RIGHT")}})
                         : bytes;
    Node part = op<BitwiseAndOp>({shifted, (1 << bits) - 1});
    parts.push_back(unsqueeze(part, {2}));
  }
  return reshape(concat(parts, 2), {0, -1});
}

Node unpackedWeights(Graph &graph, PackedWeights in) {
  if (!llvm::is_contained({2, 4, 8}, in.bits) || in.blockSize < 1 ||
      in.K < 1 || in.N < 1) {
    graph.fail("expected 2, 4 or 8 bits and positive sizes");
    return {};
  }
  int64_t blocks = llvm::divideCeil(in.K, in.blockSize);
  Node numbers = unpackBits(reshape(in.bytes, {in.N, -1}), in.bits);
  numbers = reshape(numbers, {in.N, blocks, in.blockSize});
  Node zero = constantLike(double(1 << (in.bits - 1)), in.scales);
  if (in.zeroPoints.given()) {
    zero = reshape(in.zeroPoints, {in.N, -1});
    if (!isa<FloatType>(getElementTypeOrSelf(zero.value.getType())))
      zero = slice(unpackBits(zero, in.bits), 1, 0, blocks);
    zero = unsqueeze(castLike(zero, in.scales), {2});
  }
  Node scales = reshape(in.scales, {in.N, blocks, 1});
  Node real = (castLike(numbers, in.scales) - zero) * scales;
  return slice(reshape(real, {in.N, -1}), 1, 0, in.K);
}

} // namespace onnxc
