// RNN, GRU and LSTM: one product for the inputs of all steps, or of each, in a
// loop over time, which ends where the longest sequence does. The body is
// written in onnx operators, which the same conversion lowers.
// DynamicQuantizeLSTM quantizes the left side of each product.
#include "dialects/onnx/Families.h"
#include "dialects/onnx/Microsoft.h"
#include "dialects/onnx/Recurrent.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/tensor/Inputs.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
namespace {

// Weights of all directions. Quantized ones are transposed.
struct Weights {
  Node numbers, scale = {}, zeroPoint = {};
  bool isQuantized() const { return scale.given(); }
};

// What the operators have in common, with the layout of today's default.
struct Recurrence {
  Operation *op;
  Weights w, r;
  Node x, b, lengths, initialH, initialC, peephole;
  std::optional<ArrayAttr> activations;
  std::optional<ArrayRef<float>> alphas, betas;
  std::optional<double> clip;
  StringRef direction;
  int64_t gates, functions;
  int64_t hidden = 0;
  bool linearBeforeReset = false, inputForget = false;
  bool forgetsEnded = false; // the state of a sequence that has ended is zero
  bool isOneOfZero = false;  // one step, and the state before it is zero
};

struct State {
  Node h, c; // c of an LSTM only
  SmallVector<Node> all() const { return {h, c}; }
};

// A tensor with names of its sizes, which tell that sizes are equal; and one
// without them, as linalg has it. The conversion takes such casts away.
Value named(ImplicitLocOpBuilder &builder, Value lowered, ArrayRef<Dim> sizes) {
  Type type = tensorOf(sizes, getElementTypeOrSelf(lowered.getType()));
  return type == lowered.getType()
             ? lowered
             : UnrealizedConversionCastOp::create(builder, type, lowered)
                   .getResult(0);
}
Value unnamed(ImplicitLocOpBuilder &builder, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.getEncoding())
    return value;
  auto lowered = RankedTensorType::get(type.getShape(), type.getElementType());
  return UnrealizedConversionCastOp::create(builder, lowered, value)
      .getResult(0);
}

TargetAttr targetOf(Operation *op) {
  return op->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>(
      targetAttrName);
}

int64_t bytesOf(ShapedType type) {
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

class Cell {
public:
  Cell(Graph &graph, const Recurrence &net, int64_t direction)
      : graph(graph), net(net), direction(direction) {
    weights = part(net.r);
    if (net.b.given()) {
      int64_t half = net.gates * net.hidden;
      inputBias = slice(part(net.b), 0, 0, half);
      stateBias = slice(part(net.b), 0, half, 2 * half);
    }
    if (net.peephole.given())
      peephole = part(net.peephole);
  }

  // The products of inputs with the weights, and all biases that can be added
  // to them.
  Node inputs(Node x) {
    Node all = product(x, part(net.w));
    if (!net.b.given())
      return all;
    all = all + inputBias;
    return net.linearBeforeReset ? all : all + stateBias;
  }

  State step(Node input, State state) {
    if (net.gates == 1)
      return {apply(0, plus(input, ofState(state.h, weights))), {}};
    return net.gates == 3 ? gru(input, state) : lstm(input, state);
  }

private:
  // The part of this direction, without that dimension.
  Node part(Node all) {
    return squeeze(slice(all, 0, direction, direction + 1), {0});
  }
  // The same of weights, as the right side of a product.
  Weights part(const Weights &all) {
    if (!all.isQuantized())
      return {transpose(part(all.numbers), {1, 0})};
    return {part(all.numbers), part(all.scale), part(all.zeroPoint)};
  }
  static Node product(Node x, const Weights &by) {
    return by.isQuantized()
               ? dynamicProduct(x, {by.numbers, by.zeroPoint, by.scale})
               : matmul(x, by.numbers);
  }
  Node ofState(Node h, const Weights &by) {
    return net.isOneOfZero ? Node() : product(h, by);
  }
  static Node plus(Node one, Node other) {
    return !one.given() ? other : !other.given() ? one : one + other;
  }
  Node gate(Node all, int64_t i) {
    if (!all.given())
      return all;
    int64_t axis = rankOf(all) - 1;
    return slice(all, axis, i * net.hidden, (i + 1) * net.hidden);
  }
  Node firstTwo() { return slice(weights.numbers, 1, 0, 2 * net.hidden); }

  State gru(Node input, State state) {
    // The candidate's product comes after the gate where that resets the state.
    Node h = state.h;
    Node product =
        ofState(h, net.linearBeforeReset ? weights : Weights{firstTwo()});
    if (net.linearBeforeReset && net.b.given())
      product = plus(product, stateBias);
    Node z = apply(0, plus(gate(input, 0), gate(product, 0)));
    Node r = apply(0, plus(gate(input, 1), gate(product, 1)));
    Node fromState;
    if (!net.linearBeforeReset)
      fromState = ofState(r * h, {gate(weights.numbers, 2)});
    else if (product.given())
      fromState = r * gate(product, 2);
    Node candidate = apply(1, plus(gate(input, 2), fromState));
    return {(1 - z) * candidate + z * h, {}};
  }

  State lstm(Node input, State state) {
    Node sum = plus(input, ofState(state.h, weights)), c = state.c;
    auto peeped = [&](int64_t i, int64_t k, Node cell) {
      Node own = gate(sum, i);
      return peephole.given() ? own + gate(peephole, k) * cell : own;
    };
    Node in = apply(0, peeped(0, 0, c));
    Node forget = net.inputForget ? 1 - in : apply(0, peeped(2, 2, c));
    Node cell = forget * c + in * apply(1, gate(sum, 3));
    Node out = apply(0, peeped(1, 1, cell));
    return {out * activate(2, cell), cell};
  }

  Node apply(int64_t function, Node x) {
    if (net.clip)
      x = graph.op("onnx.Clip", {x, constantLike(-*net.clip, x),
                                 constantLike(*net.clip, x)});
    return activate(function, x);
  }

  const Activation &functionAt(size_t i) {
    StringRef name =
        net.gates > 1 && i % net.functions == 0 ? "Sigmoid" : "Tanh";
    if (net.activations && i < net.activations->size())
      name = mlir::cast<StringAttr>((*net.activations)[i]).getValue();
    return *findActivation(name);
  }

  // Functions take their alphas and betas from lists, one after the other; a
  // function without one takes none.
  double parameter(size_t i, int number, std::optional<ArrayRef<float>> given,
                   double otherwise) {
    size_t taken = 0;
    for (size_t before = 0; before < i; ++before)
      taken += functionAt(before).parameters >= number;
    return given && taken < given->size() ? double((*given)[taken]) : otherwise;
  }

  Node activate(int64_t function, Node x) {
    size_t i = direction * net.functions + function;
    const Activation &activation = functionAt(i);
    double alpha = parameter(i, 1, net.alphas, activation.alpha),
           beta = parameter(i, 2, net.betas, activation.beta);
    if (activation.name == "Affine")
      return alpha * x + beta;
    if (activation.name == "ScaledTanh")
      return alpha * graph.op("onnx.Tanh", beta * x);
    SmallVector<NamedNumber> attributes;
    if (activation.parameters > 0)
      attributes.emplace_back("alpha", alpha);
    if (activation.parameters > 1)
      attributes.emplace_back("beta", beta);
    return graph.op(("onnx." + activation.name).str(), x, attributes);
  }

  Graph &graph;
  const Recurrence &net;
  int64_t direction;
  Weights weights;
  Node inputBias, stateBias, peephole;
};

struct Loop {
  ImplicitLocOpBuilder &builder;
  Graph &graph;
  const Recurrence &net;

  // The slice of one step, without the dimension of time; and where it lies.
  SmallVector<OpFoldResult> offsets(Value time, Value tensor) {
    SmallVector<OpFoldResult> all(rankOf(tensor), builder.getIndexAttr(0));
    all[0] = time;
    return all;
  }
  SmallVector<OpFoldResult> cut(Value tensor) {
    SmallVector<OpFoldResult> sizes = sizesOf(builder, tensor);
    sizes[0] = builder.getIndexAttr(1);
    return sizes;
  }
  Node at(Value all, Value time) {
    Shape shape = shapeOf(all.getType());
    Value tensor = unnamed(builder, all);
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<OpFoldResult> ones(type.getRank(), builder.getIndexAttr(1));
    auto one = RankedTensorType::get(type.getShape().drop_front(),
                                     type.getElementType());
    Value cutOut = tensor::ExtractSliceOp::create(
        builder, one, tensor, offsets(time, tensor), cut(tensor), ones);
    return {graph, named(builder, cutOut, ArrayRef(shape).drop_front())};
  }

  // Some steps from `start` on, which keep that dimension; and a tensor with
  // others in their place.
  Node part(Value all, Value start, OpFoldResult count) {
    Shape shape = shapeOf(all.getType());
    shape[0] = {getConstantIntValue(count).value_or(ShapedType::kDynamic), {}};
    Value tensor = unnamed(builder, all);
    SmallVector<OpFoldResult> sizes = sizesOf(builder, tensor),
                              ones(sizes.size(), builder.getIndexAttr(1));
    sizes[0] = count;
    Value cutOut = tensor::ExtractSliceOp::create(
        builder, tensor, offsets(start, tensor), sizes, ones);
    return {graph, named(builder, cutOut, shape)};
  }
  Value withPart(Value all, Value part, Value start, OpFoldResult count) {
    SmallVector<OpFoldResult> sizes = sizesOf(builder, all),
                              ones(sizes.size(), builder.getIndexAttr(1));
    sizes[0] = count;
    return tensor::InsertSliceOp::create(builder, part, all,
                                         offsets(start, all), sizes, ones);
  }

  // Nothing is the last state of a sequence without steps.
  Node lastState(Node last) {
    if (!net.lengths.given())
      return last;
    return select(unsqueeze(net.lengths, {1}) > 0, last, constantLike(0, last));
  }

  // Of each sequence.
  Node lastOutput(Node outputs) {
    Node isLast = position(outputs, 0) == unsqueeze(lengths64(), {1}) - 1;
    return squeeze(reduce<ReduceSumOp>(
                       select(isLast, outputs, constantLike(0, outputs)), {0}),
                   {0});
  }
  Node lengths64() {
    constexpr int64_t int64 = 7;
    return onnxc::cast(net.lengths, int64);
  }

  bool mayEndEarly() {
    return net.lengths.given() && shapeOf(net.x.value.getType())[0].size != 1;
  }
  // Where the longest sequence ends. No step behind that changes a state.
  Value longest() {
    Node most = reduce<ReduceMaxOp>(lengths64(), {0});
    if (graph.failed)
      return {};
    Value length = extract(builder, unnamed(builder, most.value), {0});
    Value end =
        arith::IndexCastOp::create(builder, builder.getIndexType(), length);
    // Of no sequences it is the least integer.
    return greatest(Index(builder, end), 0).in(builder);
  }

  // All outputs, with zeros behind the end of the longest sequence. These are
  // filled in their place: of two directions, equal ones would be one tensor.
  Value endedAt(Value end, Value steps, Value outputs) {
    OpFoldResult count = arith::SubIOp::create(builder, steps, end).getResult();
    Value behind = unnamed(builder, part(outputs, end, count).value);
    Value zero = zeroOf(builder, getElementTypeOrSelf(outputs.getType()));
    Value zeros = linalg::FillOp::create(builder, zero, behind).getResult(0);
    return withPart(outputs, zeros, end, count);
  }

  // Sequences that have ended keep their state and give zeros.
  Node running(Value time, Node like) {
    if (!net.lengths.given())
      return {};
    Value step =
        arith::IndexCastOp::create(builder, builder.getI64Type(), time);
    Value now = tensor::FromElementsOp::create(
        builder, RankedTensorType::get({1, 1}, builder.getI64Type()), step);
    return Node(graph, now) < unsqueeze(lengths64(), {1});
  }

  // Whether each step multiplies its own inputs, so that no products wait in
  // memory: of many sequences, with weights that a core reads fast enough. On
  // Zen 4 LSTMs of 16 to 128 sequences took 0.89 to 1.0 of the time that they
  // took with one product for all steps, with 8 MB of weights 1.04, and a
  // single sequence 1.37. Where memory is far away, L2 has to hold all weights,
  // or those of the inputs be little beside the products: LSTMs of 8 to 32
  // sequences took Emerald Rapids 1.02 to 1.4 times as long otherwise.
  bool multipliesInSteps() {
    constexpr int64_t manySequences = 8, mostOfL2 = 4;
    TargetAttr target = targetOf(net.op);
    auto weights = mlir::cast<ShapedType>(net.w.numbers.value.getType()),
         ofState = mlir::cast<ShapedType>(net.r.numbers.value.getType());
    int64_t sequences = shapeOf(net.x.value.getType())[1].size;
    if (!target || net.w.isQuantized() || sequences < manySequences ||
        !weights.hasStaticShape() || !ofState.hasStaticShape())
      return false;
    int64_t each = weights.getElementTypeBitWidth() / 8,
            bytes = bytesOf(weights);
    if (!isFarFromMemory(target))
      return bytes <= mostOfL2 * target.getL2Bytes();
    int64_t directions = weights.getDimSize(0),
            products = sequences * net.gates * net.hidden * each;
    return bytes + bytesOf(ofState) <= target.getL2Bytes() / 2 ||
           bytes / directions <= 8 * products;
  }

  // In how many pieces of equal steps the inputs are multiplied where sequences
  // may end early; none where only the run knows the rows, or weights, which
  // each piece would pack. Few rows in a piece read weights too often: on Zen 4
  // 24 took as long as all at once, also by 4 MB, and 12 up to 1.02 times. L2
  // is to hold the weights of so few where memory is far away.
  std::optional<int64_t> pieces() {
    constexpr int64_t enoughRows = 24, ofFarWeights = 96, most = 16;
    auto x = mlir::cast<ShapedType>(net.x.value.getType());
    auto weights = mlir::cast<ShapedType>(net.w.numbers.value.getType());
    if (x.isDynamicDim(0) || x.isDynamicDim(1) || !weights.hasStaticShape() ||
        !matchPattern(net.op->getOperand(1), m_Constant()))
      return std::nullopt;
    TargetAttr target = targetOf(net.op);
    int64_t rows = enoughRows;
    if (target && isFarFromMemory(target) &&
        bytesOf(weights) > target.getL2Bytes())
      rows = ofFarWeights;
    return std::clamp<int64_t>(x.getDimSize(0) * x.getDimSize(1) / rows, 1,
                               most);
  }

  // The products of the inputs of the steps before `end`, and perhaps of
  // others.
  Node inputsBefore(Value end, Cell &cell) {
    std::optional<int64_t> count = pieces();
    if (!mayEndEarly() || net.w.isQuantized() || count == 1)
      return cell.inputs(net.x);
    Shape shape = shapeOf(net.x.value.getType());
    shape[2] = {net.gates * net.hidden, {}};
    Value x = unnamed(builder, net.x.value);
    SmallVector<OpFoldResult> sizes = sizesOf(builder, x);
    sizes[2] = builder.getIndexAttr(shape[2].size);
    Value all = tensor::EmptyOp::create(builder, sizes,
                                        getElementTypeOrSelf(x.getType()));
    auto multiply = [&](Value into, Value start, OpFoldResult steps) {
      Node products = cell.inputs(part(net.x.value, start, steps));
      return graph.failed ? into
                          : withPart(into, unnamed(builder, products.value),
                                     start, steps);
    };
    Value zero = arith::ConstantIndexOp::create(builder, 0);
    if (!count)
      return {graph, named(builder, multiply(all, zero, end), shape)};
    int64_t steps = llvm::divideCeil(shape[0].size, *count);
    // The last piece begins early rather than be shorter.
    Value step = arith::ConstantIndexOp::create(builder, steps),
          last = arith::ConstantIndexOp::create(builder, shape[0].size - steps);
    auto body = [&](OpBuilder &, Location, Value position, ValueRange args) {
      Value start = arith::MinSIOp::create(builder, position, last);
      scf::YieldOp::create(
          builder, multiply(args[0], start, builder.getIndexAttr(steps)));
    };
    auto loop = scf::ForOp::create(builder, zero, end, step, all, body);
    return {graph, named(builder, loop.getResult(0), shape)};
  }

  // All outputs of one direction (time, batch, hidden), and the last state.
  SmallVector<Node> run(int64_t direction, bool reversed, State start) {
    Cell cell(graph, net, direction);
    Value steps =
        tensor::DimOp::create(builder, unnamed(builder, net.x.value), 0);
    Value end = mayEndEarly() ? longest() : steps;
    if (graph.failed)
      return {};
    Node inputs = multipliesInSteps() ? net.x : inputsBefore(end, cell);
    if (graph.failed)
      return {};
    Value zero = arith::ConstantIndexOp::create(builder, 0);
    Value one = arith::ConstantIndexOp::create(builder, 1);
    Value h = unnamed(builder, start.h.value);
    SmallVector<OpFoldResult> sizes = sizesOf(builder, h);
    Shape state = shapeOf(start.h.value.getType()), all = state;
    all.insert(all.begin(), shapeOf(net.x.value.getType())[0]);
    sizes.insert(sizes.begin(), all[0].isStatic()
                                    ? builder.getIndexAttr(all[0].size)
                                    : OpFoldResult(steps));
    SmallVector<Value> carried = {
        tensor::EmptyOp::create(builder, sizes,
                                getElementTypeOrSelf(h.getType())),
        h};
    if (start.c.given())
      carried.push_back(unnamed(builder, start.c.value));
    auto body = [&](OpBuilder &, Location, Value position, ValueRange args) {
      Value time = position;
      if (reversed)
        time = arith::SubIOp::create(
            builder, arith::SubIOp::create(builder, end, one), position);
      Node input = at(inputs.value, time);
      if (multipliesInSteps())
        input = cell.inputs(input);
      scf::YieldOp::create(builder, step(cell, input, time, state, args));
    };
    auto loop = scf::ForOp::create(builder, zero, end, one, carried, body);
    SmallVector<Value> done(loop.getResults());
    if (mayEndEarly())
      done[0] = endedAt(end, steps, done[0]);
    SmallVector<Node> results;
    for (Value result : done)
      results.emplace_back(
          graph, named(builder, result, results.empty() ? all : state));
    if (net.forgetsEnded)
      results[1] = lastOutput(results[0]);
    for (Node &last : MutableArrayRef(results).drop_front())
      last = lastState(last);
    return results;
  }

  // What the loop carries after one step: all outputs so far, and the state.
  SmallVector<Value> step(Cell &cell, Node input, Value time,
                          ArrayRef<Dim> sizes, ValueRange carried) {
    auto stateAt = [&](size_t i) {
      return Node(graph, named(builder, carried[i], sizes));
    };
    State state = {stateAt(1), carried.size() > 2 ? stateAt(2) : Node()};
    State next = cell.step(input, state);
    Node output = next.h;
    if (Node runs = running(time, next.h); runs.given()) {
      output = select(runs, next.h, constantLike(0, next.h));
      next.h = net.forgetsEnded ? output : select(runs, next.h, state.h);
      if (next.c.given())
        next.c = select(runs, next.c, state.c);
    }
    if (graph.failed)
      return carried;
    auto stored = [&](Node node) {
      return castTo(builder, unnamed(builder, node.value),
                    carried[1].getType());
    };
    SmallVector<OpFoldResult> ones(3, builder.getIndexAttr(1));
    SmallVector<Value> yielded = {tensor::InsertSliceOp::create(
        builder, stored(output), carried[0], offsets(time, carried[0]),
        cut(carried[0]), ones)};
    // A state stays in its place in memory.
    for (auto [before, state] : llvm::zip(carried.drop_front(), next.all()))
      yielded.push_back(
          linalg::CopyOp::create(builder, stored(state), before).getResult(0));
    return yielded;
  }
};

Node initialState(ImplicitLocOpBuilder &builder, Graph &graph,
                  const Recurrence &net, Node given, int64_t direction) {
  if (given.given())
    return squeeze(slice(given, 0, direction, direction + 1), {0});
  Value x = unnamed(builder, net.x.value);
  Type element = getElementTypeOrSelf(x.getType());
  Value none = emptyOf(
      builder, {sizesOf(builder, x)[1], builder.getIndexAttr(net.hidden)},
      element);
  Value zeros = linalg::FillOp::create(builder, zeroOf(builder, element), none)
                    .getResult(0);
  Dim batch = shapeOf(net.x.value.getType())[1];
  return {graph, named(builder, zeros, {batch, Dim{net.hidden, {}}})};
}

// A quantized product depends on all rows that take part in it. As in ONNX
// Runtime these are the steps up to the end of the longest sequence, each
// sequence backwards from its own end, and zeros for one that has ended.
SmallVector<Node> runQuantized(ImplicitLocOpBuilder &builder, Graph &graph,
                               Recurrence net, int64_t direction, bool reversed,
                               State start) {
  constexpr int64_t int64 = 7;
  Node lengths = onnxc::cast(net.lengths, int64);
  Node runs = position(net.x, 0) < reduce<ReduceMaxOp>(lengths, {0});
  net.x = select(runs, net.x, constantLike(0, net.x));
  net.forgetsEnded = !net.op->getResult(0).use_empty();
  auto turned = [&](Node sequences) {
    return reversed ? op<ReverseSequenceOp>({sequences, lengths}) : sequences;
  };
  net.x = turned(net.x);
  SmallVector<Node> results =
      Loop{builder, graph, net}.run(direction, false, start);
  if (!graph.failed)
    results[0] = turned(results[0]);
  return results;
}

// Y, Y_h and perhaps Y_c, in the layout of today's default.
SmallVector<Node> runAll(ImplicitLocOpBuilder &builder, Graph &graph,
                         const Recurrence &net) {
  bool both = net.direction == "bidirectional";
  SmallVector<SmallVector<Node>> parts(net.gates == 4 ? 3 : 2);
  for (int64_t direction = 0; direction < (both ? 2 : 1); ++direction) {
    auto initial = [&](Node given) {
      return initialState(builder, graph, net, given, direction);
    };
    State start = {initial(net.initialH), {}};
    if (net.gates == 4)
      start.c = initial(net.initialC);
    if (graph.failed)
      return {};
    bool reversed = direction == 1 || net.direction == "reverse";
    SmallVector<Node> done =
        net.w.isQuantized() && net.lengths.given()
            ? runQuantized(builder, graph, net, direction, reversed, start)
            : Loop{builder, graph, net}.run(direction, reversed, start);
    if (graph.failed)
      return {};
    for (auto [part, node] : llvm::zip_equal(parts, done))
      part.push_back(unsqueeze(node, {&part == &parts[0] ? 1 : 0}));
  }
  SmallVector<Node> results;
  for (auto [i, part] : llvm::enumerate(parts))
    results.push_back(both ? concat(part, i == 0 ? 1 : 0) : part.front());
  return results;
}

// Demands that the sizes fit; the operands then have the types of what is known
// of each other. A batch without a name gets one here, which equals no other.
FailureOr<SmallVector<Node>> fitting(ImplicitLocOpBuilder &builder,
                                     Graph &graph, Operation *op,
                                     ArrayRef<ExpectedSizes> expected) {
  Index batch = expected[4].sizes[0];
  auto nameOf = [&](Index size) {
    if (!batch.number && !batch.name && size.value == batch.value)
      size.name = builder.getStringAttr("?batch");
    return size.dim();
  };
  SmallVector<Node> nodes;
  for (const auto &[name, operand, sizes] : expected) {
    nodes.emplace_back();
    if (!operand.given())
      continue;
    for (auto [own, size] : llvm::zip_equal(operand.sizes, sizes))
      if (failed(require(builder, own == size, Status::Shape, op,
                         "does not fit the other operands", name)))
        return failure();
    if (!operand.lowered)
      continue;
    Type element = getElementTypeOrSelf(operand.lowered.getType());
    Shape shape;
    SmallVector<int64_t> numbers;
    for (Index size : sizes) {
      shape.push_back(nameOf(size));
      numbers.push_back(shape.back().size);
    }
    Value value = castTo(builder, operand.lowered,
                         RankedTensorType::get(numbers, element));
    nodes.back() = {graph, named(builder, value, shape)};
  }
  return nodes;
}

// Whether it is known to hold zeros only, however many.
bool isZero(Value state) {
  while (auto expand = state.getDefiningOp<ExpandOp>())
    state = expand.getOperand(0);
  Attribute value;
  if (auto filled = state.getDefiningOp<ConstantOfShapeOp>())
    value = filled.getValueAttr();
  else if (!matchPattern(state, m_Constant(&value)))
    return false;
  auto elements = dyn_cast_or_null<DenseElementsAttr>(value);
  return !value || (elements && elements.isSplat() &&
                    isa<FloatType>(elements.getElementType()) &&
                    elements.getSplatValue<APFloat>().isPosZero());
}

LogicalResult requireLengths(ImplicitLocOpBuilder &builder, Operation *op,
                             const Input &lengths, Index steps) {
  auto fits = [&](Index length, ArrayRef<Index>) {
    return length >= 0 && length <= steps;
  };
  return !lengths.given()
             ? success()
             : requireAll(builder, lengths, fits, Status::Value, op,
                          "a sequence is longer than X or negative",
                          "sequence_lens");
}

template <typename Op> struct LowerRecurrent : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Graph graph(builder, op.getLoc());
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    RecurrentOperands operands = Op::operandsOf({inputs, op});
    SmallVector<ExpectedSizes> expected = expectedSizes(operands);
    Index hidden = expected[2].sizes[2];
    if (!hidden.number)
      return op.emitError("a state of unknown size is not supported; "
                          "'hidden_size' or '--shape' says it");
    auto fit = fitting(builder, graph, op, expected);
    Index steps = operands.x.sizes[operands.layout ? 1 : 0];
    if (failed(fit) ||
        failed(requireLengths(builder, op, operands.lengths, steps)))
      return failure();
    ArrayRef<Node> nodes = *fit;
    Recurrence net;
    net.op = op;
    net.hidden = *hidden.number;
    net.x = nodes[0];
    net.w = {nodes[1]};
    net.r = {nodes[2]};
    net.b = nodes[3];
    net.lengths = nodes[4];
    net.initialH = nodes[5];
    net.activations = op.getActivations();
    net.alphas = op.getActivationAlpha();
    net.betas = op.getActivationBeta();
    net.clip = op.getClip();
    net.direction = op.getDirection();
    net.gates = net.functions = 1;
    if constexpr (std::is_same_v<Op, GRUOp>) {
      net.gates = 3;
      net.functions = 2;
      net.linearBeforeReset = op.getLinearBeforeReset() != 0;
    }
    constexpr bool isQuantized = std::is_same_v<Op, MsDynamicQuantizeLSTMOp>;
    bool batchFirst = false;
    if constexpr (isQuantized) {
      // As they were: lowered, bytes have no sign.
      auto node = [&](Value value) { return Node(graph, value); };
      net.w = {node(op.getW()), node(adaptor.getWScale()),
               node(op.getWZeroPoint())};
      net.r = {node(op.getR()), node(adaptor.getRScale()),
               node(op.getRZeroPoint())};
    } else {
      batchFirst = op.getLayout() != 0;
    }
    if constexpr (isQuantized || std::is_same_v<Op, LSTMOp>) {
      net.gates = 4;
      net.functions = 3;
      net.initialC = nodes[6];
      net.peephole = nodes[7];
      net.inputForget = op.getInputForget() != 0;
    }
    if (batchFirst) {
      net.x = transpose(net.x, {1, 0, 2});
      for (Node *state : {&net.initialH, &net.initialC})
        if (state->given())
          *state = transpose(*state, {1, 0, 2});
    }
    // Zero times infinity is no zero.
    net.isOneOfZero = !isQuantized && steps.number == 1 &&
                      !isStrict(op->template getParentOfType<ModuleOp>()) &&
                      (!op.getInitialH() || isZero(op.getInitialH()));
    SmallVector<Node> results = runAll(builder, graph, net);
    if (graph.failed)
      return failure();
    SmallVector<Value> values;
    for (auto [i, result, type] :
         llvm::enumerate(results, op->getResultTypes())) {
      Node y = result;
      if (batchFirst)
        y = i == 0 ? transpose(y, {2, 0, 1, 3}) : transpose(y, {1, 0, 2});
      if (graph.failed)
        return failure();
      values.push_back(castTo(builder, unnamed(builder, y.value),
                              this->getTypeConverter()->convertType(type)));
    }
    rewriter.replaceOp(op, values);
    return success();
  }
};

} // namespace

void addRecurrentPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerRecurrent<RNNOp>, LowerRecurrent<GRUOp>,
               LowerRecurrent<LSTMOp>, LowerRecurrent<MsDynamicQuantizeLSTMOp>>(
      types, patterns.getContext());
}

} // namespace onnxc
