// com.microsoft's attention operators, as the standard's.
#include "dialects/onnx/Attention.h"
#include "dialects/onnx/Composite.h"
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {

// How many keys there are, the past's included.
static Node keyCount(const AttentionInputs &in) {
  Node count = sizeOf(in.k, rankOf(in.k) == 3 ? 1 : 2);
  return in.pastKey.given() ? count + sizeOf(in.pastKey, 2) : count;
}

// The numbers of every batch from entry `i` times the batch on, as
// [batch, 1, 1, 1].
static Node eachBatch(Node list, int64_t i, Node batch) {
  return reshape(slice(list, 0, batch * i, batch * (i + 1)), {-1, 1, 1, 1});
}

// Numbers for each key, or for each query and key, or a square of them for the
// longest sequence; or one number for each batch: where its keys end. Behind
// these may stand where they begin. True where a key is seen.
static Node seenKeys(const AttentionInputs &in, Node mask) {
  Node seen = cast(mask, 9), keys = keyCount(in);
  switch (rankOf(mask)) {
  case 1: {
    constexpr int64_t int64 = 7;
    Node list = cast(mask, int64), at = range(0, scalar(keys), 1);
    Node batch = sizeOf(in.q, 0);
    Node before = at < eachBatch(list, 0, batch);
    Dim own = shapeOf(in.q.value.getType())[0];
    Dim numbers = shapeOf(mask.value.getType())[0];
    bool isKnown = own.isStatic() && numbers.isStatic();
    if (numbers.surelyEquals(own) || (isKnown && numbers.size != 2 * own.size))
      return before;
    Node begins = list;
    if (!isKnown) // of zero where there are none
      begins =
          concat({list, list}, 0) * cast(sizeOf(list, 0) == batch * 2, int64);
    return before && at >= eachBatch(begins, 1, batch);
  }
  case 2:
    return unsqueeze(seen, {1, 2});
  case 3:
    return unsqueeze(seen, {1});
  default:
    Node queries = sizeOf(in.q, rankOf(in.q) == 3 ? 1 : 2);
    return slice(slice(seen, 2, keys - queries, keys), 3, mask.graph->ints({0}),
                 keys);
  }
}

// What is added to the logits. A hidden key keeps a share if all are hidden.
static Node addedBias(const AttentionInputs &in, Node mask, Node bias,
                      double filter) {
  if (!mask.given())
    return bias;
  Node zero = constantLike(0, wide(in.q));
  Node hidden = select(seenKeys(in, mask), zero, constantLike(filter, zero));
  return bias.given() ? hidden + wide(bias) : hidden;
}

SmallVector<Node> projectedAttention(Graph &graph, ProjectedAttention in) {
  if (graph.failed)
    return {};
  SmallVector<Node> widths(3, sizeOf(in.projected, 2) / 3);
  if (in.widths && in.widths->size() != 3)
    return graph.fail("expected three widths of the projection");
  if (in.widths)
    widths = llvm::map_to_vector(
        *in.widths, [&](int64_t width) { return graph.ints({width}); });
  // Or no tensor holds both.
  bool isPresent = !in.widths || (*in.widths)[1] == (*in.widths)[2];
  if (!isPresent && (in.wantsPresent || in.past.given()))
    return graph.fail("a past of keys and values of different widths is not "
                      "supported");
  Node next = graph.ints({0});
  auto part = [&](int64_t i) {
    Node begin = next;
    next = next + widths[i];
    return slice(in.projected, 2, begin, next);
  };
  auto half = [&](int64_t i) {
    return in.past.given() ? squeeze(slice(in.past, 0, i, i + 1), {0}) : Node();
  };
  Node query = part(0), key = part(1), value = part(2);
  AttentionInputs inputs = {query,   key,    value,     Node(),   half(0),
                            half(1), Node(), in.causal, in.heads, in.heads,
                            -1,      -1,     0,         in.scale, 0};
  inputs.mask = addedBias(inputs, in.mask, in.bias, in.filter);
  SmallVector<Node> results = attention(graph, inputs);
  if (graph.failed)
    return {};
  Node present =
      isPresent
          ? concat({unsqueeze(results[1], {0}), unsqueeze(results[2], {0})}, 0)
          : results[1];
  return {results[0], present};
}

// [batch, sequence, heads, parts, size] as [batch, sequence, heads * size].
static Node unpacked(Node packed, int64_t part) {
  Node width = sizeOf(packed, 2) * sizeOf(packed, 4);
  return reshapeTo(slice(packed, 3, part, part + 1),
                   concat({packed.graph->ints({0, 0}), width}, 0));
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
    Node width = sizeOf(in.query, 2), end = width * 2;
    auto part = [&](Node begin, Node length) {
      return slice(in.inputBias, 0, begin, begin + length);
    };
    in.query = in.query + part(graph.ints({0}), width);
    if (rankOf(in.key) == 3)
      in.key = in.key + part(width, width);
    if (rankOf(in.value) == 3)
      in.value = in.value + part(end, sizeOf(in.value, 2));
  }
  AttentionInputs inputs = {in.query,   in.key,       in.value, Node(),
                            in.pastKey, in.pastValue, Node(),   in.causal,
                            in.heads,   in.heads,     -1,       -1,
                            2,          in.scale,     0};
  inputs.mask = addedBias(inputs, in.mask, in.bias, in.filter);
  return attention(graph, inputs);
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

// Every head of [batch, sequence, heads * size] divided by its root mean
// square.
static Node headNorm(Node x, int64_t heads, Node weight, double epsilon) {
  if (!weight.given())
    return x;
  Node apart = reshape(x, {0, 0, heads, -1});
  return reshapeTo(rmsNormalization(apart, weight, -1, epsilon).front(),
                   shapeOf(x));
}

// Where a packed tensor holds all three.
static void unpack(GroupQueryInputs &in) {
  Node all = in.query, size = sizeOf(all, 2) / (in.heads + 2 * in.keyHeads);
  Node keys = size * in.heads, values = keys + size * in.keyHeads;
  in.query = slice(all, 2, all.graph->ints({0}), keys);
  in.key = slice(all, 2, keys, values);
  in.value = slice(all, 2, values, values + size * in.keyHeads);
}

// How many keys the present has room for: those of the past, or as many more as
// are new.
static Node roomOf(const GroupQueryInputs &in) {
  if (!in.pastKey.given())
    return sizeOf(in.key, 1);
  return op<MaxOp>({sizeOf(in.pastKey, 2), in.total});
}

// What ONNX Runtime asks of the lengths as well.
static void checkLengths(GroupQueryInputs &in, Node room) {
  Node fresh = sizeOf(in.key, 1);
  Node grown = in.pastKey.given() ? sizeOf(in.pastKey, 2) + fresh : fresh;
  Node isGrown = in.total == grown;
  Node holds = in.pastKey.given() ? isGrown || in.total <= sizeOf(in.pastKey, 2)
                                  : isGrown;
  in.lengths = require(in.lengths, holds && fresh <= in.total,
                       {Status::Value, "total_sequence_length",
                        "is neither within the past nor the past with the new "
                        "keys"});
  in.lengths = require(
      in.lengths, in.lengths >= 0 && in.lengths < room,
      {Status::Index, "seqlens_k", "a sequence ends outside of the cache"});
}

// The past up to its end, then what is new, then zeros.
static Node present(Node past, Node fresh, Node first, Node room) {
  if (!past.given())
    return fresh;
  Graph &graph = *fresh.graph;
  Node none = graph.ints({0, 0, 0, 0, 0, 0}), more = room - sizeOf(past, 2);
  Node whole =
      graph.op("onnx.Pad", {past, concat({none, more, graph.ints({0})}, 0)});
  Node kept = select(position(whole, 2) < unsqueeze(first, {2, 3}), whole,
                     constantLike(0, whole));
  return op<TensorScatterOp>({kept, fresh, reshape(first, {-1})});
}

// A bias has as many columns as the longest sequence, or more; the present may
// have room for others.
static Node fitBias(Node bias, Node room) {
  if (!bias.given())
    return bias;
  Node zero = bias.graph->ints({0});
  Node seen = slice(bias, 3, zero, room);
  Node none = bias.graph->ints({0, 0, 0, 0, 0, 0, 0});
  return bias.graph->op("onnx.Pad",
                        {seen, concat({none, room - sizeOf(seen, 3)}, 0)});
}

// Positions go on behind the past. The tables say how much of a head turns.
static void rotate(GroupQueryInputs &in, Node first) {
  Node at = in.positions.given()
                ? in.positions
                : first + range(0, scalar(sizeOf(in.query, 1)), 1);
  int64_t turned = std::max<int64_t>(2 * staticSize(in.cosines, 1), 0);
  auto rotated = [&](Node x, int64_t count) {
    return rotaryEmbedding(*x.graph, {x, in.cosines, in.sines, at, count,
                                      turned, in.interleaved})
        .front();
  };
  in.query = rotated(in.query, in.heads);
  in.key = rotated(in.key, in.keyHeads);
}

SmallVector<Node> groupQueryAttention(Graph &graph, GroupQueryInputs in) {
  if (in.heads <= 0 || in.keyHeads <= 0)
    return graph.fail("'num_heads' and 'kv_num_heads' must be positive");
  if (!in.key.given())
    unpack(in);
  constexpr int64_t int64 = 7;
  in.lengths = reshape(cast(in.lengths, int64), {-1, 1});
  in.total = reshape(cast(in.total, int64), {1});
  Node room = roomOf(in);
  checkLengths(in, room);
  in.query = headNorm(in.query, in.heads, in.queryNorm, in.normEpsilon);
  in.key = headNorm(in.key, in.keyHeads, in.keyNorm, in.normEpsilon);
  // A first sequence that is shorter than the tensor begins at 0 as well.
  Node length = in.lengths + 1;
  Node first = op<MaxOp>({length - sizeOf(in.query, 1), 0});
  if (graph.failed)
    return {};
  if (in.rotates)
    rotate(in, first);
  Node keys = present(in.pastKey, splitHeads(in.key, in.keyHeads), first, room);
  Node values =
      present(in.pastValue, splitHeads(in.value, in.keyHeads), first, room);
  if (in.pastKey.given())
    in.bias = fitBias(in.bias, room);
  if (!in.sink.given() && in.smooth)
    in.sink = expand(constantLike(0, in.query), graph.ints({in.heads}));
  std::optional<double> scale;
  if (in.scale != 0)
    scale = in.scale;
  AttentionInputs inputs = {in.query,
                            keys,
                            values,
                            in.bias,
                            Node(),
                            Node(),
                            length,
                            in.causal,
                            in.heads,
                            in.keyHeads,
                            in.window > 0 ? in.window - 1 : -1,
                            -1,
                            0,
                            scale,
                            in.softcap};
  inputs.firstQuery = unsqueeze(first, {2, 3});
  inputs.sink = in.sink;
  SmallVector<Node> results = attention(graph, inputs);
  if (graph.failed)
    return {};
  results.resize(3);
  return results;
}

} // namespace onnxc
