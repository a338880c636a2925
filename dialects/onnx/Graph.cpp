#include "dialects/onnx/Graph.h"
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family
#include "dialects/onnxc/ModuleOptions.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace onnxc {

Node Graph::constant(ElementsAttr value) {
  NamedAttribute attribute = builder.getNamedAttr("value", value);
  return {*this, ConstantOp::create(builder, loc, value.getType(), ValueRange(),
                                    attribute)};
}

Node Graph::splat(double number, Type element) {
  Attribute value =
      isa<FloatType>(element)
          ? Attribute(builder.getFloatAttr(element, number))
          : Attribute(builder.getIntegerAttr(element, int64_t(number)));
  return constant(
      DenseElementsAttr::get(RankedTensorType::get({}, element), value));
}

bool Graph::isStrict() const {
  Operation *owner = builder.getInsertionBlock()->getParentOp();
  auto module = owner ? owner->getParentOfType<ModuleOp>() : ModuleOp();
  return module && onnxc::isStrict(module);
}

Node Graph::ints(ArrayRef<int64_t> values) {
  return constant(builder.getI64TensorAttr(values));
}

Node Graph::floats(ArrayRef<float> values) {
  auto type = RankedTensorType::get(values.size(), builder.getF32Type());
  return constant(DenseElementsAttr::get(type, values));
}

Node Graph::doubles(ArrayRef<double> values, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, builder.getF64Type());
  ArrayRef<char> bytes(reinterpret_cast<const char *>(values.data()),
                       values.size() * sizeof(double));
  return constant(constantFrom(type, bytes));
}

SmallVector<Node> Graph::inlined(Region &subgraph, ArrayRef<Node> inputs) {
  if (failed)
    return SmallVector<Node>(inputs);
  IRMapping mapping;
  for (auto [argument, input] :
       llvm::zip_equal(subgraph.getArguments(), inputs))
    mapping.map(argument, input.value);
  for (Operation &op : subgraph.front().without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(
      subgraph.front().getTerminator()->getOperands(), [&](Value output) {
        return Node(*this, mapping.lookupOrDefault(output));
      });
}

SmallVector<Node>
Graph::scan(ArrayRef<Node> states, ArrayRef<Node> sequences,
            ArrayRef<int64_t> reversed,
            llvm::function_ref<SmallVector<Node>(ArrayRef<Node>)> step) {
  if (failed)
    return {};
  SmallVector<Value> inputs;
  NodeParts parts;
  Block &block =
      parts.regions.emplace_back(std::make_unique<Region>())->emplaceBlock();
  for (const Node &state : states)
    block.addArgument(inputs.emplace_back(state.value).getType(), loc);
  for (const Node &sequence : sequences) {
    Shape slice = onnxc::shapeOf(inputs.emplace_back(sequence.value).getType());
    slice.erase(slice.begin());
    block.addArgument(
        tensorOf(slice, getElementTypeOrSelf(sequence.value.getType())), loc);
  }
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&block);
    SmallVector<Node> results = step(nodesOf(*this, block.getArguments()));
    if (failed)
      return {};
    YieldOp::create(builder, loc,
                    llvm::map_to_vector(
                        results, [](const Node &node) { return node.value; }));
  }
  NamedAttrList attributes;
  attributes.set("num_scan_inputs",
                 builder.getI64IntegerAttr(sequences.size()));
  attributes.set("scan_input_directions",
                 builder.getDenseI64ArrayAttr(reversed));
  auto name = RegisteredOperationName::lookup(ScanOp::getOperationName(),
                                              builder.getContext());
  FailureOr<Operation *> made =
      createOp(builder, loc, *name, inputs, attributes, std::move(parts));
  failed = mlir::failed(made);
  return failed ? SmallVector<Node>() : nodesOf(*this, (*made)->getResults());
}

SmallVector<Node> Graph::fail(const llvm::Twine &message) {
  if (!failed)
    emitError(loc) << message;
  failed = true;
  return {};
}

static Attribute attributeOf(Builder &builder, const Number &value) {
  if (auto *integer = std::get_if<int64_t>(&value))
    return builder.getI64IntegerAttr(*integer);
  if (auto *number = std::get_if<double>(&value))
    return builder.getF32FloatAttr(*number);
  if (auto *text = std::get_if<StringRef>(&value))
    return builder.getStringAttr(*text);
  return builder.getDenseI64ArrayAttr(
      std::get<llvm::SmallVector<int64_t>>(value));
}

SmallVector<Node> Graph::ops(StringRef name, ArrayRef<Node> operands,
                             ArrayRef<NamedNumber> attributes, unsigned count) {
  if (failed)
    return {};
  // A condition does not say what type a literal has.
  Type element;
  for (const Node &node : operands)
    if (node.value && (!element || element.isInteger(1)))
      element = getElementTypeOrSelf(node.value.getType());
  SmallVector<Value> values;
  for (const Node &node : operands)
    values.push_back(node.literal ? splat(*node.literal, element).value
                                  : node.value);
  NamedAttrList list;
  for (const auto &[key, value] : attributes)
    list.set(key, attributeOf(builder, value));
  auto registered = RegisteredOperationName::lookup(name, builder.getContext());
  if (!registered)
    return fail("operator '" + name + "' is not there");
  FailureOr<Operation *> made =
      createOp(builder, loc, *registered, values, list, {{}, count});
  failed = mlir::failed(made);
  return failed ? SmallVector<Node>() : nodesOf(*this, (*made)->getResults());
}

// After a failure, a node that still knows its graph, so that the rest of the
// body runs through.
Node Graph::op(StringRef name, ArrayRef<Node> operands,
               ArrayRef<NamedNumber> attributes) {
  SmallVector<Node> results = ops(name, operands, attributes);
  return results.empty() ? Node(*this, Value()) : results.front();
}

Node operator+(Node a, Node b) { return op<AddOp>({a, b}); }
Node operator-(Node a, Node b) { return op<SubOp>({a, b}); }
Node operator-(Node x) { return op<NegOp>(x); }
Node operator*(Node a, Node b) { return op<MulOp>({a, b}); }
Node operator/(Node a, Node b) { return op<DivOp>({a, b}); }
Node operator==(Node a, Node b) { return op<EqualOp>({a, b}); }
Node operator<(Node a, Node b) { return op<LessOp>({a, b}); }
Node operator<=(Node a, Node b) { return op<LessOrEqualOp>({a, b}); }
Node operator>(Node a, Node b) { return op<GreaterOp>({a, b}); }
Node operator>=(Node a, Node b) { return op<GreaterOrEqualOp>({a, b}); }
Node operator&&(Node a, Node b) { return op<AndOp>({a, b}); }
Node operator||(Node a, Node b) { return op<OrOp>({a, b}); }
Node operator!(Node x) { return op<NotOp>(x); }
Node select(Node condition, Node yes, Node no) {
  return op<WhereOp>({condition, yes, no});
}
Node exp(Node x) { return op<ExpOp>(x); }
Node sqrt(Node x) { return op<SqrtOp>(x); }

static Type elementOf(Node x) {
  return x.value ? getElementTypeOrSelf(x.value.getType()) : Type();
}
int64_t rankOf(Node x) { return x.value ? rankOf(x.value) : 0; }
int64_t axisOf(Node x, int64_t axis) {
  int64_t rank = rankOf(x);
  if (x.value && axis >= -rank && axis < rank)
    return wrap(axis, rank);
  if (x.graph)
    x.graph->fail("axis " + llvm::Twine(axis) + " is outside [" +
                  llvm::Twine(-rank) + ", " + llvm::Twine(rank) + ")");
  return 0;
}
int64_t staticSize(Node x, int64_t dim) {
  dim = wrap(dim, rankOf(x));
  if (!x.value || dim < 0 || dim >= rankOf(x))
    return -1;
  Dim size = shapeOf(x.value.getType())[dim];
  return size.isStatic() ? size.size : -1;
}

Node cast(Node x, int64_t type) {
  return !x.value || dataNumber(elementOf(x)) == type
             ? x
             : op<CastOp>(x, {{"to", type}});
}
Node castLike(Node x, Node like) {
  return like.value ? cast(x, dataNumber(elementOf(like))) : x;
}
Node wide(Node x) {
  Type type = elementOf(x);
  return !type || type.isF64() ? x : cast(x, 1);
}
Node constantLike(double number, Node like) {
  return like.value ? like.graph->splat(number, elementOf(like)) : like;
}

Node alignAt(Node x, int64_t axis, int64_t rank) {
  int64_t missing = rank - axis - rankOf(x);
  if (missing <= 0)
    return x;
  SmallVector<int64_t> shape(rankOf(x), 0);
  shape.append(missing, 1);
  return reshape(x, shape);
}

Node reshapeTo(Node x, Node sizes) { return op<ReshapeOp>({x, sizes}); }
Node reshape(Node x, ArrayRef<int64_t> sizes) {
  return reshapeTo(x, x.graph->ints(sizes));
}
Node shapeOf(Node x) { return op<ShapeOp>(x); }
Node sizeOf(Node x, int64_t dim) {
  dim = axisOf(x, dim);
  if (int64_t size = staticSize(x, dim); size >= 0)
    return x.graph->ints(size);
  return op<ShapeOp>(x, {{"start", dim}, {"end", dim + 1}});
}
Node unsqueeze(Node x, ArrayRef<int64_t> axes) {
  return x.graph->op("onnx.Unsqueeze", {x, x.graph->ints(axes)});
}
Node squeeze(Node x, ArrayRef<int64_t> axes) {
  return x.graph->op("onnx.Squeeze", {x, x.graph->ints(axes)});
}
Node transpose(Node x, ArrayRef<int64_t> permutation) {
  return x.graph->op("onnx.Transpose", x,
                     {{"perm", SmallVector<int64_t>(permutation)}});
}
Node slice(Node x, int64_t axis, Node begin, Node end) {
  return x.graph->op("onnx.Slice", {x, begin, end, x.graph->ints(axis)});
}
Node slice(Node x, int64_t axis, int64_t begin, int64_t end) {
  return slice(x, axis, x.graph->ints(begin), x.graph->ints(end));
}
Node concat(ArrayRef<Node> parts, int64_t axis) {
  return graphOf(parts).op("onnx.Concat", parts, {{"axis", axis}});
}
Node expand(Node x, Node sizes) {
  return x.graph->op("onnx.Expand", {x, sizes});
}
Node gather(Node x, Node indices, int64_t axis) {
  return x.graph->op("onnx.Gather", {x, indices}, {{"axis", axis}});
}
Node matmul(Node a, Node b) { return a.graph->op("onnx.MatMul", {a, b}); }
Node range(Node begin, Node end, Node step) {
  return op<RangeOp>({begin, end, step});
}
Node position(Node x, int64_t axis) {
  return op<PositionOp>(x, {{"axis", axis}});
}
Node require(Node x, Node conditions, Fault fault) {
  return op<RequireOp>({x, conditions}, {{"status", int64_t(fault.status)},
                                         {"operand", fault.operand},
                                         {"message", fault.message}});
}
Node scalar(Node x) {
  return rankOf(x) == 0 ? x : reshape(x, ArrayRef<int64_t>());
}
Attributes windowAttributes(StringRef autoPad, OptionalInts dilations,
                            int64_t group, OptionalInts kernelShape,
                            OptionalInts pads, OptionalInts strides) {
  Attributes all = {{"auto_pad", autoPad}, {"group", group}};
  auto add = [&](StringRef name, OptionalInts ints) {
    if (ints)
      all.push_back({name, SmallVector<int64_t>(*ints)});
  };
  add("dilations", dilations);
  add("kernel_shape", kernelShape);
  add("pads", pads);
  add("strides", strides);
  return all;
}

Attributes poolAttributes(StringRef autoPad, OptionalInts dilations,
                          OptionalInts kernelShape, OptionalInts pads,
                          OptionalInts strides) {
  Attributes all =
      windowAttributes(autoPad, dilations, 1, kernelShape, pads, strides);
  llvm::erase_if(all,
                 [](const NamedNumber &each) { return each.name == "group"; });
  return all;
}

SmallVector<Node> nodesOf(Graph &graph, ValueRange values) {
  return llvm::map_to_vector(values,
                             [&](Value value) { return Node(graph, value); });
}

LogicalResult inferByExpanding(MLIRContext *context,
                               std::optional<Location> loc, ValueRange values,
                               Expand expand, SmallVectorImpl<Type> &types) {
  Block scratch;
  OpBuilder builder(context); // atBlockBegin() wants a block in a region
  builder.setInsertionPointToStart(&scratch);
  Graph graph(builder, loc.value_or(UnknownLoc::get(context)));
  for (const Node &result : expand(graph, nodesOf(graph, values)))
    if (!graph.failed)
      types.push_back(result.value.getType());
  scratch.dropAllReferences();
  return failure(graph.failed);
}

} // namespace onnxc
