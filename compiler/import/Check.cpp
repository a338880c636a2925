// Every node that no record knows, at once.
#include "compiler/import/Graphs.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace onnxc {

LogicalResult GraphImporter::checkGraph(const ::onnx::GraphProto &graph,
                                        const Frame &frame) {
  return checkNodes(graph.node(), frame);
}

LogicalResult GraphImporter::checkNodes(
    const google::protobuf::RepeatedPtrField<::onnx::NodeProto> &nodes,
    const Frame &frame) {
  LogicalResult all = success();
  for (const ::onnx::NodeProto &node : nodes) {
    if (!findFunction(node) &&
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

} // namespace onnxc
