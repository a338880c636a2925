// Orders of steps, from what they touch alone.
#include "lowering/memory/RunOrder.h"
#include <catch2/catch.hpp>
#include <algorithm>
#include <random>

using namespace onnxc;

namespace {

// Branches of two steps, a large result and a small one, listed one after the
// other or layer by layer.
RunGraph branches(unsigned count, bool byLayer) {
  RunGraph graph;
  graph.steps.resize(2 * count + 1);
  for (unsigned i = 0; i < count; ++i) {
    unsigned first = byLayer ? i : 2 * i;
    unsigned second = byLayer ? count + i : 2 * i + 1;
    graph.steps[first].writes = {2 * i};
    graph.steps[second] = {
        .after = {first}, .writes = {2 * i + 1}, .reads = {2 * i}};
    graph.steps.back().after.push_back(second);
    graph.steps.back().reads.push_back(2 * i + 1);
    graph.bufferBytes.insert(graph.bufferBytes.end(), {1000, 10});
  }
  return graph;
}

RunGraph randomGraph(unsigned seed) {
  std::mt19937 random(seed);
  RunGraph graph;
  graph.steps.resize(60);
  for (unsigned i = 0; i < 60; ++i) {
    Step &step = graph.steps[i];
    step.isSoon = random() % 8 == 0;
    step.bytes = random() % 4 ? 0 : random() % 2000;
    step.writes = {i};
    graph.bufferBytes.push_back(random() % 1000);
    for (unsigned earlier = i > 10 ? i - 10 : 0; earlier < i; ++earlier)
      if (random() % 5 == 0 || i == 59) {
        step.after.push_back(earlier);
        step.reads.push_back(earlier);
      }
  }
  for (unsigned i = 0; i < 49; ++i)
    graph.steps.back().after.push_back(i);
  std::sort(graph.steps.back().after.begin(), graph.steps.back().after.end());
  return graph;
}

void requireRuns(const RunGraph &graph, llvm::ArrayRef<unsigned> order) {
  std::vector<int> places(graph.steps.size(), -1);
  REQUIRE(order.size() == places.size());
  for (size_t place = 0; place < order.size(); ++place)
    places[order[place]] = int(place);
  for (size_t i = 0; i < places.size(); ++i) {
    REQUIRE(places[i] >= 0);
    for (unsigned earlier : graph.steps[i].after)
      REQUIRE(places[earlier] < places[i]);
  }
  REQUIRE(order.back() == places.size() - 1);
}

} // namespace

TEST_CASE("A branch ends before the next one begins") {
  RunGraph byLayer = branches(6, true), byBranch = branches(6, false);
  uint64_t least = peakBytes(byBranch, givenOrder(byBranch));
  CHECK(least == 1000 + 6 * 10);
  CHECK(peakBytes(byLayer, givenOrder(byLayer)) == 6 * 1000 + 10);
  CHECK(peakBytes(byLayer, orderFromEnd(byLayer)) == least);
  CHECK(peakBytes(byLayer, orderByGrowth(byLayer)) == least);
}

TEST_CASE("What a step takes for itself is no memory behind it") {
  RunGraph graph;
  graph.bufferBytes = {10, 20};
  graph.steps = {{.writes = {0}, .bytes = 500},
                 {.writes = {1}, .bytes = 600},
                 {.after = {0, 1}, .reads = {0, 1}}};
  CHECK(peakBytes(graph, givenOrder(graph)) == 10 + 20 + 600);
  CHECK(peakBytes(graph, orderFromEnd(graph)) == 20 + 600);
  CHECK(orderByGrowth(graph) == givenOrder(graph));
}

TEST_CASE("Every order runs a step behind those that it needs") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    RunGraph graph = randomGraph(seed);
    requireRuns(graph, givenOrder(graph));
    requireRuns(graph, orderFromEnd(graph));
    requireRuns(graph, orderByGrowth(graph));
  }
}
