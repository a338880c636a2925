// Offline placement of intervals in one address range. The optimum is NP-hard;
// in practice "largest first, lowest gap that fits" is within a few percent of
// the peak of live bytes, mostly at it. That plan sets the arena. A second walk
// in program order then tries to stay under this size while reusing the bytes
// that died last, as an allocator with a hot free list would; the first plan
// stands where the second does not fit.
#include "lowering/memory/ArenaPlan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

namespace onnxc {
namespace {

// Above this many buffers only the walk in program order is made: it looks at
// live buffers, the other one at all pairs.
constexpr size_t manyBuffers = 8192;

struct Range {
  uint64_t begin, end;
};

// Bytes and the position at which their last user died.
struct Trace {
  uint64_t begin, end;
  int64_t died;
};

using Indices = llvm::SmallVector<unsigned>;

class Planner {
public:
  Planner(llvm::ArrayRef<Lifetime> lifetimes, uint64_t alignment)
      : lifetimes(lifetimes), alignment(alignment) {
    plan.offsets.resize(lifetimes.size());
  }

  ArenaPlan largestFirst();
  // None where the plan does not fit in `limit` bytes.
  std::optional<ArenaPlan> hottestFirst(uint64_t limit);

private:
  uint64_t size(unsigned index) const {
    return llvm::alignTo(lifetimes[index].bytes, alignment);
  }
  Range place(unsigned index) const {
    return {plan.offsets[index], plan.offsets[index] + size(index)};
  }
  Indices sortedBy(llvm::function_ref<bool(const Lifetime &, const Lifetime &)>
                       isBefore) const;
  // Gaps that hold the buffer, in address order; the last one has no end.
  llvm::SmallVector<Range> gaps(unsigned index, const Indices &placed) const;
  std::optional<uint64_t> hottest(unsigned index, const Indices &live,
                                  uint64_t limit) const;
  double heat(Range range) const;
  void leaveTrace(unsigned index);

  llvm::ArrayRef<Lifetime> lifetimes;
  uint64_t alignment;
  ArenaPlan plan;
  llvm::SmallVector<Trace> traces; // disjoint, in address order
};

Indices Planner::sortedBy(
    llvm::function_ref<bool(const Lifetime &, const Lifetime &)> isBefore)
    const {
  auto indices =
      llvm::to_vector(llvm::seq<unsigned>(0, unsigned(lifetimes.size())));
  llvm::stable_sort(indices, [&](unsigned a, unsigned b) {
    return isBefore(lifetimes[a], lifetimes[b]);
  });
  return Indices(indices);
}

llvm::SmallVector<Range> Planner::gaps(unsigned index,
                                       const Indices &placed) const {
  llvm::SmallVector<Range> taken, result;
  for (unsigned other : placed)
    if (size(other) != 0 && lifetimes[index].meets(lifetimes[other]))
      taken.push_back(place(other));
  llvm::sort(taken, [](Range a, Range b) { return a.begin < b.begin; });
  uint64_t begin = 0;
  for (Range range : taken) {
    if (range.begin >= begin && range.begin - begin >= size(index))
      result.push_back({begin, range.begin});
    begin = std::max(begin, range.end);
  }
  result.push_back({begin, UINT64_MAX});
  return result;
}

ArenaPlan Planner::largestFirst() {
  Indices placed;
  for (unsigned index : sortedBy([](const Lifetime &a, const Lifetime &b) {
         return a.bytes > b.bytes;
       })) {
    plan.offsets[index] = gaps(index, placed).front().begin;
    plan.bytes = std::max(plan.bytes, place(index).end);
    placed.push_back(index);
  }
  return plan;
}

std::optional<ArenaPlan> Planner::hottestFirst(uint64_t limit) {
  Indices live;
  for (unsigned index : sortedBy([](const Lifetime &a, const Lifetime &b) {
         return a.first < b.first;
       })) {
    llvm::erase_if(live, [&](unsigned other) {
      return !lifetimes[index].meets(lifetimes[other]);
    });
    std::optional<uint64_t> offset = hottest(index, live, limit);
    if (!offset)
      return std::nullopt;
    plan.offsets[index] = *offset;
    plan.bytes = std::max(plan.bytes, place(index).end);
    live.push_back(index);
    leaveTrace(index);
  }
  return plan;
}

// A buffer goes where a gap or an old trace begins or ends.
std::optional<uint64_t> Planner::hottest(unsigned index, const Indices &live,
                                         uint64_t limit) const {
  std::optional<uint64_t> best;
  double bestHeat = -1;
  auto consider = [&](Range gap, uint64_t offset) {
    Range range = {offset, offset + size(index)};
    if (range.begin < gap.begin || range.end > std::min(gap.end, limit))
      return;
    double candidate = heat(range);
    if (candidate > bestHeat || (candidate == bestHeat && offset < *best)) {
      best = offset;
      bestHeat = candidate;
    }
  };
  for (Range gap : gaps(index, live)) {
    consider(gap, gap.begin);
    if (gap.end != UINT64_MAX)
      consider(gap, gap.end - size(index));
    for (const Trace &trace : traces) {
      consider(gap, trace.begin);
      if (trace.end >= size(index))
        consider(gap, trace.end - size(index));
    }
  }
  return best;
}

double Planner::heat(Range range) const {
  double heat = 0;
  for (const Trace &trace : traces) {
    uint64_t begin = std::max(range.begin, trace.begin);
    uint64_t end = std::min(range.end, trace.end);
    if (begin < end)
      heat += double(end - begin) * double(trace.died + 1);
  }
  return heat;
}

void Planner::leaveTrace(unsigned index) {
  Range range = place(index);
  if (range.begin == range.end)
    return;
  llvm::SmallVector<Trace> kept;
  for (const Trace &trace : traces) {
    if (trace.begin < std::min(trace.end, range.begin))
      kept.push_back(
          {trace.begin, std::min(trace.end, range.begin), trace.died});
    if (std::max(trace.begin, range.end) < trace.end)
      kept.push_back({std::max(trace.begin, range.end), trace.end, trace.died});
  }
  kept.push_back({range.begin, range.end, lifetimes[index].last});
  llvm::sort(kept,
             [](const Trace &a, const Trace &b) { return a.begin < b.begin; });
  traces = std::move(kept);
}

} // namespace

ArenaPlan planArena(llvm::ArrayRef<Lifetime> lifetimes, uint64_t alignment) {
  if (lifetimes.size() > manyBuffers)
    return *Planner(lifetimes, alignment).hottestFirst(UINT64_MAX);
  ArenaPlan plan = Planner(lifetimes, alignment).largestFirst();
  if (std::optional<ArenaPlan> hot =
          Planner(lifetimes, alignment).hottestFirst(plan.bytes))
    return *hot;
  return plan;
}

uint64_t peakBytes(llvm::ArrayRef<Lifetime> lifetimes, uint64_t alignment) {
  uint64_t peak = 0;
  for (const Lifetime &at : lifetimes) {
    uint64_t live = 0;
    for (const Lifetime &other : lifetimes)
      if (other.first <= at.first && at.first <= other.last)
        live += llvm::alignTo(other.bytes, alignment);
    peak = std::max(peak, live);
  }
  return peak;
}

StackedPlan planStack(llvm::ArrayRef<Lifetime> lifetimes, uint64_t alignment) {
  ArenaPlan plan = planArena(lifetimes, alignment);
  StackedPlan stack;
  stack.order =
      llvm::to_vector(llvm::seq<unsigned>(0, unsigned(lifetimes.size())));
  // At the same place, an empty one lies below.
  llvm::stable_sort(stack.order, [&](unsigned a, unsigned b) {
    return std::pair(plan.offsets[a], lifetimes[a].bytes) <
           std::pair(plan.offsets[b], lifetimes[b].bytes);
  });
  stack.below.resize(lifetimes.size());
  stack.floors.resize(lifetimes.size());
  for (size_t position = 0; position < stack.order.size(); ++position) {
    unsigned index = stack.order[position];
    llvm::SmallVector<unsigned> &below = stack.below[index];
    // What lies below one that is already below needs no mention.
    for (size_t earlier = position; earlier-- > 0;) {
      unsigned other = stack.order[earlier];
      if (lifetimes[index].meets(lifetimes[other]) &&
          llvm::none_of(below, [&](unsigned above) {
            return lifetimes[above].meets(lifetimes[other]);
          }))
        below.push_back(other);
    }
  }
  return stack;
}

} // namespace onnxc
