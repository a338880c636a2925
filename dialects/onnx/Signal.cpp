// Fourier transforms in matrix products. A length with a divisor n = a * b is
// two transforms of lengths a and b (Cooley and Tukey), so that matrices stay
// small: 1024 is 32 * 32. A length that only the run knows, or one with a large
// prime factor, is a convolution with a chirp (Bluestein), by transforms of a
// power of two (Stockham): n log n of it, whatever its divisors. Real and
// imaginary parts are tensors of f64 of their own, whose last dimension is the
// one that is transformed.
#include "dialects/onnx/Signal.h"
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {
namespace {

constexpr int64_t int64Type = 7, doubleType = 11;
// Lengths up to here are one matrix; matrices of longer prime factors become
// constants of 16 MiB and more.
constexpr int64_t smallLength = 48, longestMatrix = 1024;

struct Complex {
  Node re, im; // im may be absent
};

Complex each(Complex x, llvm::function_ref<Node(Node)> change) {
  return {change(x.re), x.im.given() ? change(x.im) : Node()};
}

// x * (c + i s) summed over the last dimension; c and s are matrices, or what
// they are multiplied with element by element.
Complex multiply(Complex x, Node c, Node s,
                 llvm::function_ref<Node(Node, Node)> product) {
  Complex y = {product(x.re, c), product(x.re, s)};
  if (x.im.given()) {
    y.re = y.re - product(x.im, s);
    y.im = y.im + product(x.im, c);
  }
  return y;
}

// cos and sin of 2 pi * row * column / length.
Complex turns(Graph &graph, int64_t rows, int64_t columns, int64_t length,
              double sign) {
  std::vector<double> cosines, sines;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      double angle = 2 * M_PI * double(row * column % length) / double(length);
      cosines.push_back(std::cos(angle));
      sines.push_back(sign * std::sin(angle));
    }
  return {graph.doubles(cosines, {rows, columns}),
          graph.doubles(sines, {rows, columns})};
}

// The greatest divisor up to the square root.
int64_t divisorOf(int64_t length) {
  int64_t best = 1;
  for (int64_t a = 2; a * a <= length; ++a)
    if (length % a == 0)
      best = a;
  return best;
}

// The longest of the transforms that a length comes down to.
int64_t longestPart(int64_t length) {
  int64_t a = length <= smallLength ? 1 : divisorOf(length);
  return a == 1 ? length : std::max(longestPart(a), longestPart(length / a));
}

Node splitLast(Node x, int64_t a, int64_t b) {
  SmallVector<int64_t> sizes(rankOf(x) - 1, 0);
  sizes.append({a, b});
  return reshape(x, sizes);
}
Node mergeLast(Node x, int64_t size) {
  SmallVector<int64_t> sizes(rankOf(x) - 2, 0);
  sizes.push_back(size);
  return reshape(x, sizes);
}
Node swapLast(Node x) {
  SmallVector<int64_t> order = range(0, rankOf(x));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(x, order);
}

Complex transform(Graph &graph, Complex x, int64_t length, double sign,
                  int64_t wanted) {
  int64_t a = length <= smallLength ? 1 : divisorOf(length), b = length / a;
  if (a == 1) {
    Complex matrix = turns(graph, length, wanted, length, sign);
    return multiply(x, matrix.re, matrix.im, matmul);
  }
  // Element n is b n1 + n2, result k is k1 + a k2.
  x = each(x, [&](Node v) { return swapLast(splitLast(v, a, b)); });
  x = transform(graph, x, a, sign, a);
  Complex twist = turns(graph, b, a, length, sign);
  x = multiply(x, twist.re, twist.im, [](Node v, Node w) { return v * w; });
  x = each(x, swapLast);
  x = transform(graph, x, b, sign, b);
  x = each(x, [&](Node v) { return mergeLast(swapLast(v), length); });
  if (wanted == length)
    return x;
  return each(x, [&](Node v) { return slice(v, rankOf(v) - 1, 0, wanted); });
}

std::optional<int64_t> known(Node x) {
  auto values = x.given() ? knownElements(x.value) : std::nullopt;
  if (values && values->size() == 1)
    return values->front().number;
  return std::nullopt;
}

// One int64 of rank 0, known where `number` is.
struct Length {
  Node node;
  std::optional<int64_t> number;
};
Length lengthOf(Graph &graph, Node x) {
  Node node = scalar(cast(x, int64Type));
  std::optional<int64_t> number = known(x);
  return {number ? scalar(graph.ints({*number})) : node, number};
}
Length mapped(Graph &graph, Length x,
              llvm::function_ref<int64_t(int64_t)> number,
              llvm::function_ref<Node(Node)> node) {
  if (x.number)
    return lengthOf(graph, graph.ints({number(*x.number)}));
  return {node(x.node), std::nullopt};
}

Node flat(Node x) { return reshape(x, {-1}); }

//===-- Lengths that only the run knows, or with large prime factors ------===//

Complex times(Complex x, Complex y) {
  return multiply(x, y.re, y.im, [](Node v, Node w) { return v * w; });
}

// cos and sin of pi * numerator / denominator, where neither is large.
Complex halfTurns(Node numerator, Node denominator, double sign) {
  Node angle =
      cast(numerator, doubleType) * M_PI / cast(denominator, doubleType);
  return {op<CosOp>(angle), op<SinOp>(angle) * sign};
}

// Of [batch, size] where size is a power of two. A step of stride s takes
// [2, rest, s] to [rest, 2, s]: sums, and differences that are turned.
Complex powerOfTwo(Graph &graph, Complex x, Node size, Node strides,
                   double sign) {
  auto step = [&](ArrayRef<Node> args) -> SmallVector<Node> {
    Complex now = {args[0], args[1]};
    Node stride = scalar(args[2]), rest = size / (stride * 2);
    Node apart = concat({graph.ints({0, 2}), flat(rest), flat(stride)}, 0);
    Complex first, second;
    auto half = [&](Node v, int64_t i) {
      return squeeze(slice(reshapeTo(v, apart), 1, i, i + 1), {1});
    };
    first = each(now, [&](Node v) { return half(v, 0); });
    second = each(now, [&](Node v) { return half(v, 1); });
    Complex sum = {first.re + second.re, first.im + second.im};
    Complex difference = {first.re - second.re, first.im - second.im};
    Complex twist = each(halfTurns(range(0, rest, 1), rest, sign),
                         [](Node v) { return unsqueeze(v, {1}); });
    difference = times(difference, twist);
    auto joined = [&](Node a, Node b) {
      Node both = concat({unsqueeze(a, {2}), unsqueeze(b, {2})}, 2);
      return reshapeTo(both, shapeOf(args[0]));
    };
    return {joined(sum.re, difference.re), joined(sum.im, difference.im)};
  };
  SmallVector<Node> y = graph.scan({x.re, x.im}, strides, {0}, step);
  return graph.failed ? x : Complex{y[0], y[1]};
}

// The last dimension filled up with zeros.
Node padded(Node x, Node size) {
  int64_t last = rankOf(x) - 1;
  Graph &graph = *x.graph;
  SmallVector<int64_t> none(2 * last + 1, 0);
  Node missing = flat(size) - sizeOf(x, last);
  return graph.op("onnx.Pad", {x, concat({graph.ints(none), missing}, 0)});
}

// 2 n k = n^2 + k^2 - (k - n)^2: turned by half a square, a transform is a
// convolution with what turns back.
Complex transform(Graph &graph, Complex x, Node length, double sign,
                  Node wanted) {
  SmallVector<int64_t> powers;
  for (int64_t i = 0; i < 40; ++i)
    powers.push_back(int64_t(1) << i);
  Node all = graph.ints(powers);
  Node bits = op<ReduceSumOp>(cast(all < length * 2 - 1, int64Type),
                              {{"keepdims", int64_t(0)}});
  Node size = gather(all, bits, 0);
  Node strides = slice(all, 0, graph.ints({0}), flat(bits));
  auto chirp = [&](Node at) {
    return halfTurns(op<ModOp>({at * at, length * 2}), length, sign);
  };
  Node at = range(0, size, 1), from = op<MinOp>({at, size - at});
  auto kernelPart = [&](Node v) {
    return unsqueeze(select(from < length, v, constantLike(0, v)), {0});
  };
  Complex back = chirp(from);
  Complex kernel = {kernelPart(back.re), kernelPart(-back.im)};
  int64_t rank = rankOf(x.re);
  Node shape = shapeOf(x.re),
       rows = concat({graph.ints({-1}), flat(length)}, 0);
  x = times(each(x, [&](Node v) { return reshapeTo(v, rows); }),
            chirp(range(0, length, 1)));
  x = each(x, [&](Node v) { return padded(v, size); });
  x = powerOfTwo(graph, x, size, strides, -1);
  x = times(x, powerOfTwo(graph, kernel, size, strides, -1));
  x = powerOfTwo(graph, x, size, strides, 1);
  Node scale = cast(size, doubleType);
  x = each(x, [&](Node v) {
    return slice(v, 1, graph.ints({0}), flat(wanted)) / scale;
  });
  x = times(x, chirp(range(0, wanted, 1)));
  Node lead = slice(shape, 0, 0, rank - 1);
  return each(
      x, [&](Node v) { return reshapeTo(v, concat({lead, flat(wanted)}, 0)); });
}

// The last dimension cut or filled up with zeros.
Node resized(Graph &graph, Node x, Length wanted) {
  int64_t last = rankOf(x) - 1;
  if (wanted.number && staticSize(x, last) == *wanted.number)
    return x;
  return padded(slice(x, last, graph.ints({0}), flat(wanted.node)),
                wanted.node);
}

// What the transform of a real signal leaves out: the mirrored conjugates.
Complex mirrored(Graph &graph, Complex x, Node length, Node given) {
  int64_t last = rankOf(x.re) - 1;
  Node begin = flat(length - given), end = graph.ints({0});
  auto backwards = [&](Node v) {
    return graph.op("onnx.Slice",
                    {v, begin, end, graph.ints({last}), graph.ints({-1})});
  };
  Complex rest = each(x, backwards);
  x.re = concat({x.re, rest.re}, last);
  if (x.im.given())
    x.im = concat({x.im, -rest.im}, last);
  return x;
}

Complex partsOf(Node x) {
  int64_t last = rankOf(x) - 1;
  auto part = [&](int64_t i) {
    Node v = staticSize(x, last) == 1 ? x : slice(x, last, i, i + 1);
    return squeeze(cast(v, doubleType), {last});
  };
  if (staticSize(x, last) > 0)
    return {part(0), staticSize(x, last) == 2 ? part(1) : Node()};
  // A sum of no element or one.
  Node rest = cast(slice(x, last, 1, 2), doubleType);
  return {part(0), op<ReduceSumOp>({rest, x.graph->ints({last})},
                                   {{"keepdims", int64_t(0)}})};
}

// Transforms the last dimension of x.
Complex alongLast(Graph &graph, Complex x, Node given, bool inverse,
                  bool onesided) {
  bool toReal = inverse && onesided;
  Length length = lengthOf(graph, sizeOf(x.re, rankOf(x.re) - 1));
  if (given.given())
    length = lengthOf(graph, given);
  else if (toReal)
    length = mapped(
        graph, length, [](int64_t n) { return 2 * (n - 1); },
        [](Node n) { return 2 * (n - 1); });
  Length half = mapped(
      graph, length, [](int64_t n) { return n / 2 + 1; },
      [](Node n) { return n / 2 + 1; });
  if (length.number && *length.number < 1) {
    graph.fail("the length is " + llvm::Twine(*length.number));
    return x;
  }
  if (!length.number)
    length.node = require(length.node, length.node >= 1,
                          {Status::Value, "dft_length", "is less than 1"});
  Length used = toReal ? half : length;
  x = each(x, [&](Node v) { return resized(graph, v, used); });
  if (toReal)
    x = mirrored(graph, x, length.node, half.node);
  Length wanted = onesided && !inverse ? half : length;
  double sign = inverse ? 1 : -1;
  bool inMatrices =
      length.number && longestPart(*length.number) <= longestMatrix;
  Complex y = inMatrices
                  ? transform(graph, x, *length.number, sign, *wanted.number)
                  : transform(graph, x, length.node, sign, wanted.node);
  if (inverse)
    y = each(y, [&](Node v) { return v / cast(length.node, doubleType); });
  return toReal ? Complex{y.re, Node()} : y;
}

// The axis is moved to the end and back.
Complex alongAxis(const FourierTransform &how, Complex x, int64_t axis) {
  Graph &graph = *x.re.graph;
  int64_t rank = rankOf(x.re);
  SmallVector<int64_t> order = range(0, rank), back(rank);
  order.erase(order.begin() + axis);
  order.push_back(axis);
  for (auto [i, dim] : llvm::enumerate(order))
    back[dim] = i;
  x = each(x, [&](Node v) { return transpose(v, order); });
  x = alongLast(graph, x, how.length, how.inverse, how.onesided);
  return each(x, [&](Node v) { return transpose(v, back); });
}

// Whichever axis the run names, there are dimensions before and behind it.
Complex alongRunTimeAxis(const FourierTransform &how, Complex x) {
  Graph &graph = *x.re.graph;
  int64_t rank = rankOf(x.re);
  Node dims = graph.ints(range(0, rank)), sizes = shapeOf(x.re);
  Node axis = scalar(how.axis);
  axis = select(axis < 0, axis + (rank + 1), axis);
  auto product = [&](Node chosen) {
    return op<ReduceProdOp>(select(chosen, sizes, constantLike(1, sizes)));
  };
  Node apart = concat(
      {product(dims < axis), product(dims == axis), product(dims > axis)}, 0);
  x = each(x, [&](Node v) { return swapLast(reshapeTo(v, apart)); });
  x = alongLast(graph, x, how.length, how.inverse, how.onesided);
  Node now = select(dims == axis, sizeOf(x.re, 2), sizes);
  return each(x, [&](Node v) { return reshapeTo(swapLast(v), now); });
}

} // namespace

SmallVector<Node> fourierTransform(Graph &graph, FourierTransform how) {
  int64_t rank = rankOf(how.x);
  int64_t parts = rank < 2 ? 0 : staticSize(how.x, rank - 1);
  if (parts == 0 || parts > 2)
    return graph.fail("the last dimension must be 1 or 2");
  if (parts < 0) {
    Node size = sizeOf(how.x, rank - 1);
    how.x =
        require(how.x, size == 1 || size == 2,
                {Status::Shape, "input", "the last dimension must be 1 or 2"});
  }
  Complex x = partsOf(how.x);
  std::optional<int64_t> axis = known(how.axis);
  if (axis && (*axis < -rank || wrap(*axis, rank) >= rank - 1))
    return graph.fail("axis " + llvm::Twine(*axis) +
                      " is no dimension of the signal");
  Complex y =
      axis ? alongAxis(how, x, wrap(*axis, rank)) : alongRunTimeAxis(how, x);
  if (graph.failed)
    return {};
  auto finish = [&](Node v) {
    return unsqueeze(castLike(v, how.x), {rank - 1});
  };
  if (how.inverse && how.onesided)
    return {finish(y.re)};
  return {concat({finish(y.re), finish(y.im)}, rank - 1)};
}

SmallVector<Node> shortTimeTransform(Graph &graph, ShortTimeTransform how) {
  Node signal =
      rankOf(how.signal) == 2 ? unsqueeze(how.signal, {2}) : how.signal;
  Length length = lengthOf(graph, how.length.given()   ? how.length
                                  : how.window.given() ? sizeOf(how.window, 0)
                                                       : sizeOf(signal, 1));
  Node step = scalar(cast(how.step, int64Type));
  Node frames = (scalar(sizeOf(signal, 1)) - length.node) / step + 1;
  Node at =
      unsqueeze(range(0, frames, 1) * step, {1}) + range(0, length.node, 1);
  Node framed = gather(signal, at, 1);
  if (how.window.given())
    framed = framed * unsqueeze(how.window, {1});
  return {op<DFTOp>({framed, length.node, graph.ints({-2})},
                    {{"onesided", int64_t(how.onesided)}})};
}

Node melWeights(MelScale scale, int64_t dataType) {
  auto number = [](Node x) { return scalar(cast(x, doubleType)); };
  auto mel = [&](Node hertz) {
    return op<LogOp>(1 + number(hertz) / 700) * (2595 / std::log(10.0));
  };
  Node bins = scalar(cast(scale.bins, int64Type));
  Node length = scalar(cast(scale.dftLength, int64Type));
  Node lowest = mel(scale.lowest), highest = mel(scale.highest);
  Node edges = cast(range(0, bins + 2, 1), doubleType);
  Node step = (highest - lowest) / cast(bins + 2, doubleType);
  Node hertz =
      (exp((edges * step + lowest) * (std::log(10.0) / 2595)) - 1) * 700;
  Node at = op<FloorOp>(cast(length + 1, doubleType) * hertz /
                        number(scale.sampleRate));
  Graph &graph = *at.graph;
  auto part = [&](int64_t first) {
    return slice(at, 0, graph.ints({first}), reshape(bins + first, {1}));
  };
  Node left = part(0), centre = part(1), right = part(2);
  Node row = unsqueeze(cast(range(0, length / 2 + 1, 1), doubleType), {1});
  Node zero = constantLike(0, at), one = constantLike(1, at);
  Node up = select(left <= row && row <= centre, (row - left) / (centre - left),
                   zero);
  up = select(left == centre, select(row == centre, one, zero), up);
  Node falls = centre < right && centre <= row && row < right;
  return cast(select(falls, (right - row) / (right - centre), up), dataType);
}

} // namespace onnxc
