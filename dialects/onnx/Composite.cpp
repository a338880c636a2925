#include "dialects/onnx/Composite.h"
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {

Node ofLength(Node list, int64_t length, StringRef operand) {
  Fault fault = {Status::Shape, operand,
                 "does not have the length that the ranks ask for"};
  return reshape(require(list, op<SizeOp>(list) == length, fault), {length});
}

bool isSurelyNegative(Node x) {
  if (!x.value)
    return false;
  if (auto reals = constantFloats(x.value))
    return reals->size() == 1 && reals->front() < 0;
  auto ints = constantInts(x.value);
  return ints && ints->size() == 1 && ints->front() < 0;
}

Node softmax(Node x, ArrayRef<int64_t> axes) {
  Node e = exp(x - reduce<ReduceMaxOp>(x, axes));
  // The sum is between 1 and the count: its inverse is exact enough.
  return e * (1 / reduce<ReduceSumOp>(e, axes));
}

Node logSoftmax(Node x, ArrayRef<int64_t> axes) {
  Node lower = x - reduce<ReduceMaxOp>(x, axes);
  return lower - op<LogOp>(reduce<ReduceSumOp>(exp(lower), axes));
}

// Every element is compared with its target: no run-time index to check.
Node logLikelihoodLoss(Node logProbabilities, Node target, Node weight,
                       std::optional<int64_t> ignored, StringRef reduction) {
  Node x = wide(logProbabilities), wanted = unsqueeze(cast(target, 7), {1});
  Node hit = position(x, 1) == wanted;
  if (ignored)
    hit = hit && !(wanted == *ignored);
  Node share =
      weight.given() ? alignAt(wide(weight), 1, rankOf(x)) : constantLike(1, x);
  auto sum = [&](Node part, ArrayRef<int64_t> axes) {
    Node kept = select(hit, part, constantLike(0, x));
    return op<ReduceSumOp>({kept, x.graph->ints(axes)}, {{"keepdims", 0}});
  };
  auto all = range(0, rankOf(x));
  Node loss = reduction == "none"  ? sum(-x * share, {1})
              : reduction == "sum" ? sum(-x * share, all)
                                   : sum(-x * share, all) / sum(share, all);
  return castLike(loss, logProbabilities);
}

SmallVector<Node> rmsNormalization(Node x, Node scale, int64_t axis,
                                   double epsilon) {
  auto axes = range(axisOf(x, axis), rankOf(x));
  Node data = wide(x);
  Node inverse = 1 / sqrt(reduce<ReduceMeanOp>(data * data, axes) + epsilon);
  return {castLike(data * inverse, scale) * scale, inverse};
}

SmallVector<Node> dynamicallyQuantized(Node x) {
  Node low = op<MinOp>({op<ReduceMinOp>(x, {{"keepdims", 0}}), 0});
  Node high = op<MaxOp>({op<ReduceMaxOp>(x, {{"keepdims", 0}}), 0});
  Node scale = (high - low) / 255;
  Node zero = cast(op<ClipOp>({op<RoundOp>(-low / scale), 0, 255}), 2);
  return {op<QuantizeLinearOp>({x, scale, zero}), scale, zero};
}

// One element of a shape, of rank 0.
static Node elementOf(Node shape, int64_t i) {
  if (auto known = shape.value ? constantInts(shape.value) : std::nullopt)
    if (i < int64_t(known->size()))
      return constantLike((*known)[i], shape);
  return scalar(slice(shape, 0, i, i + 1));
}

SmallVector<Node> affineGrid(Graph &graph, Node theta, Node size,
                             bool alignCorners) {
  Node map = wide(theta);
  int64_t width = std::max(staticSize(map, 1) + 1, staticSize(map, 2));
  if (staticSize(size, 0) < 0 && width > 0)
    size = ofLength(size, width + 1, "size");
  if (staticSize(size, 0) < 0)
    return graph.fail("'theta' of an unknown number of rows and 'size' of an "
                      "unknown number of elements are not supported");
  int64_t dims = std::max<int64_t>(staticSize(size, 0) - 2, 1);
  // Column j of theta, as [batch, 1, ..., 1, dims].
  Node columns = transpose(map, {0, 2, 1});
  auto column = [&](int64_t j) {
    SmallVector<int64_t> shape(dims + 2, 1);
    shape.front() = 0;
    shape.back() = dims;
    return reshape(slice(columns, 1, j, j + 1), shape);
  };
  Node grid = column(dims);
  for (int64_t j = 0; j < dims; ++j) {
    int64_t axis = dims - 1 - j; // x, the first column, is the last dimension
    Node count = elementOf(size, 2 + axis), n = castLike(count, map);
    Node i = castLike(range(0, count, 1), map);
    Node at =
        alignCorners ? 2 * i / op<MaxOp>({n - 1, 1}) - 1 : (2 * i + 1) / n - 1;
    grid = grid + column(j) * alignAt(at, 1 + axis, dims + 2);
  }
  return {castLike(grid, theta)};
}

SmallVector<Node>
optimize(Graph &graph, ArrayRef<Node> inputs, int64_t groups,
         llvm::function_ref<SmallVector<Node>(ArrayRef<Node>)> step) {
  int64_t count = inputs.size() / groups;
  if (int64_t(inputs.size()) != count * groups)
    return graph.fail("expected a multiple of " + llvm::Twine(groups) +
                      " inputs after R and T, got " +
                      llvm::Twine(inputs.size()));
  SmallVector<SmallVector<Node>> lists;
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Node> parts;
    for (int64_t group = 0; group < groups; ++group)
      parts.push_back(inputs[group * count + i]);
    SmallVector<Node> results = step(parts);
    lists.resize(results.size());
    for (auto [list, result] : llvm::zip(lists, results))
      list.push_back(result);
  }
  SmallVector<Node> all;
  for (ArrayRef<Node> list : lists)
    all.append(list.begin(), list.end());
  return all;
}

Node cosineWindow(Node size, bool periodic, Cosines weights) {
  Node length = scalar(size);
  Node n = cast(range(0, length, 1), 1), samples = cast(length, 1);
  Node t = n * (2 * M_PI) / (periodic ? samples : samples - 1);
  Node window = constantLike(weights.a, n) - weights.b * op<CosOp>(t);
  return weights.c ? window + weights.c * op<CosOp>(2 * t) : window;
}

} // namespace onnxc
