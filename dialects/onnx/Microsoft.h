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
// The same of a left side that is quantized by its values first.
Node dynamicProduct(Node left, Quantized right);

Node channelsFirst(Node image);
Node channelsLast(Node image);

// [N, K] from the bytes of MatMulNBits, lowest bits first.
struct PackedWeights {
  Node bytes, scales, zeroPoints, groups; // groups: the block of each of K
  int64_t K, N, bits, blockSize;
};
Node unpackedWeights(Graph &graph, PackedWeights in);

// Parts of a table in blocks that share a scale and a zero point. Bytes hold
// the numbers of fewer bits along the last dimension.
struct BlockedTable {
  Node numbers, scales, zeroPoints, indices;
  int64_t bits, blockSize, gatherAxis, blockAxis;
};
Node blockRows(Graph &graph, BlockedTable in);

} // namespace onnxc
