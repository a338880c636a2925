#include "dialects/onnx/Microsoft.h"
#include "dialects/onnx/Composite.h"
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
  Node sum = integerMatMul(
      {left.numbers, left.zeroPoint, right.numbers, right.zeroPoint, Node()});
  return castLike(sum, left.scale) * left.scale * right.scale;
}

Node dynamicProduct(Node left, Quantized right) {
  SmallVector<Node> quantized = dynamicallyQuantized(left);
  return scaledProduct({quantized[0], quantized[2], quantized[1]}, right);
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

// [..., bytes] as [..., numbers].
static Node unpackBits(Node bytes, int64_t bits) {
  if (bits == 8)
    return bytes;
  int64_t rank = rankOf(bytes);
  SmallVector<Node> parts;
  for (int64_t shift = 0; shift < 8; shift += bits) {
    Node shifted = shift ? op<BitShiftOp>({bytes, shift},
                                          {{"direction", StringRef("RIGHT")}})
                         : bytes;
    Node part = op<BitwiseAndOp>({shifted, (1 << bits) - 1});
    parts.push_back(unsqueeze(part, {rank}));
  }
  SmallVector<int64_t> sizes(rank - 1, 0);
  sizes.push_back(-1);
  return reshape(concat(parts, rank), sizes);
}

Node unpackedWeights(Graph &graph, PackedWeights in) {
  if (!llvm::is_contained({2, 4, 8}, in.bits) || in.blockSize < 1 || in.K < 1 ||
      in.N < 1) {
    graph.fail("expected 2, 4 or 8 bits and positive sizes");
    return {};
  }
  int64_t blocks = llvm::divideCeil(in.K, in.blockSize);
  Node numbers = unpackBits(reshape(in.bytes, {in.N, -1}), in.bits);
  Node zero = constantLike(double(1 << (in.bits - 1)), in.scales);
  if (in.zeroPoints.given()) {
    zero = reshape(in.zeroPoints, {in.N, -1});
    if (!isa<FloatType>(getElementTypeOrSelf(zero.value.getType())))
      zero = slice(unpackBits(zero, in.bits), 1, 0, blocks);
    zero = castLike(zero, in.scales);
  }
  Node scales = reshape(in.scales, {in.N, blocks});
  if (in.groups.given()) { // [N, K] of everything
    auto ofColumns = [&](Node x) {
      return x.value && rankOf(x) == 2 ? gather(x, in.groups, 1) : x;
    };
    numbers = castLike(slice(numbers, 1, 0, in.K), in.scales);
    return (numbers - ofColumns(zero)) * ofColumns(scales);
  }
  numbers = reshape(castLike(numbers, in.scales), {in.N, blocks, in.blockSize});
  if (zero.value && rankOf(zero) == 2)
    zero = unsqueeze(zero, {2});
  Node real = (numbers - zero) * unsqueeze(scales, {2});
  return slice(reshape(real, {in.N, -1}), 1, 0, in.K);
}

Node blockRows(Graph &graph, BlockedTable in) {
  int64_t rank = rankOf(in.numbers);
  Type element = getElementTypeOrSelf(in.numbers.value.getType());
  bool isByte = element.isUnsignedInteger(8);
  if (isByte && in.bits < 8 &&
      (in.blockAxis != rank - 1 || !llvm::is_contained({2, 4}, in.bits))) {
    graph.fail("expected packed numbers of 2 or 4 bits in blocks along the "
               "last dimension");
    return {};
  }
  // Blocks are unpacked behind the choice of rows, where that is another axis.
  bool choosesFirst = in.gatherAxis != in.blockAxis;
  auto rows = [&](Node table) {
    return table.given() && choosesFirst
               ? gather(table, in.indices, in.gatherAxis)
               : table;
  };
  auto unpacked = [&](Node table) {
    return table.given() && isByte ? unpackBits(table, in.bits) : table;
  };
  int64_t axis = in.blockAxis;
  if (choosesFirst && in.gatherAxis < axis)
    axis += rankOf(in.indices) - 1;
  Node scales = rows(in.scales), zero = unpacked(rows(in.zeroPoints));
  if (!zero.given() && isByte) // the middle
    zero =
        expand(constantLike(1 << (in.bits - 1), in.numbers), shapeOf(scales));
  else if (zero.given()) // its last byte may hold numbers of no block
    zero = slice(zero, axis, graph.ints({0}), sizeOf(scales, axis));
  Node real =
      op<DequantizeLinearOp>({unpacked(rows(in.numbers)), scales, zero},
                             {{"axis", axis}, {"block_size", in.blockSize}});
  return choosesFirst ? real : gather(real, in.indices, in.gatherAxis);
}

} // namespace onnxc
