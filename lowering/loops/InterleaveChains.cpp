// A core looks some tens of operations ahead. An exponential is twenty of them,
// each of which waits for the one before: of several that are written one
// behind the other, two or three are under way at a time, and the units that
// multiply stay idle. Written side by side, all of them are. Where registers
// are few, a constant or two wait on the stack, which is to be aligned: the
// speed of what crosses two cache lines would depend on the caller.
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Passes.h"
#include "lowering/loops/Chains.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_INTERLEAVECHAINS
#include "lowering/Passes.h.inc"

namespace {

// Operations that wait for each other, at least, where it pays.
constexpr unsigned longChain = 12;

bool isMovable(Operation &op) {
  return op.getNumRegions() == 0 && !op.hasTrait<OpTrait::IsTerminator>() &&
         (isMemoryEffectFree(&op) || hasSingleEffect<MemoryEffects::Read>(&op));
}

// What one value takes and none before it does, in order.
struct Chain {
  SmallVector<Operation *> ops;
  bool isLong;
};

// Operations that follow each other and write nothing.
class Segment {
public:
  explicit Segment(ArrayRef<Operation *> ops) : ops(ops) {
    for (auto [i, op] : llvm::enumerate(ops))
      places[op] = i;
    for (Operation *op : llvm::reverse(ops)) {
      unsigned height = 0;
      for (Operation *user : op->getUsers())
        if (places.contains(user))
          height = std::max(height, heights.lookup(user) + 1);
      heights[op] = height;
    }
  }

  // Whether there was something to do.
  bool interleave(size_t width);

private:
  bool isResult(Operation *op) const {
    return op->use_empty() || llvm::any_of(op->getUsers(), [&](Operation *u) {
             return !places.contains(u);
           });
  }
  Chain chainTo(Operation *result);
  bool isBehind(const Chain &chain, const Chain &before) const;

  ArrayRef<Operation *> ops;
  DenseMap<Operation *, unsigned> places;
  DenseMap<Operation *, unsigned> heights; // operations that wait for one
  DenseSet<Operation *> taken;
};

Chain Segment::chainTo(Operation *result) {
  Chain chain;
  SmallVector<Operation *> open = {result};
  taken.insert(result);
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    chain.ops.push_back(op);
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp();
          maker && places.contains(maker) && taken.insert(maker).second)
        open.push_back(maker);
  }
  llvm::sort(chain.ops, [&](Operation *a, Operation *b) {
    return places.lookup(a) < places.lookup(b);
  });
  unsigned highest = 0;
  for (Operation *op : chain.ops)
    highest = std::max(highest, heights.lookup(op));
  chain.isLong =
      highest - heights.lookup(result) + 1 >= longChain &&
      llvm::any_of(result->getResultTypes(), llvm::IsaPred<VectorType>);
  return chain;
}

// Sums that take turns are side by side already.
bool Segment::isBehind(const Chain &chain, const Chain &before) const {
  unsigned end = places.lookup(before.ops.back());
  size_t early = llvm::count_if(
      chain.ops, [&](Operation *op) { return places.lookup(op) < end; });
  return 2 * early < chain.ops.size();
}

bool Segment::interleave(size_t width) {
  SmallVector<Operation *> order;
  size_t first = 0, count = 0; // of `order`, and chains behind that
  bool isAny = false;
  Chain last{{}, false};
  auto close = [&] {
    if (count > 1)
      llvm::stable_sort(MutableArrayRef(order).drop_front(first),
                        [&](Operation *a, Operation *b) {
                          return heights.lookup(a) > heights.lookup(b);
                        });
    isAny |= count > 1;
    first = order.size();
    count = 0;
  };
  for (Operation *op : ops) {
    if (!isResult(op) || taken.contains(op))
      continue;
    Chain chain = chainTo(op);
    bool joins = count > 0 && count < width && chain.isLong && last.isLong &&
                 isBehind(chain, last);
    if (!joins)
      close();
    llvm::append_range(order, chain.ops);
    ++count;
    last = std::move(chain);
  }
  close();
  Operation *end = ops.back()->getNextNode();
  if (isAny)
    for (Operation *op : order)
      op->moveBefore(end);
  return isAny;
}

void alignStack(func::FuncOp function) {
  constexpr StringLiteral through = "passthrough";
  Builder b(function.getContext());
  SmallVector<Attribute> all;
  if (auto others = function->getAttrOfType<ArrayAttr>(through))
    llvm::append_range(all, others);
  all.push_back(b.getStringAttr("stackrealign"));
  function->setAttr(through, b.getArrayAttr(all));
}

std::vector<SmallVector<Operation *>> segmentsOf(Block &block) {
  std::vector<SmallVector<Operation *>> segments(1);
  for (Operation &op : block)
    if (isMovable(op))
      segments.back().push_back(&op);
    else if (!segments.back().empty())
      segments.emplace_back();
  return segments;
}

struct InterleaveChains : impl::InterleaveChainsBase<InterleaveChains> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    if (!target || target.getVectorBits() == 0)
      return;
    size_t width = chainsSideBySide(target);
    getOperation().walk([&](func::FuncOp function) {
      bool isAny = false;
      function.walk([&](Block *block) {
        for (ArrayRef<Operation *> ops : segmentsOf(*block))
          if (ops.size() >= 2 * longChain)
            isAny |= Segment(ops).interleave(width);
      });
      if (isAny)
        alignStack(function);
    });
  }
};

} // namespace
} // namespace onnxc
