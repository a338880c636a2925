// A result takes one shuffle less than there are vectors that it reads. Stages
// before make them fewer: in each, pairs of vectors exchange half of their
// lanes, so that a bit of the vector's number and one of the lane's change
// places. Such stages alone turn a square.
#include "lowering/loops/Rearrange.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace onnxc {
namespace {

constexpr int64_t nothing = vector::ShuffleOp::kPoisonIndex;

struct Exchange {
  int64_t lane, vector; // powers of two
};

// The stages, and where the elements come from behind them.
class Plan {
public:
  Plan(int64_t count, int64_t lanes, ArrayRef<int64_t> from)
      : from(from), count(count), lanes(lanes) {
    while (std::optional<Exchange> exchange = bestExchange()) {
      this->from = after(*exchange);
      exchanges.push_back(*exchange);
    }
  }
  int64_t shuffles() {
    return count * int64_t(exchanges.size()) + costOf(from).first;
  }

  SmallVector<Exchange> exchanges;
  SmallVector<int64_t> from;

private:
  // Shuffles, then elements that are in other lanes.
  using Cost = std::pair<int64_t, int64_t>;
  Cost costOf(ArrayRef<int64_t> from);
  SmallVector<int64_t> after(Exchange exchange);
  std::optional<Exchange> bestExchange();

  int64_t count, lanes;
};

Plan::Cost Plan::costOf(ArrayRef<int64_t> from) {
  Cost cost = {0, 0};
  for (; !from.empty(); from = from.drop_front(lanes)) {
    llvm::SmallSetVector<int64_t, 16> sources;
    int64_t moved = 0;
    for (auto [lane, place] : llvm::enumerate(from.take_front(lanes))) {
      sources.insert(place / lanes);
      moved += place % lanes != int64_t(lane);
    }
    cost.first += std::max<int64_t>(sources.size() - 1, moved > 0);
    cost.second += moved;
  }
  return cost;
}

// Where the elements come from once the lanes are exchanged.
SmallVector<int64_t> Plan::after(Exchange exchange) {
  return llvm::map_to_vector(from, [&](int64_t place) {
    int64_t number = place / lanes, lane = place % lanes;
    if (bool(number & exchange.vector) != bool(lane & exchange.lane)) {
      number ^= exchange.vector;
      lane ^= exchange.lane;
    }
    return number * lanes + lane;
  });
}

std::optional<Exchange> Plan::bestExchange() {
  Cost best = costOf(from);
  std::optional<Exchange> found;
  for (int64_t lane = lanes / 2; lane > 0; lane /= 2)
    for (int64_t vector = 1; count % (2 * vector) == 0; vector *= 2) {
      Cost cost = costOf(after({lane, vector}));
      // It pays for itself once, and for the choice among equal ones.
      Cost with = {cost.first + (found ? 0 : count), cost.second};
      if (with >= best)
        continue;
      best = cost;
      found = {lane, vector};
    }
  return found;
}

class Rearranger {
public:
  Rearranger(ImplicitLocOpBuilder &b, ArrayRef<Value> vectors)
      : b(b), vectors(vectors),
        lanes(cast<VectorType>(vectors[0].getType()).getDimSize(0)) {}
  SmallVector<Value> run(ArrayRef<int64_t> from);

private:
  void perform(Exchange exchange);
  Value gathered(ArrayRef<int64_t> from);

  ImplicitLocOpBuilder &b;
  SmallVector<Value> vectors;
  int64_t lanes;
};

void Rearranger::perform(Exchange exchange) {
  SmallVector<int64_t> lower, upper;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    bool isUpper = lane & exchange.lane;
    lower.push_back(isUpper ? lanes + lane - exchange.lane : lane);
    upper.push_back(isUpper ? lanes + lane : lane + exchange.lane);
  }
  for (size_t i = 0; i < vectors.size(); ++i) {
    if (i & exchange.vector)
      continue;
    Value first = vectors[i], second = vectors[i + exchange.vector];
    vectors[i] = vector::ShuffleOp::create(b, first, second, lower);
    vectors[i + exchange.vector] =
        vector::ShuffleOp::create(b, first, second, upper);
  }
}

// One result out of all vectors that it reads.
Value Rearranger::gathered(ArrayRef<int64_t> from) {
  llvm::SmallSetVector<int64_t, 16> sources;
  for (int64_t place : from)
    sources.insert(place / lanes);
  Value sum = vectors[sources[0]];
  SmallVector<int64_t> order;
  for (int64_t place : from)
    order.push_back(place / lanes == sources[0] ? place % lanes : nothing);
  if (sources.size() == 1)
    return llvm::equal(order, llvm::seq<int64_t>(lanes))
               ? sum
               : vector::ShuffleOp::create(b, sum, sum, order).getResult();
  for (int64_t source : ArrayRef(sources.getArrayRef()).drop_front()) {
    for (auto [lane, place] : llvm::enumerate(from))
      if (place / lanes == source)
        order[lane] = lanes + place % lanes;
    sum = vector::ShuffleOp::create(b, sum, vectors[source], order);
    for (auto [lane, place] : llvm::enumerate(order))
      if (place != nothing)
        place = lane;
  }
  return sum;
}

SmallVector<Value> Rearranger::run(ArrayRef<int64_t> from) {
  Plan plan(vectors.size(), lanes, from);
  for (Exchange exchange : plan.exchanges)
    perform(exchange);
  SmallVector<Value> results;
  for (ArrayRef<int64_t> rest = plan.from; !rest.empty();
       rest = rest.drop_front(lanes))
    results.push_back(gathered(rest.take_front(lanes)));
  return results;
}

} // namespace

SmallVector<Value> rearranged(ImplicitLocOpBuilder &b, ArrayRef<Value> vectors,
                              ArrayRef<int64_t> from) {
  return Rearranger(b, vectors).run(from);
}

int64_t shufflesToRearrange(int64_t vectors, int64_t lanes,
                            ArrayRef<int64_t> from) {
  return Plan(vectors, lanes, from).shuffles();
}

SmallVector<Value> transposed(ImplicitLocOpBuilder &b, ArrayRef<Value> rows) {
  int64_t lanes = rows.size();
  SmallVector<int64_t> from;
  for (int64_t i = 0; i < lanes; ++i)
    for (int64_t j = 0; j < lanes; ++j)
      from.push_back(j * lanes + i);
  return rearranged(b, rows, from);
}

} // namespace onnxc
