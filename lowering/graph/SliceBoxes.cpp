// Exporters write x[:, 1:, 1:] += y as a scatter: a tensor of indices, made of
// ranges, names every element of the box. Read as ranges again it is a slice,
// and neither are the indices made nor is each of them looked up.
#include "dialects/onnx/Families.h"
#include "dialects/onnx/Graph.h"
#include "dialects/onnx/Sizes.h"
#include "lowering/Passes.h"
#include "lowering/graph/LinearElements.h"
#include "llvm/ADT/TypeSwitch.h"

namespace onnxc {
#define GEN_PASS_DEF_SLICEBOXES
#include "lowering/Passes.h.inc"

using namespace mlir;

namespace {

// What is named along a dimension of the data: start, start + step, ..., as
// often as dimension `from` of the indices is long; start only where there is
// none.
struct Side {
  int64_t start = 0, step = 1;
  std::optional<int64_t> from;
};

// The elements of dimensions `first` and following, each once.
struct Box {
  Value data, indices;
  int64_t first = 0;
  SmallVector<Side> sides;

  Index size(const Side &side) const {
    return side.from ? namedSizes(indices)[*side.from] : Index(1);
  }
  bool isWhole(int64_t i) const {
    return sides[i].start == 0 && sides[i].step == 1 &&
           surelyEqual(size(sides[i]), namedSizes(data)[first + i]);
  }
  bool isWhole() const {
    return llvm::all_of(range(0, sides.size()),
                        [&](int64_t i) { return isWhole(i); });
  }
};

// The side that a linear form of the indices' positions is; nothing where it
// is none, or not surely one inside the data.
std::optional<Side> sideOf(const Linear &linear, ArrayRef<Index> dims,
                           Index dataSize) {
  if (!linear.start.number)
    return std::nullopt;
  Side side;
  side.start = *linear.start.number;
  Index count = 1;
  for (auto [i, slope] : llvm::enumerate(linear.slopes)) {
    if (slope == 0)
      continue;
    if (side.from || slope < 0)
      return std::nullopt;
    side.from = i;
    side.step = slope;
    count = dims[i];
  }
  if (side.start == 0 && side.step == 1 && surelyEqual(count, dataSize))
    return side;
  if (!count.number || !dataSize.number || *count.number <= 0)
    return std::nullopt;
  __int128 last = side.start + __int128(side.step) * (*count.number - 1);
  if (side.start < 0 && last < 0) {
    side.start += *dataSize.number;
    last += *dataSize.number;
  }
  bool isInside = side.start >= 0 && last < *dataSize.number;
  return isInside ? std::optional<Side>(side) : std::nullopt;
}

// The box that `indices` name, `count` dimensions of the data from `first` on.
// The indices' first `batch` dimensions are the data's; the last one counts the
// dimensions where `isNested` says so.
struct Naming {
  Value data, indices;
  int64_t first, count, batch;
  bool isNested;
};
std::optional<Box> boxOf(const Naming &naming) {
  Sizes dims = namedSizes(naming.indices), sizes = namedSizes(naming.data);
  if (naming.isNested)
    dims.pop_back();
  Box box = {naming.data, naming.indices, naming.first, {}};
  SmallVector<bool> isUsed(dims.size());
  for (int64_t i = 0; i < naming.batch; ++i) {
    isUsed[i] = true;
    if (!surelyEqual(dims[i], sizes[i]))
      return std::nullopt;
  }
  for (int64_t i = 0; i < naming.count; ++i) {
    auto linear = linearElements(
        naming.indices, naming.isNested ? std::optional(i) : std::nullopt);
    auto side =
        linear ? sideOf(*linear, dims, sizes[naming.first + i]) : std::nullopt;
    if (!side || (side->from && std::exchange(isUsed[*side->from], true)))
      return std::nullopt;
    box.sides.push_back(*side);
  }
  // A dimension of one element is as good as none. One that names the same
  // elements again and again is no box.
  for (auto [i, dim] : llvm::enumerate(dims)) {
    auto *free = llvm::find_if(box.sides, [](Side s) { return !s.from; });
    if (!isUsed[i] && dim.is(1) && free != box.sides.end())
      free->from = i;
    else if (!isUsed[i] && !dim.is(1))
      return std::nullopt;
  }
  return box;
}

//===-- Between the order of the indices and that of the data -------------===//

// The dimensions of the indices behind their `batch` first ones, as they lie in
// an update, and those of the box, as they lie in a slice of the data.
struct Order {
  SmallVector<int64_t> named, added; // in the data: by the indices, or one long
  SmallVector<int64_t> dropped;      // of the indices: one long

  Order(const Box &box, int64_t batch, int64_t outer) {
    for (auto [i, side] : llvm::enumerate(box.sides))
      if (side.from)
        named.push_back(*side.from);
      else
        added.push_back(box.first + i);
    for (int64_t i = batch; i < outer; ++i)
      if (!llvm::is_contained(named, i))
        dropped.push_back(box.first - batch + i);
  }

  // Where each of the named dimensions is when they are in the indices' order,
  // as a permutation of a tensor with `first` dimensions before.
  SmallVector<int64_t> permutation(int64_t first, int64_t rank) const {
    SmallVector<int64_t> order = range(0, rank);
    for (auto [i, dim] : llvm::enumerate(named))
      order[first + i] = first + llvm::count_if(named, [&](int64_t other) {
                           return other < dim;
                         });
    return order;
  }
};

Node squeezed(Node x, ArrayRef<int64_t> axes) {
  return axes.empty() ? x : squeeze(x, axes);
}
Node unsqueezed(Node x, ArrayRef<int64_t> axes) {
  return axes.empty() ? x : unsqueeze(x, axes);
}
Node ordered(Node x, ArrayRef<int64_t> permutation) {
  return llvm::is_sorted(permutation) ? x : transpose(x, permutation);
}

// An update of the box as a slice of the data.
Node asSlice(Node update, const Box &box, const Order &order) {
  update = squeezed(update, order.dropped);
  update = ordered(update, order.permutation(box.first, rankOf(update)));
  return unsqueezed(update, order.added);
}

// The other way round.
Node asGathered(Node slice, const Box &box, const Order &order) {
  slice = squeezed(slice, order.added);
  SmallVector<int64_t> there = order.permutation(box.first, rankOf(slice)),
                       back(there.size());
  for (auto [i, dim] : llvm::enumerate(there))
    back[dim] = i;
  return unsqueezed(ordered(slice, back), order.dropped);
}

//===-- Rewriting ---------------------------------------------------------===//

Node sliced(Node data, const Box &box) {
  SmallVector<int64_t> axes, starts, ends, steps;
  for (auto [i, side] : llvm::enumerate(box.sides)) {
    if (box.isWhole(i))
      continue;
    axes.push_back(box.first + i);
    starts.push_back(side.start);
    ends.push_back(side.start + side.step * (box.size(side).get() - 1) + 1);
    steps.push_back(side.step);
  }
  Graph &graph = *data.graph;
  return axes.empty() ? data
                      : op<SliceOp>({data, graph.ints(starts), graph.ints(ends),
                                     graph.ints(axes), graph.ints(steps)});
}

Node written(Node data, Node part, const Box &box) {
  SmallVector<int64_t> starts(rankOf(data), 0), steps(rankOf(data), 1);
  for (auto [i, side] : llvm::enumerate(box.sides)) {
    starts[i] = side.start;
    steps[i] = side.step;
  }
  return op<WriteSliceOp>({data, part}, {{"starts", starts}, {"steps", steps}});
}

Node reduced(StringRef reduction, Node old, Node update) {
  if (reduction == "add")
    return old + update;
  if (reduction == "mul")
    return old * update;
  if (reduction == "max")
    return op<MaxOp>({old, update});
  return op<MinOp>({old, update});
}

// That the updates are as large as what the indices name.
bool fits(ScatterNDOp op, int64_t depth) {
  Sizes updates = namedSizes(op.getUpdates()),
        wanted = namedSizes(op.getIndices());
  wanted.pop_back();
  llvm::append_range(wanted,
                     ArrayRef(namedSizes(op.getData())).drop_front(depth));
  return wanted.size() == updates.size() &&
         llvm::all_of(llvm::zip_equal(wanted, updates), [](auto pair) {
           return surelyEqual(std::get<0>(pair), std::get<1>(pair));
         });
}

Value rewritten(ScatterNDOp op) {
  Sizes indices = namedSizes(op.getIndices());
  int64_t outer = indices.size() - 1;
  bool isTruth = getElementTypeOrSelf(op.getType()).isInteger(1);
  StringRef reduction = op.getReduction();
  if (!indices.back().number || !fits(op, *indices.back().number) ||
      (isTruth && reduction != "none"))
    return {};
  auto box = boxOf({op.getData(), op.getIndices(), 0, *indices.back().number,
                    /*batch=*/0, /*isNested=*/true});
  if (!box)
    return {};
  OpBuilder builder(op);
  Graph graph(builder, op.getLoc());
  Node data(graph, op.getData()), update(graph, op.getUpdates());
  update = asSlice(update, *box, Order(*box, 0, outer));
  if (reduction != "none")
    update = reduced(reduction, sliced(data, *box), update);
  if (!box->isWhole() || update.value.getType() != op.getType())
    update = written(data, update, *box);
  return graph.failed ? Value() : update.value;
}

Value gathered(Operation *op, const Naming &naming) {
  auto box = boxOf(naming);
  if (!box || llvm::none_of(box->sides, [](Side side) { return side.from; }))
    return {};
  int64_t outer = rankOf(naming.indices) - (naming.isNested ? 1 : 0);
  OpBuilder builder(op);
  Graph graph(builder, op->getLoc());
  Node slice = sliced({graph, naming.data}, *box);
  Value result =
      asGathered(slice, *box, Order(*box, naming.batch, outer)).value;
  return graph.failed ? Value() : result;
}

Value rewritten(GatherNDOp op) {
  Index depth = namedSizes(op.getIndices()).back();
  int64_t batch = op.getBatchDims();
  if (!depth.number)
    return {};
  return gathered(op, {op.getData(), op.getIndices(), batch, *depth.number,
                       batch, /*isNested=*/true});
}

// Lists of sizes are followed through a Gather as well as through a Slice.
Value rewritten(GatherOp op) {
  int64_t rank = rankOf(op.getData());
  if (rank == 1 && getElementTypeOrSelf(op.getType()).isInteger())
    return {};
  return gathered(op, {op.getData(), op.getIndices(), wrap(op.getAxis(), rank),
                       /*count=*/1, /*batch=*/0, /*isNested=*/false});
}

template <typename Op> void rewrite(Op op) {
  if (!llvm::all_of(op->getOperands(), isRanked))
    return;
  Value result = rewritten(op);
  if (!result)
    return;
  if (result.getType() != op.getType())
    result.setType(op.getType()); // its users expect no other
  op.getResult().replaceAllUsesWith(result);
  op.erase();
}

struct SliceBoxes : impl::SliceBoxesBase<SliceBoxes> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op).Case<ScatterNDOp, GatherNDOp, GatherOp>(
          [](auto named) { rewrite(named); });
    });
  }
};

} // namespace
} // namespace onnxc
