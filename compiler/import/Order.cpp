#include "compiler/import/Order.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <queue>

using namespace llvm;

namespace onnxc {
namespace {

using Visit = function_ref<void(StringRef name)>;

void visitCaptures(const ::onnx::GraphProto &graph, Visit visit);

// Every name a node reads, those its subgraphs capture included.
void visitReads(const ::onnx::NodeProto &node, Visit visit) {
  for (const std::string &input : node.input())
    if (!input.empty())
      visit(input);
  for (const ::onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g())
      visitCaptures(attribute.g(), visit);
    for (const ::onnx::GraphProto &graph : attribute.graphs())
      visitCaptures(graph, visit);
  }
}

void visitCaptures(const ::onnx::GraphProto &graph, Visit visit) {
  StringSet<> own;
  for (const auto &input : graph.input())
    own.insert(input.name());
  for (const auto &initializer : graph.initializer())
    own.insert(initializer.name());
  for (const ::onnx::NodeProto &node : graph.node())
    own.insert_range(node.output());
  auto visitForeign = [&](StringRef name) {
    if (!own.contains(name))
      visit(name);
  };
  for (const ::onnx::NodeProto &node : graph.node())
    visitReads(node, visitForeign);
  for (const auto &output : graph.output())
    visitForeign(output.name());
}

struct Edges {
  std::vector<std::vector<int>> readers; // of each node's outputs
  std::vector<int> waitsFor;             // how many producers
  bool sorted = true;
};

Edges edgesOf(const Nodes &nodes, const StringMap<int> &producers) {
  Edges edges{std::vector<std::vector<int>>(nodes.size()),
              std::vector<int>(nodes.size())};
  for (int reader = 0; reader < nodes.size(); ++reader)
    visitReads(nodes[reader], [&](StringRef name) {
      auto producer = producers.find(name);
      if (producer == producers.end())
        return;
      edges.readers[producer->second].push_back(reader);
      ++edges.waitsFor[reader];
      edges.sorted &= producer->second < reader;
    });
  return edges;
}

// Walks backwards from a node that waits until a node repeats.
Cycle findCycle(const Nodes &nodes, const StringMap<int> &producers,
                const std::vector<int> &waitsFor, int node) {
  std::vector<bool> seen(nodes.size());
  Cycle cycle{node, ""};
  while (!seen[cycle.node]) {
    seen[cycle.node] = true;
    int next = cycle.node;
    visitReads(nodes[cycle.node], [&](StringRef name) {
      auto producer = producers.find(name);
      if (producer == producers.end() || !waitsFor[producer->second])
        return;
      next = producer->second;
      cycle.value = name.str();
    });
    cycle.node = next;
  }
  return cycle;
}

} // namespace

std::variant<std::vector<int>, Cycle> orderNodes(const Nodes &nodes) {
  auto isConstant = [&](int node) {
    return nodes[node].op_type() == "Constant" &&
           nodes[node].output_size() == 1;
  };
  StringMap<int> producers;
  std::vector<bool> superseded(nodes.size());
  for (int node = 0; node < nodes.size(); ++node)
    for (const std::string &output : nodes[node].output()) {
      if (output.empty())
        continue;
      auto [found, isFirst] = producers.try_emplace(output, node);
      if (!isFirst && isConstant(found->second) && isConstant(node))
        superseded[std::exchange(found->second, node)] = true;
    }
  Edges edges = edgesOf(nodes, producers);
  std::vector<int> order;
  auto append = [&](int node) {
    if (!superseded[node])
      order.push_back(node);
  };
  if (edges.sorted) {
    for (int node = 0; node < nodes.size(); ++node)
      append(node);
    return order;
  }
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (int node = 0; node < nodes.size(); ++node)
    if (!edges.waitsFor[node])
      ready.push(node);
  while (!ready.empty()) {
    int node = ready.top();
    ready.pop();
    append(node);
    for (int reader : edges.readers[node])
      if (--edges.waitsFor[reader] == 0)
        ready.push(reader);
  }
  for (int node = 0; node < nodes.size(); ++node)
    if (edges.waitsFor[node])
      return findCycle(nodes, producers, edges.waitsFor, node);
  return order;
}

} // namespace onnxc
