// Attention and its kin in matrix products, softmax and elementwise steps.
// Tensors are [batch, heads, sequence, size] in between.
#include "dialects/onnx/Attention.h"
#include "dialects/onnx/Composite.h"
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {
namespace {

constexpr int64_t toTheEnd = std::numeric_limits<int64_t>::max();

Node mergeHeads(Node x) {
  int64_t heads = staticSize(x, 1), size = staticSize(x, 3);
  int64_t width = heads < 0 || size < 0 ? -1 : heads * size;
  return reshape(transpose(x, {0, 2, 1, 3}), {0, 0, width});
}

Node minusInfinity(Node like) { return constantLike(-infinity, like); }

// A mask that is shorter than the keys leaves the rest out.
Node padMask(Node mask, int64_t keys) {
  int64_t length = staticSize(mask, -1), rank = rankOf(mask);
  if (length < 0 || keys <= length)
    return mask;
  SmallVector<int64_t> pads(2 * rank, 0);
  pads.back() = keys - length;
  bool isBool = getElementTypeOrSelf(mask.value.getType()).isInteger(1);
  Node fill = isBool ? constantLike(0, mask) : minusInfinity(mask);
  return mask.graph->op("onnx.Pad", {mask, mask.graph->ints(pads), fill});
}

// Which keys a query may see by its position; null if all.
Node allowedByPosition(const AttentionInputs &in, Node logits) {
  Node allowed;
  auto also = [&](Node condition) {
    allowed = allowed.given() ? allowed && condition : condition;
  };
  if (in.kvLength.given())
    also(position(logits, 3) < reshape(in.kvLength, {-1, 1, 1, 1}));
  if (!in.causal && in.leftWindow < 0 && in.rightWindow < 0)
    return allowed;
  Node row = position(logits, 2);
  if (in.firstQuery.given())
    row = row + in.firstQuery;
  else if (in.pastKey.given())
    row = row + sizeOf(in.pastKey, 2);
  else if (in.kvLength.given())
    row = row + (reshape(in.kvLength, {-1, 1, 1, 1}) - sizeOf(in.q, 2));
  Node behind = row - position(logits, 3);
  if (in.causal)
    also(behind >= 0);
  if (in.leftWindow >= 0)
    also(behind <= in.leftWindow);
  if (in.rightWindow >= 0)
    also(behind >= -in.rightWindow);
  return allowed;
}

// What is added to the logits; null if nothing. Minus infinity hides a key.
Node biasOf(const AttentionInputs &in, Node logits) {
  Node allowed = allowedByPosition(in, logits), bias;
  if (in.mask.given()) {
    Node mask = padMask(in.mask, staticSize(logits, 3));
    bool isBool = getElementTypeOrSelf(mask.value.getType()).isInteger(1);
    bias = isBool ? select(mask, constantLike(0, logits), minusInfinity(logits))
                  : castLike(mask, logits);
  }
  if (allowed.given())
    bias = select(allowed, bias.given() ? bias : constantLike(0, logits),
                  minusInfinity(logits));
  return bias;
}

// Whether every query sees the first key.
bool seeFirstKey(const AttentionInputs &in) {
  return !in.mask.given() && !in.kvLength.given() && !in.firstQuery.given() &&
         in.leftWindow < 0 && in.rightWindow < 0;
}

// A query that sees no key gets zeros.
Node maskedSoftmax(const AttentionInputs &in, Node logits, Node bias) {
  Node shares = softmax(bias.given() ? logits + bias : logits, {3});
  if (!bias.given() || seeFirstKey(in))
    return shares;
  int64_t last = rankOf(bias) - 1;
  Node sees = reduce<ReduceMaxOp>(bias, {last}) > minusInfinity(bias);
  return select(sees, shares, constantLike(0, shares));
}

// The shares of the keys where the sink takes what is left.
Node softmaxWithSink(Node logits, Node bias, Node sink) {
  Node x = bias.given() ? logits + bias : logits;
  Node rest = castLike(reshape(sink, {1, -1, 1, 1}), x);
  Node highest = op<MaxOp>({reduce<ReduceMaxOp>(x, {3}), rest});
  Node e = exp(x - highest);
  return e / (reduce<ReduceSumOp>(e, {3}) + exp(rest - highest));
}

// 1 / sqrt(size of a head), as the type of `like`.
Node defaultScale(Node q, Node like) {
  constexpr int64_t f64 = 11;
  if (int64_t size = staticSize(q, 3); size >= 0)
    return constantLike(1 / std::sqrt(double(size)), like);
  return castLike(1 / sqrt(cast(scalar(sizeOf(q, 3)), f64)), like);
}

// Queries of the heads that share a key go through one product.
struct Sharing {
  Node heads, keyHeads;
  bool shared;
  Node regrouped(Node x, Node count) const {
    Graph &graph = *x.graph;
    return shared ? reshapeTo(
                        x, concat({graph.ints({0}), count, graph.ints({-1, 0})},
                                  0))
                  : x;
  }
  Node together(Node x) const { return regrouped(x, keyHeads); }
  Node apart(Node x) const { return regrouped(x, heads); }
};

// Fails where the heads of the keys surely do not divide those of the queries;
// otherwise the run checks it.
std::optional<Sharing> sharingOf(Node &q, Node key) {
  Dim heads = shapeOf(q.value.getType())[1],
      keyHeads = shapeOf(key.value.getType())[1];
  Sharing sharing = {sizeOf(q, 1), sizeOf(key, 1),
                     !heads.surelyEquals(keyHeads)};
  if (heads.isStatic() && keyHeads.isStatic()) {
    if (keyHeads.size > 0 && heads.size % keyHeads.size == 0)
      return sharing;
    q.graph->fail("query heads must be a multiple of key heads");
    return std::nullopt;
  }
  if (sharing.shared)
    q = require(
        q, op<ModOp>({sharing.heads, sharing.keyHeads}) == 0,
        {Status::Shape, "Q", "query heads are no multiple of key heads"});
  return sharing;
}

} // namespace

Node splitHeads(Node x, int64_t heads) {
  if (rankOf(x) != 3)
    return x;
  int64_t width = staticSize(x, 2), size = width < 0 ? -1 : width / heads;
  return transpose(reshape(x, {0, 0, heads, size}), {0, 2, 1, 3});
}

SmallVector<Node> attention(Graph &graph, AttentionInputs in) {
  if (rankOf(in.q) == 3 && (in.queryHeads <= 0 || in.keyHeads <= 0))
    return graph.fail("operands of rank 3 need 'q_num_heads' and "
                      "'kv_num_heads'");
  bool flat = rankOf(in.q) == 3;
  Node type = in.q;
  in.q = splitHeads(in.q, in.queryHeads);
  Node key = splitHeads(in.k, in.keyHeads),
       value = splitHeads(in.v, in.keyHeads);
  if (in.pastKey.given())
    key = concat({in.pastKey, key}, 2);
  if (in.pastValue.given())
    value = concat({in.pastValue, value}, 2);
  if (graph.failed)
    return {};
  std::optional<Sharing> sharing = sharingOf(in.q, key);
  if (!sharing)
    return {};
  // What the queries of a key find stays together where a mask can.
  auto together = [&](Node x) { return sharing->together(x); };
  auto apart = [&](Node x) { return sharing->apart(x); };
  Node queries = together(wide(in.q));
  Node logits = matmul(queries, transpose(wide(key), {0, 1, 3, 2}));
  logits = logits * (in.scale ? constantLike(*in.scale, logits)
                              : defaultScale(in.q, logits));
  Node shown = apart(logits);
  if (in.softcap > 0)
    logits = op<TanhOp>(logits / in.softcap) * in.softcap;
  Node perHead = apart(logits), bias = biasOf(in, perHead);
  shown = in.outputMode == 1 ? perHead : shown;
  if (in.outputMode == 2)
    shown = bias.given() ? perHead + bias : perHead;
  int64_t heads = staticSize(in.q, 1);
  bool isPerHead = bias.given() && (rankOf(bias) != 4 || heads < 0 ||
                                    staticSize(bias, 1) != heads);
  Node shares = in.sink.given()
                    ? together(softmaxWithSink(perHead, bias, in.sink))
                : isPerHead    ? together(maskedSoftmax(in, perHead, bias))
                : bias.given() ? maskedSoftmax(in, logits, together(bias))
                               : maskedSoftmax(in, logits, bias);
  shown = in.outputMode == 3 ? apart(shares) : shown;
  Node y = apart(matmul(shares, castLike(value, shares)));
  y = castLike(flat ? mergeHeads(y) : y, type);
  return {y, key, value, castLike(shown, type)};
}

// Scores are of a float type of at least 32 bits unless the model says.
static int64_t scoreType(Type element, std::optional<int64_t> precision) {
  return precision.value_or(element.isF64() ? dataNumber(element) : 1);
}

FailureOr<SmallVector<Type>>
FlexAttentionOp::regionArguments(Location loc, unsigned, ValueRange inputs,
                                 DictionaryAttr attributes, TypeRange) {
  if (inputs.size() < 3 || !inputs[0] || !inputs[1])
    return mlir::emitError(loc, "FlexAttention needs 'Q', 'K' and 'V'");
  auto precision = attributes.getAs<IntegerAttr>("softmax_precision");
  Type query = inputs[0].getType();
  Type element = dataType(
      loc.getContext(),
      scoreType(getElementTypeOrSelf(query),
                precision ? std::optional(precision.getInt()) : std::nullopt));
  if (!element)
    return mlir::emitError(loc, "'softmax_precision' is no type");
  if (!isRanked(inputs[0]) || !isRanked(inputs[1]) || rankOf(inputs[0]) != 4 ||
      rankOf(inputs[1]) != 4)
    return SmallVector<Type>{UnrankedTensorType::get(element)};
  Shape shape = shapeOf(query);
  shape[3] = shapeOf(inputs[1].getType())[2];
  return SmallVector<Type>{tensorOf(shape, element)};
}

SmallVector<Node> flexAttention(Graph &graph, FlexAttention in) {
  if (rankOf(in.q) != 4 || rankOf(in.k) != 4 || rankOf(in.v) != 4)
    return graph.fail("operands must have rank 4");
  std::optional<Sharing> sharing = sharingOf(in.q, in.k);
  if (!sharing)
    return {};
  Node factor =
      in.scale ? constantLike(std::sqrt(*in.scale), in.q)
      : staticSize(in.q, 3) >= 0
          ? constantLike(1 / std::sqrt(std::sqrt(double(staticSize(in.q, 3)))),
                         in.q)
          : sqrt(defaultScale(in.q, in.q));
  Node queries = sharing->together(in.q * factor);
  Node scores =
      sharing->apart(matmul(queries, transpose(in.k * factor, {0, 1, 3, 2})));
  if (graph.failed)
    return {};
  Type element = getElementTypeOrSelf(in.q.value.getType());
  int64_t type = scoreType(element, in.precision);
  scores = cast(scores, type);
  if (!in.scoreMod.empty())
    scores = graph.inlined(in.scoreMod, scores).front();
  Node shares = softmax(scores, {3});
  if (!in.probMod.empty())
    shares = graph.inlined(in.probMod, shares).front();
  Node y = matmul(sharing->together(shares), cast(in.v, type));
  return {castLike(sharing->apart(y), in.v)};
}

SmallVector<Node> rotaryEmbedding(Graph &graph, Rotation r) {
  bool flat = rankOf(r.x) == 3;
  if (flat && r.heads <= 0)
    return graph.fail("an operand of rank 3 needs 'num_heads'");
  Node x = flat ? reshape(r.x, {0, 0, r.heads, -1}) : r.x;
  Node size = sizeOf(x, 3), dims = r.dims ? graph.ints({r.dims}) : size;
  bool turnsAll = !r.dims || staticSize(x, 3) == r.dims;
  auto perHead = [&](Node table) {
    if (r.positions.given())
      table = gather(table, r.positions, 0);
    return unsqueeze(table, {flat ? 2 : 1});
  };
  Node cosines = perHead(r.cosines), sines = perHead(r.sines);
  Node zero = graph.ints({0}), half = dims / 2;
  Node turned = turnsAll ? x : slice(x, 3, zero, dims);
  Node first, second;
  if (r.interleaved) {
    Node pairs = reshapeTo(
        turned, concat({graph.ints({0, 0, 0}), half, graph.ints({2})}, 0));
    first = squeeze(slice(pairs, 4, 0, 1), {4});
    second = squeeze(slice(pairs, 4, 1, 2), {4});
  } else {
    first = slice(turned, 3, zero, half);
    second = slice(turned, 3, half, dims);
  }
  Node real = cosines * first - sines * second;
  Node imaginary = sines * first + cosines * second;
  Node y =
      r.interleaved
          ? reshapeTo(
                concat({unsqueeze(real, {4}), unsqueeze(imaginary, {4})}, 4),
                concat({graph.ints({0, 0, 0}), dims}, 0))
          : concat({real, imaginary}, 3);
  if (!turnsAll)
    y = concat({y, slice(x, 3, dims, size)}, 3);
  return {flat ? reshapeTo(y, shapeOf(r.x)) : y};
}

SmallVector<Node> linearAttention(Graph &graph, LinearAttentionInputs in) {
  int64_t heads = in.keyHeads;
  if (heads <= 0 || in.queryHeads <= 0 || in.queryHeads % heads)
    return graph.fail("the query heads must be a multiple of the key heads");
  bool gated = in.rule == "gated" || in.rule == "gated_delta";
  bool delta = in.rule == "delta" || in.rule == "gated_delta";
  if (gated != in.decay.given() || delta != in.beta.given())
    return graph.fail("update rule '" + in.rule +
                      "' does not go with the operands given");
  // Steps first: [steps, batch, heads, 1, size].
  auto steps = [](Node x, int64_t count) {
    return unsqueeze(transpose(splitHeads(wide(x), count), {2, 0, 1, 3}), {3});
  };
  Node query = steps(in.query, in.queryHeads), key = steps(in.key, heads),
       value = steps(in.value, heads);
  SmallVector<Node> sequences = {query, key, value};
  if (gated)
    sequences.push_back(exp(steps(in.decay, heads)));
  if (delta) // one for each head, or one for all
    sequences.push_back(unsqueeze(transpose(wide(in.beta), {1, 0, 2}), {3, 4}));
  auto asColumn = [](Node row) { return transpose(row, {0, 1, 3, 2}); };
  // The state is [batch, heads, key size, value size].
  Node state = in.past.given()
                   ? wide(in.past)
                   : expand(constantLike(0, query),
                            concat({sizeOf(query, 1), graph.ints({heads}),
                                    sizeOf(key, 4), sizeOf(value, 4)},
                                   0));
  auto step = [&](ArrayRef<Node> now) -> SmallVector<Node> {
    Node state = now[0], q = now[1], k = now[2], v = now[3];
    if (gated)
      state = state * asColumn(now[4]);
    if (delta)
      v = now.back() * (v - matmul(k, state));
    state = state + matmul(asColumn(k), v);
    Node grouped =
        reshape(q, {0, heads, in.queryHeads / heads, staticSize(q, 3)});
    return {state, matmul(grouped, state)};
  };
  SmallVector<Node> ends = graph.scan({state}, sequences, {}, step);
  if (graph.failed)
    return {};
  Node size = castLike(scalar(sizeOf(query, 4)), query);
  Node scale = in.scale ? Node(in.scale) : 1 / sqrt(size);
  // [steps, batch, key heads, group, size] -> [batch, steps, all]
  Node y = transpose(ends[1], {1, 0, 2, 3, 4}) * scale;
  int64_t width = staticSize(value, 4);
  if (width >= 0)
    width *= in.queryHeads;
  return {castLike(reshape(y, {0, 0, width < 0 ? -1 : width}), in.query),
          castLike(ends[0], in.past.given() ? in.past : in.query)};
}

SmallVector<Node> causalConvolution(Graph &graph, Node input, Node weight,
                                    Node bias, Node past,
                                    StringRef activation) {
  int64_t channels = staticSize(input, 1), taps = staticSize(weight, 2);
  if (channels < 0 || taps < 0)
    return graph.fail(
        "channels or taps of an unknown number are not supported");
  Node padded = past.given()
                    ? concat({past, input}, 2)
                    : graph.op("onnx.Pad",
                               {input, graph.ints({0, 0, taps - 1, 0, 0, 0})});
  Node y = graph.op("onnx.Conv", {padded, weight, bias}, {{"group", channels}});
  if (activation != "none") {
    Node x = wide(y);
    y = castLike(x * op<SigmoidOp>(x), input);
  }
  int64_t begin = taps > 1 ? 1 - taps : toTheEnd;
  return {y, slice(padded, 2, begin, toTheEnd)};
}

} // namespace onnxc
