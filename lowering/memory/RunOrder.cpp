// The least memory in which a graph can run is NP-hard to find. For trees, it
// is known: the operand that takes most beside what it leaves comes first
// (Sethi and Ullman). Graphs are no trees, so there is a second order, which
// looks at what is live and not at what is to come. Which one is better is for
// the caller to see.
#include "lowering/memory/RunOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <queue>
#include <tuple>

namespace onnxc {
namespace {

using Buffers = llvm::SmallVector<unsigned>;

Buffers touchedBy(const Step &step) {
  Buffers buffers = step.writes;
  buffers.append(step.reads);
  return buffers;
}

// Which buffers are live after some of the steps.
class Liveness {
public:
  explicit Liveness(const RunGraph &graph)
      : graph(graph), left(graph.bufferBytes.size()),
        begun(graph.bufferBytes.size()) {
    for (const Step &step : graph.steps)
      for (unsigned buffer : touchedBy(step))
        ++left[buffer];
  }

  // The bytes that live from this step on, and those that live no longer.
  uint64_t begunBy(const Step &step) const {
    uint64_t bytes = 0;
    for (unsigned buffer : touchedBy(step))
      bytes += begun[buffer] ? 0 : graph.bufferBytes[buffer];
    return bytes;
  }
  uint64_t endedBy(const Step &step) const {
    uint64_t bytes = 0;
    for (unsigned buffer : touchedBy(step))
      bytes += left[buffer] == 1 ? graph.bufferBytes[buffer] : 0;
    return bytes;
  }
  int64_t growth(const Step &step) const {
    return int64_t(begunBy(step)) - int64_t(endedBy(step));
  }

  // Returns the buffers with another growth for the steps that are left.
  Buffers run(const Step &step) {
    Buffers changed;
    for (unsigned buffer : touchedBy(step)) {
      if (!begun[buffer] || left[buffer] == 2)
        changed.push_back(buffer);
      begun[buffer] = true;
      --left[buffer];
    }
    return changed;
  }

private:
  const RunGraph &graph;
  std::vector<unsigned> left;
  std::vector<bool> begun;
};

// An order in the making.
class Sequence {
public:
  explicit Sequence(const RunGraph &graph)
      : graph(graph), waits(graph.steps.size()), next(graph.steps.size()),
        places(graph.steps.size(), -1) {
    for (auto [index, step] : llvm::enumerate(graph.steps)) {
      waits[index] = step.after.size();
      for (unsigned earlier : step.after)
        next[earlier].push_back(index);
      if (step.after.empty())
        (step.isSoon ? first : unbound).push_back(index);
    }
  }

  bool has(unsigned step) const { return places[step] >= 0; }
  bool isReady(unsigned step) const { return !has(step) && !waits[step]; }
  int64_t placeOf(unsigned step) const { return places[step]; }
  llvm::ArrayRef<unsigned> all() const { return order; }

  // Returns the steps that wait for nothing.
  RunOrder begin() {
    RunOrder ready = unbound;
    ready.append(run(first));
    return ready;
  }
  // Returns the steps that now wait for nothing; what runs as soon as it can
  // has followed.
  RunOrder append(unsigned step) { return run({step}); }

private:
  RunOrder run(RunOrder now) {
    RunOrder ready;
    for (size_t i = 0; i < now.size(); ++i) {
      places[now[i]] = order.size();
      order.push_back(now[i]);
      for (unsigned follower : next[now[i]])
        if (--waits[follower] == 0)
          (graph.steps[follower].isSoon ? now : ready).push_back(follower);
    }
    return ready;
  }

  const RunGraph &graph;
  RunOrder order, first, unbound;
  std::vector<size_t> waits;
  std::vector<RunOrder> next;
  std::vector<int64_t> places;
};

// What it takes to come to a step from nothing, and what is left behind it.
struct Cost {
  uint64_t peak = 0, rest = 0;
};

// Puts the steps in the order in which to come to them.
Cost sortByCost(RunOrder &steps, llvm::ArrayRef<Cost> costs) {
  llvm::stable_sort(steps, [&](unsigned a, unsigned b) {
    return costs[a].peak - costs[a].rest > costs[b].peak - costs[b].rest;
  });
  Cost all;
  for (unsigned step : steps) {
    all.peak = std::max(all.peak, all.rest + costs[step].peak);
    all.rest += costs[step].rest;
  }
  return all;
}

// For every step, those in front of it in the order in which to come to them.
// What several steps read counts for each of them.
std::vector<RunOrder> operandOrders(const RunGraph &graph) {
  std::vector<Cost> costs;
  std::vector<RunOrder> orders;
  for (const Step &step : graph.steps) {
    Cost before = sortByCost(orders.emplace_back(step.after), costs), cost;
    for (unsigned buffer : step.writes)
      cost.rest += graph.bufferBytes[buffer];
    cost.peak = std::max(before.peak, before.rest + cost.rest + step.bytes);
    costs.push_back(cost);
  }
  return orders;
}

class OrderByGrowth {
public:
  explicit OrderByGrowth(const RunGraph &graph)
      : graph(graph), liveness(graph), sequence(graph),
        users(graph.bufferBytes.size()) {
    for (auto [index, step] : llvm::enumerate(graph.steps))
      for (unsigned buffer : touchedBy(step))
        users[buffer].push_back(index);
  }

  RunOrder run() {
    settle(sequence.begin());
    while (!candidates.empty()) {
      Candidate best = candidates.top();
      candidates.pop();
      if (!sequence.has(best.step)) // else it has become better since
        settle(sequence.append(best.step));
    }
    return RunOrder(sequence.all());
  }

private:
  struct Candidate {
    int64_t growth, read; // the place of what it reads
    unsigned step;

    bool operator<(const Candidate &other) const {
      return std::tuple(-growth, read, -int64_t(step)) <
             std::tuple(-other.growth, other.read, -int64_t(other.step));
    }
  };

  // Brings the candidates to where the sequence is.
  void settle(RunOrder ready) {
    for (; settled < sequence.all().size(); ++settled)
      for (unsigned buffer : liveness.run(graph.steps[sequence.all()[settled]]))
        for (unsigned user : users[buffer])
          if (sequence.isReady(user))
            ready.push_back(user);
    for (unsigned step : ready)
      offer(step);
  }

  void offer(unsigned step) {
    int64_t read = -1;
    for (unsigned earlier : graph.steps[step].after)
      read = std::max(read, sequence.placeOf(earlier));
    candidates.push({liveness.growth(graph.steps[step]), read, step});
  }

  const RunGraph &graph;
  Liveness liveness;
  Sequence sequence;
  std::vector<RunOrder> users;
  std::priority_queue<Candidate> candidates;
  size_t settled = 0;
};

} // namespace

uint64_t peakBytes(const RunGraph &graph, llvm::ArrayRef<unsigned> order) {
  Liveness liveness(graph);
  uint64_t peak = 0, live = 0;
  for (unsigned index : order) {
    const Step &step = graph.steps[index];
    live += liveness.begunBy(step);
    peak = std::max(peak, live + step.bytes);
    live -= liveness.endedBy(step);
    liveness.run(step);
  }
  return peak;
}

llvm::SmallVector<Lifetime> lifetimesOf(const RunGraph &graph,
                                        llvm::ArrayRef<unsigned> order) {
  llvm::SmallVector<Lifetime> buffers, lifetimes;
  for (uint64_t bytes : graph.bufferBytes)
    buffers.push_back({int64_t(order.size()), -1, bytes});
  for (auto [index, number] : llvm::enumerate(order)) {
    const Step &step = graph.steps[number];
    int64_t place = index;
    for (unsigned buffer : touchedBy(step)) {
      buffers[buffer].first = std::min(buffers[buffer].first, place);
      buffers[buffer].last = place;
    }
    if (step.bytes)
      lifetimes.push_back({place, place, step.bytes});
  }
  for (const Lifetime &buffer : buffers)
    if (buffer.bytes && buffer.last >= 0)
      lifetimes.push_back(buffer);
  return lifetimes;
}

RunOrder givenOrder(const RunGraph &graph) {
  return llvm::to_vector_of<unsigned, 12>(
      llvm::seq<unsigned>(0, graph.steps.size()));
}

RunOrder orderFromEnd(const RunGraph &graph) {
  std::vector<RunOrder> operands = operandOrders(graph);
  Sequence sequence(graph);
  sequence.begin();
  struct Visit {
    unsigned step;
    size_t operand = 0;
  };
  llvm::SmallVector<Visit> path = {{unsigned(graph.steps.size()) - 1}};
  while (!path.empty()) {
    Visit &visit = path.back();
    if (sequence.has(visit.step)) {
      path.pop_back();
    } else if (visit.operand < operands[visit.step].size()) {
      path.push_back({operands[visit.step][visit.operand++]});
    } else {
      sequence.append(visit.step);
      path.pop_back();
    }
  }
  return RunOrder(sequence.all());
}

RunOrder orderByGrowth(const RunGraph &graph) {
  return OrderByGrowth(graph).run();
}

} // namespace onnxc
