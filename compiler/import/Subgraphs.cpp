// Subgraphs become regions. They refer to the values around them as they are.
#include "compiler/Diagnostics.h"
#include "compiler/import/Graphs.h"
#include "dialects/onnx/Graph.h"
#include "dialects/onnx/OnnxDialect.h"
#include "llvm/ADT/ScopeExit.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {

static constexpr unsigned deepestNesting = 500;
// A carried value can lose each of its sizes, one a round.
static constexpr int mostRounds = 16;

// A scalar may be declared as a tensor of one element: exporters do so with the
// iteration of a Loop.
static Value asDeclared(OpBuilder &builder, Value argument,
                        const ::onnx::ValueInfoProto &input) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  const auto &dims = input.type().tensor_type().shape().dim();
  if (!type || type.getRank() || dims.size() != 1 || dims[0].dim_value() != 1)
    return argument;
  Graph graph(builder, argument.getLoc());
  return unsqueeze({graph, argument}, {0}).value;
}

FailureOr<std::unique_ptr<Region>>
GraphImporter::importBody(const ::onnx::GraphProto &graph, TypeRange arguments,
                          const Scope &scope, const Frame &frame,
                          Location loc) {
  auto region = std::make_unique<Region>();
  Block &block = region->emplaceBlock();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&block);
  Scope inner{&scope};
  learnDeclared(graph, inner);
  if (failed(importInitializers(graph, inner)))
    return failure();
  size_t next = 0;
  for (const ::onnx::ValueInfoProto &input : graph.input()) {
    if (inner.values.count(input.name()))
      continue;
    if (next == arguments.size())
      return emitError(loc) << "expected a subgraph of " << arguments.size()
                            << " inputs, got " << graph.input_size();
    Value argument =
        asDeclared(builder, block.addArgument(arguments[next++], loc), input);
    if (failed(define(inner, input.name(), argument, loc)))
      return failure();
  }
  if (next < arguments.size())
    return emitError(loc) << "expected a subgraph of " << arguments.size()
                          << " inputs, got " << next;
  if (failed(importNodes(graph.node(), inner, frame)))
    return failure();
  SmallVector<Value> outputs;
  for (const ::onnx::ValueInfoProto &output : graph.output()) {
    outputs.push_back(inner.find(output.name()));
    if (!outputs.back() && isUnknown(inner, output.name()))
      return failure();
    if (!outputs.back() && inner.findSequence(output.name()))
      return emitError(loc) << "the output '" << output.name()
                            << "' of a subgraph is a sequence, which is not "
                               "supported";
    if (!outputs.back())
      return emitError(loc) << "no node produces the output '" << output.name()
                            << "' of a subgraph";
    if (failed(types.checkElement(output, outputs.back().getType(), loc)))
      return failure();
  }
  YieldOp::create(builder, loc, outputs);
  return region;
}

// A branch that is wrong is no error yet: constants may show that no run takes
// it. Null, and `problem`, for such a branch; what onnxc does not support is
// told at once.
FailureOr<std::unique_ptr<Region>>
GraphImporter::importBranch(const ::onnx::GraphProto &graph, const Scope &scope,
                            const Frame &frame, Location loc,
                            std::optional<Diagnostic> &problem) {
  std::vector<Diagnostic> told;
  FailureOr<std::unique_ptr<Region>> branch;
  {
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      told.push_back(std::move(diagnostic));
      return success();
    });
    branch = importBody(graph, {}, scope, frame, loc);
  }
  bool isWrong = failed(branch) && !told.empty() &&
                 llvm::all_of(told, [](Diagnostic &diagnostic) {
                   return exitFor(diagnostic.str()) == Exit::BadInput;
                 });
  if (isWrong) {
    problem = std::move(told.front());
    return std::unique_ptr<Region>();
  }
  for (Diagnostic &diagnostic : told)
    context->getDiagEngine().emit(std::move(diagnostic));
  return branch;
}

// Where a branch is wrong, one that says so; an error where all of them are.
LogicalResult GraphImporter::replaceWrongBranches(
    MutableArrayRef<std::optional<Diagnostic>> problems, Location loc,
    NodeParts &parts) {
  auto right =
      llvm::find_if(parts.regions, [](auto &region) { return bool(region); });
  if (right == parts.regions.end()) {
    context->getDiagEngine().emit(std::move(*problems.front()));
    return failure();
  }
  TypeRange types = (*right)->front().getTerminator()->getOperandTypes();
  for (auto [region, problem] : llvm::zip(parts.regions, problems)) {
    if (region)
      continue;
    region = std::make_unique<Region>();
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(region.get());
    auto fail = FailOp::create(builder, problem->getLocation(), types,
                               problem->str(), /*wrong=*/true);
    YieldOp::create(builder, loc, fail->getResults());
  }
  return success();
}

LogicalResult GraphImporter::importSubgraphs(
    const ::onnx::NodeProto &node, RegisteredOperationName form,
    ValueRange inputs, const NamedAttrList &attributes, const Scope &scope,
    const Frame &frame, Location loc, NodeParts &parts) {
  AttributesByName graphs;
  for (const ::onnx::AttributeProto &given : node.attribute())
    if (const auto *attribute = resolve(given, frame);
        attribute && attribute->has_g())
      graphs[given.name()] = attribute;
  auto *subgraphs = form.getInterface<SubgraphOpInterface>();
  const OpRecord &record = form.getInterface<OnnxOpInterface>()->getRecord();
  if (!subgraphs && !graphs.empty())
    return emitError(loc) << record.type << " takes no subgraphs";
  if (nesting == deepestNesting)
    return emitError(loc) << "the nesting of subgraphs exceeds the budget of "
                          << deepestNesting;
  ++nesting;
  llvm::scope_exit leave([&] { --nesting; });
  DictionaryAttr dictionary = attributes.getDictionary(context);
  bool isChoice = form.getStringRef() == IfOp::getOperationName();
  std::vector<std::optional<Diagnostic>> problems(record.regions.size());
  for (auto [index, slot] : llvm::enumerate(record.regions)) {
    const ::onnx::AttributeProto *graph = graphs.lookup(slot.name);
    if (!graph && slot.isOptional) {
      parts.regions.push_back(std::make_unique<Region>());
      continue;
    }
    if (!graph)
      return emitError(loc)
             << record.type << " needs attribute '" << slot.name << "'";
    std::unique_ptr<Region> region;
    SmallVector<Type> asked, yielded;
    for (int round = 0;; ++round) {
      auto wanted =
          subgraphs->regionArguments(loc, index, inputs, dictionary, yielded);
      if (failed(wanted))
        return failure();
      if (region && *wanted == asked)
        break;
      if (round == mostRounds)
        return emitError(loc) << "the types of carried values do not settle";
      asked = *wanted;
      auto body = isChoice ? importBranch(graph->g(), scope, frame, loc,
                                          problems[index])
                           : importBody(graph->g(), asked, scope, frame, loc);
      if (failed(body))
        return failure();
      region = std::move(*body);
      if (!region)
        break;
      yielded =
          llvm::to_vector(region->front().getTerminator()->getOperandTypes());
    }
    parts.regions.push_back(std::move(region));
  }
  return isChoice ? replaceWrongBranches(problems, loc, parts) : success();
}

} // namespace onnxc
