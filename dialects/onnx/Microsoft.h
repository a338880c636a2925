// Parts of com.microsoft's operators.
#pragma once
#include "dialects/onnx/Graph.h"

namespace onnxc {

// What ONNX Runtime fuses behind a convolution or a product; none where `name`
// is empty.
Node activated(Node x, llvm::StringRef name, llvm::ArrayRef<float> parameters);

struct Quantized {
  Node numbers, zeroPoint, scale;
};
// A product of integers, scaled; the right side's columns may have scales of
// their own.
Node scaledProduct(Quantized left, Quantized right);

Node channelsFirst(Node image);
Node channelsLast(Node image);

// [N, K] from the bytes of MatMulNBits, lowest bits first.
struct PackedWeights {
  Node bytes, scales, zeroPoints;
  int64_t K, N, bits, blockSize;
};
Node unpackedWeights(Graph &graph, PackedWeights in);

} // namespace onnxc
