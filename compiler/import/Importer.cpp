// No operator is named here but Constant: the records know them all, and
// Sequences.cpp those that are gone after the import. A node's
// (domain, type) and the opset its graph imports pick the record; attributes go
// by name, inputs by slot, and createOp() infers the types and reports what
// does not fit.
#include "compiler/import/Importer.h"
#include "compiler/import/Graphs.h"
#include "compiler/import/Order.h"
#include "compiler/import/Tensors.h"
#include "dialects/onnx/NodeAttributes.h"
#include "dialects/onnx/NodeLocation.h"
#include "dialects/onnx/OnnxDialect.h"
#include "dialects/onnxc/Onnxc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {

// Functions that call functions multiply; models in use stay far below.
static constexpr uint64_t mostNodes = 1000000;
// A location that names every call would grow with the square of the depth.
static constexpr unsigned deepestCallLocation = 16;

static StringRef normalDomain(StringRef domain) {
  return domain == "ai.onnx" ? "" : domain;
}

Opsets opsetsOf(
    const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto> &ids) {
  Opsets opsets;
  for (const ::onnx::OperatorSetIdProto &id : ids)
    opsets[normalDomain(id.domain())] = id.version();
  return opsets;
}

GraphImporter::GraphImporter(MLIRContext *context, Model &model,
                             const Options &options)
    : context(context), builder(context), registry(context), model(model),
      types(context, options), options(options) {
  for (const ::onnx::FunctionProto &function : model.proto.functions())
    functions[function.domain() + "\n" + function.name() + "\n" +
              function.overload()] = &function;
}

// Node and function names the model's author gave, for messages and profiles.
Location GraphImporter::locate(const ::onnx::NodeProto &node,
                               const Frame &frame) {
  StringRef name = node.name();
  for (const std::string &output : node.output())
    if (name.empty())
      name = output;
  NamedAttrList metadata;
  for (const auto &entry : node.metadata_props())
    if (!entry.key().empty())
      metadata.set(entry.key(), builder.getStringAttr(entry.value()));
  Location loc = nodeLocation(context, name.empty() ? node.op_type() : name,
                              node.op_type(), metadata.getDictionary(context));
  if (frame.caller && frame.depth <= deepestCallLocation)
    return CallSiteLoc::get(loc, *frame.caller);
  return loc;
}

LogicalResult GraphImporter::checkOpsets(const Opsets &opsets,
                                         Location loc) const {
  int64_t opset = opsets.lookup("");
  if (opset > newestOpset && !options.allowNewerOpset)
    return emitError(loc) << "opset " << opset
                          << " is not supported; the newest known one is "
                          << newestOpset
                          << " (--allow-newer-opset tries it nevertheless)";
  return success();
}

LogicalResult GraphImporter::define(Scope &scope, StringRef name, Value value,
                                    Location loc) {
  if (!scope.values.try_emplace(name, value).second)
    return emitError(loc) << "'" << name << "' is defined twice";
  return success();
}

Value GraphImporter::createConstant(ElementsAttr value, Location loc) {
  return ConstantOp::create(builder, loc, value.getType(), ValueRange(),
                            builder.getNamedAttr("value", value));
}

LogicalResult GraphImporter::importInitializers(const ::onnx::GraphProto &graph,
                                                Scope &scope) {
  auto add = [&](StringRef name, FailureOr<ElementsAttr> value, Location loc) {
    if (failed(value))
      return leaveOut(name, scope);
    return define(scope, name, createConstant(*value, loc), loc);
  };
  for (const ::onnx::TensorProto &tensor : graph.initializer()) {
    Location loc = nodeLocation(context, tensor.name(), "initializer");
    if (failed(add(tensor.name(),
                   convertTensor(model, types, tensor, tensor.name(), loc),
                   loc)))
      return failure();
  }
  for (const ::onnx::SparseTensorProto &tensor : graph.sparse_initializer()) {
    const std::string &name = tensor.values().name();
    Location loc = nodeLocation(context, name, "initializer");
    if (failed(add(name, convertSparse(model, types, tensor, name, loc), loc)))
      return failure();
  }
  return success();
}

// An input that has an initializer is a constant: models of IR 3 and older list
// every weight as an input.
LogicalResult GraphImporter::importInputs(Block &entry, Scope &scope) {
  llvm::StringSet<> names;
  for (const ::onnx::ValueInfoProto &input : model.proto.graph().input()) {
    Location loc = NameLoc::get(builder.getStringAttr(input.name()));
    if (!names.insert(input.name()).second)
      return emitError(loc) << "an input of this name is declared twice";
    if (scope.values.count(input.name()))
      continue;
    FailureOr<Type> type = types.inputType(input, loc);
    if (failed(type) && failed(leaveOut(input.name(), scope)))
      return failure();
    if (succeeded(type) &&
        failed(define(scope, input.name(), entry.addArgument(*type, loc), loc)))
      return failure();
  }
  return success();
}

void GraphImporter::learnDeclared(const ::onnx::GraphProto &graph,
                                  Scope &scope) {
  for (const auto *values : {&graph.value_info(), &graph.output()})
    for (const ::onnx::ValueInfoProto &value : *values)
      if (value.type().tensor_type().has_shape())
        scope.declared[value.name()] = &value.type().tensor_type().shape();
}

// What a model declares is not believed as long as there is another way to
// know.
void GraphImporter::keepRanks(const ::onnx::NodeProto &node, const Scope &scope,
                              Operation *op) {
  for (auto [name, value] : llvm::zip(node.output(), op->getResults()))
    if (const auto *shape = scope.declared.lookup(name);
        shape && isa<UnrankedTensorType>(value.getType()) &&
        op->getNumResults() == 1)
      op->setAttr(rankAttrName, builder.getI64IntegerAttr(shape->dim_size()));
}

LogicalResult GraphImporter::importMain(ModuleOp module) {
  const ::onnx::GraphProto &graph = model.proto.graph();
  Frame frame{opsetsOf(model.proto.opset_import())};
  // Before IR 3 a model had no opset imports: it meant the first opset.
  int64_t version = model.proto.ir_version();
  if (frame.opsets.empty() && (version < 1 || version >= 3))
    return emitError(module.getLoc())
           << "the model does not say which opset it needs (opset_import)";
  if (failed(checkOpsets(frame.opsets, module.getLoc())))
    return failure();
  types.bindSymbols(graph);
  builder.setInsertionPointToStart(module.getBody());
  auto function = func::FuncOp::create(builder, module.getLoc(), "model",
                                       builder.getFunctionType({}, {}));
  entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  Scope scope;
  learnDeclared(graph, scope);
  if (failed(importInitializers(graph, scope)) ||
      failed(importInputs(*entry, scope)) ||
      failed(importNodes(graph.node(), scope, frame)))
    return failure();
  return finishMain(scope, function);
}

LogicalResult GraphImporter::finishMain(Scope &scope, Operation *op) {
  auto function = cast<func::FuncOp>(op);
  const ::onnx::GraphProto &graph = model.proto.graph();
  SmallVector<Value> results;
  SmallVector<Attribute> names;
  for (const ::onnx::ValueInfoProto &output : graph.output()) {
    Value value = scope.find(output.name());
    if (!value && isUnknown(scope, output.name()))
      continue;
    if (!value && scope.findSequence(output.name()))
      return emitError(function.getLoc())
             << "the output '" << output.name()
             << "' is a sequence, which is not supported; give its tensors "
                "outputs of their own";
    if (!value)
      return emitError(function.getLoc())
             << "no node produces the output '" << output.name() << "'";
    if (failed(types.checkDeclared(output, value.getType(), value.getLoc())) &&
        !options.checkOnly)
      return failure();
    results.push_back(value);
    names.push_back(builder.getStringAttr(output.name()));
  }
  // Else nobody would look at what only such a node reads.
  for (Value value : leftOver)
    if (value.use_empty() && !llvm::is_contained(results, value)) {
      results.push_back(value);
      names.push_back(builder.getStringAttr("left over"));
    }
  if (graph.output().empty())
    return emitError(function.getLoc()) << "the model has no outputs";
  Block &entry = function.front();
  func::ReturnOp::create(builder, function.getLoc(), results);
  function.setType(builder.getFunctionType(entry.getArgumentTypes(),
                                           ValueRange(results).getTypes()));
  for (auto [i, argument] : llvm::enumerate(entry.getArguments()))
    function.setArgAttr(i, nameAttrName,
                        cast<NameLoc>(argument.getLoc()).getName());
  for (auto [i, name] : llvm::enumerate(names))
    function.setResultAttr(i, nameAttrName, name);
  return success();
}

LogicalResult GraphImporter::importNodes(const Nodes &nodes, Scope &scope,
                                         const Frame &frame) {
  auto order = orderNodes(nodes);
  if (auto *cycle = std::get_if<Cycle>(&order))
    return emitError(locate(nodes[cycle->node], frame))
           << "is part of a cycle through '" << cycle->value << "'";
  const auto &sorted = std::get<std::vector<int>>(order);
  if (size_t left = nodes.size() - sorted.size())
    emitWarning(UnknownLoc::get(context))
        << left << " constants are defined twice; the last definition holds";
  for (int node : sorted)
    if (failed(importNode(nodes[node], scope, frame)) &&
        failed(leaveOut(nodes[node], scope, frame)))
      return failure();
  return success();
}

LogicalResult GraphImporter::importNode(const ::onnx::NodeProto &node,
                                        Scope &scope, const Frame &frame) {
  Location loc = locate(node, frame);
  if (++nodeCount > mostNodes)
    return emitError(loc) << "the model with its functions inlined exceeds the "
                             "budget of "
                          << mostNodes << " nodes";
  if (const ::onnx::FunctionProto *function = findFunction(node))
    return inlineFunction(*function, node, scope, frame, loc);
  if (isOfSequences(node))
    return importOfSequences(node, scope, frame, loc);
  return importOperator(node, scope, frame, loc);
}

FailureOr<RegisteredOperationName>
GraphImporter::findForm(const ::onnx::NodeProto &node, const Frame &frame,
                        Location loc) {
  StringRef domain = normalDomain(node.domain());
  auto opset = frame.opsets.find(domain);
  int64_t version = opset == frame.opsets.end() ? 1 : opset->second;
  int known = int(std::clamp<int64_t>(version, 0, INT_MAX));
  if (auto form = registry.find(domain, node.op_type(), known))
    return *form;
  return emitError(loc) << domain << (domain.empty() ? "" : ".")
                        << node.op_type() << "-" << version
                        << " is not supported; see docs/ops.md";
}

FailureOr<SmallVector<Value>>
GraphImporter::readInputs(const ::onnx::NodeProto &node, const Scope &scope,
                          Location loc, bool takesSequences) {
  SmallVector<Value> inputs;
  for (const std::string &name : node.input()) {
    inputs.push_back(name.empty() ? Value() : scope.find(name));
    bool isSequence = !inputs.back() && scope.findSequence(name);
    if (isSequence && takesSequences)
      continue;
    if (isSequence)
      return emitError(loc) << "the input '" << name
                            << "' is a sequence, which it cannot read";
    if (!inputs.back() && !scope.isAbsent(name))
      return emitError(loc) << "nothing defines the input '" << name << "'";
  }
  return inputs;
}

FailureOr<NamedAttrList>
GraphImporter::readAttributes(const ::onnx::NodeProto &node,
                              RegisteredOperationName form, const Frame &frame,
                              Location loc) {
  NamedAttrList attributes;
  bool isConstant = form.getStringRef() == ConstantOp::getOperationName();
  StringRef label = node.output_size() ? node.output(0) : node.name();
  for (const ::onnx::AttributeProto &given : node.attribute()) {
    const ::onnx::AttributeProto *attribute = resolve(given, frame);
    if (!attribute || attribute->has_g())
      continue;
    FailureOr<Attribute> value =
        isConstant ? convertConstant(given.name(), *attribute, label, loc)
                   : convertAttribute(*attribute, label, loc);
    if (failed(value))
      return failure();
    attributes.set(isConstant ? "value" : given.name(), *value);
  }
  return attributes;
}

LogicalResult GraphImporter::importOperator(const ::onnx::NodeProto &node,
                                            Scope &scope, const Frame &frame,
                                            Location loc) {
  FailureOr<RegisteredOperationName> form = findForm(node, frame, loc);
  if (failed(form))
    return failure();
  FailureOr<NamedAttrList> attributes = readAttributes(node, *form, frame, loc);
  if (failed(attributes))
    return failure();
  if (readsUnknown(node, scope)) {
    (void)checkAttributes(loc, *form, *attributes);
    return failure();
  }
  FailureOr<SmallVector<Value>> inputs = readInputs(node, scope, loc);
  if (failed(inputs))
    return failure();
  NodeParts parts;
  parts.resultCount = node.output_size();
  if (failed(importSubgraphs(node, *form, *inputs, *attributes, scope, frame,
                             loc, parts)))
    return failure();
  FailureOr<Operation *> op =
      createOp(builder, loc, *form, *inputs, *attributes, std::move(parts));
  if (failed(op))
    return failure();
  if (unsigned(node.output_size()) > (*op)->getNumResults())
    return emitError(loc) << "expected at most " << (*op)->getNumResults()
                          << " outputs, got " << node.output_size();
  keepRanks(node, scope, *op);
  for (auto [name, value] : llvm::zip(node.output(), (*op)->getResults())) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      if (failed(checkSize(type.getShape(), type.getElementType(), loc)))
        return failure();
    if (!name.empty() && failed(define(scope, name, value, loc)))
      return failure();
  }
  return success();
}

OwningOpRef<ModuleOp> importModel(MLIRContext *context, Model &model,
                                  const Options &options) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  GraphImporter importer(context, model, options);
  if (options.checkOnly)
    (void)importer.checkModel(); // tells what it finds, and so does the import
  if (failed(importer.importMain(*module)))
    return {};
  if (options.checkOnly)
    module->walk([](OnnxOpInterface op) {
      (void)verify(op, /*verifyRecursively=*/false);
    });
  else if (failed(verify(*module)))
    return {};
  return module;
}

} // namespace onnxc
