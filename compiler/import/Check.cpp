// What `onnxc check` needs beyond an import: every node that no record knows,
// at once, and a way to go on behind a node that is wrong.
#include "compiler/import/Graphs.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace onnxc {

LogicalResult GraphImporter::checkGraph(const ::onnx::GraphProto &graph,
                                        const Frame &frame) {
  for (const auto *list : {&graph.value_info(), &graph.output()})
    for (const ::onnx::ValueInfoProto &value : *list)
      declared[value.name()] = &value;
  return checkNodes(graph.node(), frame);
}

LogicalResult GraphImporter::checkNodes(
    const google::protobuf::RepeatedPtrField<::onnx::NodeProto> &nodes,
    const Frame &frame) {
  LogicalResult all = success();
  for (const ::onnx::NodeProto &node : nodes) {
    if (!findFunction(node) && !isOfSequences(node) &&
        failed(findForm(node, frame, locate(node, frame))))
      all = failure();
    for (const ::onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g() && failed(checkGraph(attribute.g(), frame)))
        all = failure();
  }
  return all;
}

LogicalResult GraphImporter::checkModel() {
  LogicalResult all =
      checkGraph(model.proto.graph(), {opsetsOf(model.proto.opset_import())});
  for (const ::onnx::FunctionProto &function : model.proto.functions())
    if (failed(
            checkNodes(function.node(), {opsetsOf(function.opset_import())})))
      all = failure();
  return all;
}

// An input of the model in the place of what it would have computed.
Value GraphImporter::declaredValue(StringRef name) {
  const ::onnx::ValueInfoProto *info = declared.lookup(name);
  if (!entry || !info || !info->type().tensor_type().has_shape())
    return {};
  ScopedDiagnosticHandler silent(context,
                                 [](Diagnostic &) { return success(); });
  Location loc = NameLoc::get(builder.getStringAttr(name));
  FailureOr<Type> type = types.inputType(*info, loc);
  return failed(type) ? Value() : entry->addArgument(*type, loc);
}

LogicalResult GraphImporter::leaveOut(StringRef name, Scope &scope) {
  if (!options.checkOnly)
    return failure();
  if (name.empty() || scope.values.count(name))
    return success();
  if (Value value = declaredValue(name))
    scope.values[name] = value;
  else
    scope.unknown.insert(name);
  return success();
}

LogicalResult GraphImporter::leaveOut(const ::onnx::NodeProto &node,
                                      Scope &scope, const Frame &frame) {
  for (const std::string &input : node.input())
    if (Value value = scope.find(input);
        value && value.getDefiningOp() && value.getParentBlock() == entry)
      leftOver.push_back(value);
  for (const std::string &output : node.output())
    if (frame.function)
      scope.unknown.insert(output); // the model declares no values of functions
    else if (failed(leaveOut(output, scope)))
      return failure();
  return success(options.checkOnly);
}

bool GraphImporter::readsUnknown(const ::onnx::NodeProto &node,
                                 const Scope &scope) const {
  return llvm::any_of(node.input(), [&](const std::string &name) {
    return isUnknown(scope, name);
  });
}

} // namespace onnxc
