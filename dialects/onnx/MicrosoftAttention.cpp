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

// What is added to the logits: a mask of integers and a bias, or either.
static Node hidingBias(Node mask, Node bias) {
  if (!mask.given() || !bias.given())
    return mask.given() ? seenKeys(mask) : bias;
  return select(seenKeys(mask), bias, constantLike(-infinity, bias));
}

// A mask of one number for each batch is the number of valid keys.
static void hide(AttentionInputs &in, Node mask, Node bias) {
  bool isLength = mask.given() && rankOf(mask) == 1;
  if (isLength)
    in.kvLength = cast(mask, 7);
  in.mask = hidingBias(isLength ? Node() : mask, bias);
}

SmallVector<Node> projectedAttention(Graph &graph, ProjectedAttention in) {
  int64_t width = staticSize(in.projected, 2);
  if (graph.failed || width <= 0)
    return graph.fail("the width of the projection must be known");
  SmallVector<int64_t> widths(3, width / 3);
  if (in.widths)
    widths.assign(in.widths->begin(), in.widths->end());
  if (widths.size() != 3)
    return graph.fail("expected three widths of the projection");
  if (widths[1] != widths[2]) // no tensor holds the keys and values of both
    return graph.fail("keys and values of different widths are not supported");
  int64_t next = 0;
  auto part = [&](int64_t i) {
    next += widths[i];
    return slice(in.projected, 2, next - widths[i], next);
  };
  auto half = [&](int64_t i) {
    return in.past.given() ? squeeze(slice(in.past, 0, i, i + 1), {0}) : Node();
  };
  Node query = part(0), key = part(1), value = part(2);
  AttentionInputs inputs = {query,    key,      value,  Node(),
                            half(0),  half(1),  Node(), in.causal,
                            in.heads, in.heads, -1,     -1,
                            0,        in.scale, 0};
  hide(inputs, in.mask, in.bias);
  SmallVector<Node> results = attention(graph, inputs);
  if (graph.failed)
    return {};
  Node present =
      concat({unsqueeze(results[1], {0}), unsqueeze(results[2], {0})}, 0);
  return {results[0], present};
}

// [batch, sequence, heads, parts, size] as [batch, sequence, heads * size].
static Node unpacked(Node packed, int64_t part) {
  int64_t width = staticSize(packed, 2) * staticSize(packed, 4);
  return reshape(slice(packed, 3, part, part + 1), {0, 0, width});
}

SmallVector<Node> multiHeadAttention(Graph &graph, MultiHeadInputs in) {
  if (!in.key.given()) {
    Node all = in.query;
    in.query = unpacked(all, 0);
    in.key = unpacked(all, 1);
    in.value = unpacked(all, 2);
  } else if (!in.value.given()) {
    Node both = in.key;
    in.key = unpacked(both, 0);
    in.value = unpacked(both, 1);
  }
  if (in.inputBias.given()) {
    int64_t width = staticSize(in.query, 2), end = 2 * width;
    auto part = [&](int64_t begin, int64_t length) {
      return slice(in.inputBias, 0, begin, begin + length);
    };
    in.query = in.query + part(0, width);
    if (rankOf(in.key) == 3)
      in.key = in.key + part(width, width);
    if (rankOf(in.value) == 3)
      in.value = in.value + part(end, staticSize(in.value, 2));
  }
  AttentionInputs inputs = {in.query, in.key,       in.value,     Node(),
                            in.pastKey, in.pastValue, Node(),     in.causal,
                            in.heads,   in.heads,     -1,         -1,
                            0,          in.scale,     0};
  hide(inputs, in.mask, in.bias);
  SmallVector<Node> results = attention(graph, inputs);
  if (graph.failed)
    return {};
  results.resize(3);
  return results;
}

SmallVector<Node> microsoftRotation(Graph &graph, Rotation in) {
  bool flat = rankOf(in.x) == 3;
  if (flat && !in.heads)
    in.heads = staticSize(in.x, 2) /
               std::max<int64_t>(2 * staticSize(in.cosines, 1), 1);
  if (rankOf(in.positions) == 1) // where the sequence begins
    in.positions = reshape(in.positions, {1, 1}) +
                   range(0, scalar(sizeOf(in.x, flat ? 1 : 2)), 1);
  return rotaryEmbedding(graph, in);
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
