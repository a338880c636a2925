// com.microsoft's attention operators, as the standard's.
#include "dialects/onnx/Attention.h"
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {

// A mask of integers: lengths, or one number for each key, or for each query
// and key. True where a key is seen.
static Node seenKeys(Node mask) {
  Node seen = cast(mask, 9);
  if (rankOf(mask) == 2)
    return unsqueeze(seen, {1, 2});
  return rankOf(mask) == 3 ? unsqueeze(seen, {1}) : seen;
}

SmallVector<Node> projectedAttention(Graph &graph, ProjectedAttention in) {
  Node all = matmul(in.input, in.weights);
  if (in.bias.given())
    all = all + in.bias;
  int64_t width = staticSize(all, 2) / 3;
  if (graph.failed || width <= 0)
    return graph.fail("the width of the projection must be known");
  auto part = [&](int64_t i) {
    return slice(all, 2, i * width, (i + 1) * width);
  };
  auto half = [&](int64_t i) {
    return in.past.given() ? squeeze(slice(in.past, 0, i, i + 1), {0}) : Node();
  };
  bool lengths = in.mask.given() && rankOf(in.mask) == 1;
  AttentionInputs inputs = {part(0),   part(1),  part(2), Node(),
                            half(0),   half(1),  Node(),  in.causal,
                            in.heads,  in.heads, -1,      -1,
                            0,         in.scale, 0};
  if (lengths)
    inputs.kvLength = cast(in.mask, 7);
  else if (in.mask.given())
    inputs.mask = seenKeys(in.mask);
  SmallVector<Node> results = attention(graph, inputs);
  if (graph.failed)
    return {};
  Node present =
      concat({unsqueeze(results[1], {0}), unsqueeze(results[2], {0})}, 0);
  return {results[0], present};
}

SmallVector<Node> groupQueryAttention(Graph &graph, GroupQueryInputs in) {
  int64_t heads = in.heads + 2 * in.keyHeads;
  if (!in.key.given()) { // packed: queries, keys, values
    int64_t size = staticSize(in.query, 2) / heads;
    int64_t keys = in.heads * size, values = keys + in.keyHeads * size;
    Node all = in.query;
    in.query = slice(all, 2, 0, keys);
    in.key = slice(all, 2, keys, values);
    in.value = slice(all, 2, values, values + in.keyHeads * size);
  }
  Node length = cast(in.lengths, 7) + 1;
  if (in.rotates) {
    Node first = reshape(length, {-1, 1}) - sizeOf(in.query, 1);
    Node at = first + range(0, scalar(sizeOf(in.query, 1)), 1);
    auto rotated = [&](Node x, int64_t count) {
      return rotaryEmbedding(graph, {x, in.cosines, in.sines, at, count, 0,
                                     in.interleaved})
          .front();
    };
    in.query = rotated(in.query, in.heads);
    in.key = rotated(in.key, in.keyHeads);
  }
  std::optional<double> scale;
  if (in.scale != 0)
    scale = in.scale;
  SmallVector<Node> results = attention(
      graph, {in.query, in.key, in.value, in.bias, in.pastKey, in.pastValue,
              length, true, in.heads, in.keyHeads,
              in.window > 0 ? in.window - 1 : -1, -1, 0, scale, in.softcap});
  if (graph.failed)
    return {};
  results.resize(3);
  return results;
}

} // namespace onnxc
