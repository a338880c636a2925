// Sequences that a graph makes and takes apart itself, as exporters do for the
// parts of a split. Where the model says how many tensors there are and which
// of them a node takes, no sequence is left: the importer knows the tensors
// behind its name.
#include "compiler/import/Graphs.h"
#include "dialects/onnx/Constants.h"
#include "dialects/onnx/Graph.h"
#include "dialects/onnx/OnnxDialect.h"
#include "llvm/ADT/StringSwitch.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {

namespace {

using Tensors = SmallVector<Value>;

constexpr int64_t mostParts = 1 << 16;

class SequenceNode {
public:
  SequenceNode(OpBuilder &builder, Location loc, const ::onnx::NodeProto &node,
               const Scope &scope, const llvm::StringMap<int64_t> &attributes)
      : graph(builder, loc), loc(loc), node(node), scope(scope),
        attributes(attributes) {}

  FailureOr<Tensors> construct() {
    Tensors tensors;
    for (const std::string &name : node.input()) {
      tensors.push_back(scope.find(name));
      if (!tensors.back())
        return fail("nothing defines the input '" + Twine(name) + "'");
    }
    return tensors;
  }

  // Pieces of `split` elements or of as many as it lists, or of one.
  FailureOr<Tensors> split() {
    Value input = node.input_size() ? scope.find(node.input(0)) : Value();
    auto type = input ? dyn_cast<RankedTensorType>(input.getType()) : nullptr;
    if (!type)
      return fail("splits what has no known rank");
    int64_t axis = intAttribute("axis", 0);
    axis += axis < 0 ? type.getRank() : 0;
    if (axis < 0 || axis >= type.getRank())
      return fail("there is no such axis");
    bool isSplitGiven = node.input_size() > 1 && !node.input(1).empty();
    SmallVector<int64_t> sizes;
    if (isSplitGiven) {
      auto ints = knownInts(1);
      if (!ints)
        return fail("sizes of parts that only the run knows are not supported");
      bool isList =
          cast<ShapedType>(scope.find(node.input(1)).getType()).getRank() == 1;
      if (isList)
        sizes = *ints;
      else if (failed(cut(sizeOf(type, axis), ints->front(), sizes)))
        return failure();
    } else if (failed(cut(sizeOf(type, axis), 1, sizes))) {
      return failure();
    }
    SmallVector<Node> parts =
        ops<SplitOp>({Node(graph, input), graph.ints(sizes)}, {{"axis", axis}},
                     sizes.size());
    bool keepsDims = isSplitGiven || intAttribute("keepdims", 1);
    if (graph.failed)
      return failure();
    Tensors tensors;
    for (Node part : parts)
      tensors.push_back((keepsDims ? part : squeeze(part, axis)).value);
    return tensors;
  }

  FailureOr<Tensors> insert() {
    FailureOr<Tensors> tensors = sequence();
    Value tensor = node.input_size() > 1 ? scope.find(node.input(1)) : Value();
    if (failed(tensors))
      return failure();
    if (!tensor)
      return fail("nothing defines what it adds");
    int64_t count = tensors->size();
    FailureOr<int64_t> place = position(2, count, count, count);
    if (failed(place))
      return failure();
    tensors->insert(tensors->begin() + *place, tensor);
    return tensors;
  }

  FailureOr<Tensors> erase() {
    FailureOr<Tensors> tensors = sequence();
    if (failed(tensors))
      return failure();
    int64_t count = tensors->size();
    FailureOr<int64_t> place = position(1, count - 1, count, count - 1);
    if (failed(place))
      return failure();
    tensors->erase(tensors->begin() + *place);
    return tensors;
  }

  FailureOr<Value> at() {
    FailureOr<Tensors> tensors = sequence();
    if (failed(tensors))
      return failure();
    int64_t count = tensors->size();
    FailureOr<int64_t> place = position(1, 0, count, count - 1);
    return failed(place) ? FailureOr<Value>() : (*tensors)[*place];
  }

  FailureOr<Value> length() {
    FailureOr<Tensors> tensors = sequence();
    if (failed(tensors))
      return failure();
    return reshape(graph.ints({int64_t(tensors->size())}), {}).value;
  }

  FailureOr<Value> concatenation() {
    FailureOr<Tensors> tensors = sequence();
    if (failed(tensors))
      return failure();
    if (tensors->empty())
      return fail("the sequence is empty");
    int64_t axis = intAttribute("axis", 0);
    SmallVector<Node> parts;
    for (Value tensor : *tensors)
      parts.push_back(intAttribute("new_axis", 0)
                          ? unsqueeze(Node(graph, tensor), axis)
                          : Node(graph, tensor));
    Value result = concat(parts, axis).value;
    return graph.failed ? FailureOr<Value>() : result;
  }

private:
  LogicalResult fail(const Twine &message) const {
    return emitError(loc) << message;
  }

  // Of an input that is a constant, or the same as one.
  std::optional<SmallVector<int64_t>> knownInts(int input) const {
    Value given = scope.find(node.input(input));
    while (given && given.getDefiningOp<IdentityOp>())
      given = given.getDefiningOp()->getOperand(0);
    return given ? constantInts(given) : std::nullopt;
  }

  FailureOr<Tensors> sequence() const {
    if (node.input_size())
      if (const Tensors *tensors = scope.findSequence(node.input(0)))
        return *tensors;
    return fail(
        "a sequence of tensors that only the run knows is not supported");
  }

  // An input that counts from either end, or what it is where it is absent.
  FailureOr<int64_t> position(int input, int64_t otherwise, int64_t count,
                              int64_t last) const {
    int64_t place = otherwise;
    if (node.input_size() > input && !node.input(input).empty()) {
      auto ints = knownInts(input);
      if (!ints || ints->size() != 1)
        return fail("a position in a sequence that only the run knows is not "
                    "supported");
      place = ints->front() < 0 ? ints->front() + count : ints->front();
    }
    if (place < 0 || place > last)
      return fail("there is no such position in a sequence of " + Twine(count));
    return place;
  }

  // As the model declares it where nothing else says; the split checks it.
  int64_t sizeOf(RankedTensorType type, int64_t axis) const {
    const ::onnx::TensorShapeProto *shape =
        scope.declared.lookup(node.input(0));
    bool isDeclared = type.isDynamicDim(axis) && shape &&
                      shape->dim_size() == type.getRank() &&
                      shape->dim(axis).has_dim_value();
    return isDeclared ? shape->dim(axis).dim_value() : type.getDimSize(axis);
  }

  LogicalResult cut(int64_t size, int64_t piece,
                    SmallVectorImpl<int64_t> &sizes) const {
    if (size < 0)
      return fail("a number of parts that only the run knows is not supported");
    if (piece <= 0)
      return fail("a part has no elements");
    if (size / piece > mostParts)
      return fail("a sequence of " + Twine(size / piece) +
                  " parts exceeds the budget of " + Twine(mostParts));
    for (int64_t done = 0; done < size; done += piece)
      sizes.push_back(std::min(piece, size - done));
    return success();
  }

  int64_t intAttribute(StringRef name, int64_t otherwise) const {
    auto given = attributes.find(name);
    return given == attributes.end() ? otherwise : given->second;
  }

  Graph graph;
  Location loc;
  const ::onnx::NodeProto &node;
  const Scope &scope;
  const llvm::StringMap<int64_t> &attributes;
};

// Exactly one of them is there.
struct Operator {
  FailureOr<Tensors> (SequenceNode::*makesSequence)() = nullptr;
  FailureOr<Value> (SequenceNode::*makesTensor)() = nullptr;
};

std::optional<Operator> operatorOf(const ::onnx::NodeProto &node) {
  if (!node.domain().empty() && node.domain() != "ai.onnx")
    return std::nullopt;
  using Found = std::optional<Operator>;
  return llvm::StringSwitch<Found>(node.op_type())
      .Cases({"SequenceEmpty", "SequenceConstruct"},
             Found({&SequenceNode::construct}))
      .Case("SplitToSequence", Found({&SequenceNode::split}))
      .Case("SequenceInsert", Found({&SequenceNode::insert}))
      .Case("SequenceErase", Found({&SequenceNode::erase}))
      .Case("SequenceAt", Found({nullptr, &SequenceNode::at}))
      .Case("SequenceLength", Found({nullptr, &SequenceNode::length}))
      .Case("ConcatFromSequence",
            Found({nullptr, &SequenceNode::concatenation}))
      .Default(std::nullopt);
}

} // namespace

bool isOfSequences(const ::onnx::NodeProto &node) {
  return operatorOf(node).has_value();
}

LogicalResult GraphImporter::importOfSequences(const ::onnx::NodeProto &node,
                                               Scope &scope, const Frame &frame,
                                               Location loc) {
  if (readsUnknown(node, scope))
    return failure();
  if (node.output_size() != 1)
    return emitError(loc) << "expected one output, got " << node.output_size();
  llvm::StringMap<int64_t> attributes;
  for (const ::onnx::AttributeProto &given : node.attribute())
    if (const ::onnx::AttributeProto *attribute = resolve(given, frame))
      attributes[given.name()] = attribute->i();
  SequenceNode sequence(builder, loc, node, scope, attributes);
  Operator made = *operatorOf(node);
  const std::string &name = node.output(0);
  if (made.makesTensor) {
    FailureOr<Value> tensor = (sequence.*made.makesTensor)();
    return failed(tensor) ? failure() : define(scope, name, *tensor, loc);
  }
  FailureOr<SmallVector<Value>> tensors = (sequence.*made.makesSequence)();
  if (failed(tensors))
    return failure();
  return defineSequence(scope, name, *tensors, loc);
}

LogicalResult GraphImporter::defineSequence(Scope &scope, StringRef name,
                                            ArrayRef<Value> tensors,
                                            Location loc) {
  if (!scope.sequences.try_emplace(name, tensors.begin(), tensors.end()).second)
    return emitError(loc) << "'" << name << "' is defined twice";
  return success();
}

const SmallVector<Value> *Scope::findSequence(StringRef name) const {
  for (const Scope *scope = this; scope; scope = scope->around)
    if (auto found = scope->sequences.find(name);
        found != scope->sequences.end())
      return &found->second;
  return nullptr;
}

} // namespace onnxc
