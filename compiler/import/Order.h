// The order in which the nodes of a graph can be imported.
#pragma once
#include "mlir/IR/Location.h"

#include "onnx.pb.h"
#include <variant>

namespace onnxc {

using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

struct Cycle {
  int node;          // one of its nodes
  std::string value; // that the node waits for
};

// Indices of `nodes`, each after the nodes whose outputs it reads, also from
// inside its subgraphs. The model's order is kept where it is one. A Constant
// whose name a later Constant defines again is left out: exporters that do not
// sort their nodes write such, and the last one holds, as in ONNX Runtime.
std::variant<std::vector<int>, Cycle> orderNodes(const Nodes &nodes);

} // namespace onnxc
