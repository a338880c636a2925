#include "dialects/onnxc/Onnxc.h"
#include "lowering/Missed.h"
#include "lowering/Passes.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/BehindViews.h"
#include "lowering/loops/EmitContraction.h"
#include "lowering/loops/EmitRows.h"
#include "lowering/loops/RowGroup.h"
#include "lowering/loops/RowOperations.h"
#include "lowering/loops/RowPanels.h"
#include "lowering/loops/RowProducts.h"
#include "lowering/loops/RowTiles.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_FORMROWKERNELS
#include "lowering/Passes.h.inc"

namespace {

// Products of fewer rows read their other operand too often.
constexpr int64_t leastTile = 4;

using Group = RowGroup;

// Null where `op` can walk the rows of the group, and reads all operands that
// the group makes row by row.
const char *whyApart(linalg::GenericOp op, const Group &group) {
  if (group.ops.size() >= mostRowOperations)
    return "the kernel has very many operations";
  if (!op.hasPureTensorSemantics() || readsNothing(op) || !startsAnew(op))
    return "it goes on with what a tensor holds";
  if (readsTensors(op))
    return "it looks up elements of a tensor by itself";
  if (isContraction(op))
    return "it is a contraction without a kernel";
  if (!hasOuterLoops(op, group.outer))
    return "it does not walk the same rows";
  if (!hasDenseRows(op, group.outer))
    return "the elements of a row do not lie side by side";
  bool isByRowsOnly = llvm::all_of(op->getOpOperands(), [&](OpOperand &read) {
    return !group.ops.contains(read.get().getDefiningOp()) ||
           isByRows(op.getMatchingIndexingMap(&read), group.outer.size());
  });
  return isByRowsOnly ? nullptr : "it reads elements of other rows";
}

using Loops = FailureOr<SmallVector<unsigned>>;

bool isSame(const Loops &a, const Loops &b) {
  return succeeded(a) && succeeded(b) && *a == *b;
}

bool readsByRows(Operation *consumer, Value value, unsigned outer) {
  if (auto product = dyn_cast<KernelOp>(consumer)) {
    // A row becomes the row of the same place, not one of other dimensions.
    auto made = outerLoops(outputOf(product), outer);
    return llvm::all_of(product->getOpOperands(), [&](OpOperand &operand) {
      return operand.get() != value ||
             isSame(outerLoops(inputOf(product, operand), outer), made);
    });
  }
  auto generic = cast<linalg::GenericOp>(consumer);
  return llvm::all_of(generic->getOpOperands(), [&](OpOperand &operand) {
    return operand.get() != value ||
           isByRows(generic.getMatchingIndexingMap(&operand), outer);
  });
}

// Whether `op` needs the group by way of an operation outside of it.
bool needsThroughOutside(Operation *op, const Group &group,
                         DenseSet<Operation *> &seen, bool isOutside) {
  bool needs = false;
  auto look = [&](Value operand) {
    Operation *def = operand.getDefiningOp();
    Operation *first = group.ops.front();
    if (!def || def->getBlock() != first->getBlock() ||
        def->isBeforeInBlock(first))
      return;
    if (group.ops.contains(def))
      needs |= isOutside;
    else if (seen.insert(def).second)
      needs |= needsThroughOutside(def, group, seen, true);
  };
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      look(operand);
  });
  return needs;
}

// Whether the group has the rows that `op` folds at hand.
bool foldsRowsOf(linalg::GenericOp op, const Group &group) {
  return llvm::all_of(op.getDpsInputs(), [&](Value input) {
    return llvm::any_of(input.getUsers(), [&](Operation *user) {
      return group.ops.contains(user) &&
             readsByRows(user, input, group.outer.size());
    });
  });
}

// Null where what makes `value`, for the group, becomes a part of it.
const char *whyOutside(linalg::GenericOp producer, Value value,
                       const Group &group) {
  if (const char *reason = whyApart(producer, group))
    return reason;
  if (producer.getNumReductionLoops() && !foldsRowsOf(producer, group))
    return "the kernel does not read the rows that it folds";
  bool isInner = llvm::all_of(producer->getUsers(), [&](Operation *user) {
    return group.ops.contains(user) &&
           readsByRows(user, value, group.outer.size());
  });
  if (!isInner)
    return "others read its result, too";
  return rowBytes(value, group.outer.size()) > mostRowBytes
             ? "the stack does not hold its rows"
             : nullptr;
}

void addProducers(Group &group) {
  for (unsigned i = 0; i < group.ops.size(); ++i)
    for (Value operand : group.ops[i]->getOperands()) {
      auto producer = operand.getDefiningOp<linalg::GenericOp>();
      if (!producer || group.ops.contains(producer) ||
          producer->getBlock() != group.ops.front()->getBlock())
        continue;
      if (const char *reason = whyOutside(producer, operand, group))
        missed(producer, "form-row-kernels", group.ops[i]) << reason;
      else
        group.ops.insert(producer);
    }
}

void addConsumers(Group &group) {
  bool grows = true;
  while (grows) {
    grows = false;
    SmallVector<OpOperand *> uses;
    for (Operation *op : group.ops)
      for (OpOperand &use : op->getUses())
        uses.push_back(&use);
    for (OpOperand *use : uses) {
      auto user = dyn_cast<linalg::GenericOp>(use->getOwner());
      if (!user || group.ops.contains(user) ||
          user->getBlock() != group.ops.front()->getBlock())
        continue;
      DenseSet<Operation *> seen;
      const char *reason = whyApart(user, group);
      if (!reason && needsThroughOutside(user, group, seen, false))
        reason = "it waits for what is no part of the kernel";
      if (reason) {
        missed(use->get().getDefiningOp(), "form-row-kernels", user) << reason;
        continue;
      }
      group.ops.insert(user);
      grows = true;
    }
  }
}

// Bytes of the product's operands that all rows read; what is of unknown size
// counts as one element.
uint64_t sharedBytes(const ProductAccess &access, unsigned rows,
                     ArrayRef<unsigned> loops) {
  linalg::GenericOp root = access.root;
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  uint64_t most = 0;
  for (OpOperand *input : root.getDpsInputOperands()) {
    AffineMap map = root.getMatchingIndexingMap(input);
    if (map.isFunctionOfDim(rows))
      continue;
    uint64_t bits = getElementTypeOrSelf(input->get()).getIntOrFloatBitWidth();
    for (unsigned loop = 0; loop < extents.size(); ++loop)
      if (map.isFunctionOfDim(loop) && !llvm::is_contained(loops, loop))
        bits = llvm::SaturatingMultiply<uint64_t>(
            bits, ShapedType::isDynamic(extents[loop]) ? 1 : extents[loop]);
    most = std::max(most, bits / 8);
  }
  return most;
}

// Whether windows slide in the kernel: what lies at a border is told from the
// first row of an image, not of a tile.
bool slides(KernelOp kernel) {
  return kernel
      .walk([](Operation *op) {
        auto generic = dyn_cast<linalg::GenericOp>(op);
        bool isPlain =
            !generic ||
            llvm::all_of(generic.getIndexingMapsArray(), [](AffineMap map) {
              return map.isProjectedPermutation(
                  /*allowZeroInResults=*/true);
            });
        return isPlain && !isa<tensor::PadOp>(op) ? WalkResult::advance()
                                                  : WalkResult::interrupt();
      })
      .wasInterrupted();
}

// The product, where its kernel may be a part of the group.
bool isProduct(KernelOp kernel, const Group &group) {
  return kernel && !slides(kernel) &&
         isa<ContractionAttr>(kernel.getSchedule()) &&
         kernel->getNumResults() == 1 &&
         kernel->getBlock() == group.ops.front()->getBlock() &&
         !group.ops.contains(kernel) &&
         kernel.getOutputs()[0].getDefiningOp<tensor::EmptyOp>() &&
         !kernel.readsOutput(kernel->getOpOperand(kernel.getInputs().size()));
}

// Bytes of the longest row that the group reads or makes, but for products.
int64_t longestRow(const Group &group) {
  unsigned outer = group.outer.size();
  int64_t longest = 0;
  for (Operation *op : group.ops)
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      for (OpOperand &operand : op->getOpOperands())
        if (isByRows(generic.getMatchingIndexingMap(&operand), outer))
          longest = std::max(longest, rowBytes(operand.get(), outer));
  return longest;
}

// Whether a root or a logarithm is taken of what rows are folded into, which a
// row alone waits for.
bool waitsForFunctions(const Group &group) {
  return llvm::any_of(group.ops, [&](Operation *op) {
    SmallVector<int64_t> sizes =
        cast<linalg::GenericOp>(op).getStaticLoopRanges();
    auto isOne = [](int64_t size) { return size == 1; };
    auto isFunction = [](Operation &each) {
      return isa<math::MathDialect>(each.getDialect());
    };
    return llvm::all_of(ArrayRef(sizes).drop_front(group.outer.size()),
                        isOne) &&
           llvm::any_of(op->getRegion(0).front(), isFunction);
  });
}

// All rows of the loops around; 0 where only the run knows.
int64_t rowCount(const Group &group) {
  int64_t count = 1;
  for (int64_t extent : group.outer)
    count = ShapedType::isDynamic(extent) ? 0 : count * extent;
  return count;
}

// How many rows go through the body together: short ones, as the sums of one
// would take longer than all else that is done with it; and those of which
// several fit half of L1, where functions of their sums would. Bare machines
// count their stack. One after another asks for memory without a pause: behind
// a mesh, rows of 128 to 256 elements that L2 does not hold took 0.7 to 0.9 of
// the time, and longer ones 0.88 to 0.92.
int64_t rowsTogether(const Group &group, TargetAttr target) {
  constexpr int64_t least = 4;
  if (!target || !target.getVectorBits() || !target.getHeap())
    return 1;
  int64_t bytes = longestRow(group), rows = 1,
          count = group.outer[tiledLoop(group.outer, {})];
  bool isShort = bytes <= mostShortRowBytes,
       isFar = isFarFromMemory(target) && 2 * bytes >= mostShortRowBytes &&
               llvm::SaturatingMultiply<uint64_t>(bytes, rowCount(group)) >
                   uint64_t(target.getL2Bytes() / 2);
  if (!isFar && isShort)
    rows = std::clamp<int64_t>(target.getL1Bytes() / 4 / bytes, 16, 64);
  else if (!isFar && waitsForFunctions(group))
    rows = target.getL1Bytes() / 2 / bytes;
  if (!ShapedType::isDynamic(count))
    rows = std::min(rows, count);
  return rows < least ? 1 : rows;
}

// Rows that take as long to multiply with what they share as it takes to come
// from behind L2.
int64_t rowsOfStream(TargetAttr target) {
  int64_t bytes = std::max(target.getVectorBits() / 8, 1L);
  return int64_t(std::ceil(bytes * target.getFmaPerCycle() / farBytesPerCycle));
}

// How a product joins a group, or why it does not.
struct Joining {
  int64_t leastRows = 1;       // of a tile
  llvm::SmallBitVector shares; // loops along which rows share something
  const char *whyApart = nullptr;
};

Joining apart(const char *reason) { return {1, {}, reason}; }

// The fewest rows of a tile that the product of such a row may be in, unless it
// keeps a kernel of its own. What all rows read stays in the cache, or it is
// computed and less than the rows, which then need not go to memory.
Joining joining(const FailureOr<ProductAccess> &access, KernelOp product,
                Value row, const Group &group, TargetAttr target) {
  Loops loops = outerLoops(access, group.outer.size());
  if (failed(loops))
    return apart("its rows are not those of the kernel");
  llvm::SmallBitVector shares = sharedAlong(access->root, *loops);
  if (!group.products.empty())
    shares &= group.shares;
  unsigned tiled = tiledLoop(group.outer, shares);
  if (!group.products.empty() && tiled != group.tiled())
    return apart("another product shares something along other rows");
  uint64_t shared = sharedBytes(*access, (*loops)[tiled], *loops);
  if (shared <= uint64_t(target.getL2ForBlocks()))
    return Joining{1, shares};
  int64_t rows = group.outer[tiled], least = rowsOfStream(target);
  bool isMore = !ShapedType::isDynamic(rows) && rows >= least &&
                llvm::SaturatingMultiply<uint64_t>(
                    rows, rowBytes(row, group.outer.size())) > shared;
  if (!isMore || !computedFactor(product))
    return apart("what its rows share does not stay in the cache");
  return Joining{least, shares};
}

int64_t rowsOfTile(KernelOp product) {
  return cast<ContractionAttr>(product.getSchedule()).getRows();
}

// As many as a tile needs to have at least.
int64_t rowsNeeded(const Group &group, const Joining &joining) {
  int64_t rows = group.outer[tiledLoop(group.outer, joining.shares)];
  int64_t own =
      ShapedType::isDynamic(rows) ? leastTile : std::min(leastTile, rows);
  return std::max({own, joining.leastRows, group.leastRows});
}

// Rows of a tile that the stack holds, `row` among others, or where these are
// too few, memory of the kernel's own, which has room for all of unknown size.
int64_t rowsThatFit(const Group &group, Value row, const Joining &joining) {
  int64_t bytes = rowBytes(row, group.outer.size());
  if (bytes == std::numeric_limits<int64_t>::max())
    return group.mostRows;
  int64_t rows = mostStackBytes / bytes;
  if (rows < rowsNeeded(group, joining))
    rows = group.mostTileBytes / bytes;
  return std::min(group.mostRows, rows);
}

void addProduct(Group &group, KernelOp product, Value row,
                const Joining &joining) {
  group.mostRows = rowsThatFit(group, row, joining);
  group.leastRows = std::max(group.leastRows, joining.leastRows);
  group.shares = joining.shares;
  group.ops.insert(product);
  group.products.push_back(product);
}

// Rows of a tile that leaves no rest of `extent` rows, if nearly as many do.
int64_t withoutRest(int64_t rows, int64_t extent) {
  for (int64_t fewer = rows; 4 * fewer >= 3 * rows; --fewer)
    if (extent % fewer == 0)
      return fewer;
  return rows;
}

// The number of rows that the products' own tiles divide best; a multiple of it
// where rows are shorter than a vector, so that lanes lie across them. Of an
// unknown number of images, whose rows are one row of tiles, no code is needed
// for a rest that there cannot be.
void chooseTile(Group &group, TargetAttr target) {
  constexpr int64_t enough = 64;
  int64_t most = 1;
  for (KernelOp product : group.products)
    most = std::max(most, rowsOfTile(product));
  if (group.leastRows > 1)
    most = std::max(most, 2 * group.leastRows);
  most = std::min(most, group.mostRows);
  double best = std::numeric_limits<double>::infinity();
  for (int64_t rows = most; rows >= group.leastRows; --rows) {
    double steps = 0;
    for (KernelOp product : group.products)
      steps += llvm::divideCeil(rows, rowsOfTile(product)) *
               double(rowsOfTile(product)) / rows;
    if (steps < best) {
      best = steps;
      group.tile = rows;
    }
  }
  int64_t extent = group.outer[group.tiled()];
  bool isNarrow = longestRow(group) * 8 < target.getVectorBits();
  if (isNarrow && !ShapedType::isDynamic(extent) && group.tile < enough)
    group.tile *= std::max<int64_t>(
        std::min({enough, extent, group.mostRows}) / group.tile, 1);
  if (!ShapedType::isDynamic(extent) && ShapedType::isDynamicShape(group.outer))
    group.tile = withoutRest(group.tile, extent);
}

bool fitsTile(const Group &group, Value row, const Joining &joining) {
  return rowsThatFit(group, row, joining) >= rowsNeeded(group, joining);
}

// Says why products do not join that read rows of `op` as their columns.
void leavePackedOutside(Operation *op, KernelOp packing) {
  for (Operation *product : packing->getUsers())
    missed(op, "form-row-kernels", product)
        << "its lanes lie across the rows, all of which are packed first";
}

// The product that makes what the group reads, and those that read what the
// group makes.
void addProducts(Group &group, TargetAttr target) {
  unsigned outer = group.outer.size();
  for (unsigned i = 0; i < group.ops.size(); ++i)
    for (Value operand : group.ops[i]->getOperands()) {
      auto product = operand.getDefiningOp<KernelOp>();
      if (!isProduct(product, group))
        continue;
      Joining how = joining(outputOf(product), product, operand, group, target);
      if (!how.whyApart && !fitsTile(group, operand, how))
        how.whyApart = "a tile would hold too few of its rows";
      if (how.whyApart) {
        missed(product, "form-row-kernels", group.ops[i]) << how.whyApart;
        continue;
      }
      bool isInner = llvm::all_of(operand.getUsers(), [&](Operation *user) {
        return group.ops.contains(user) && readsByRows(user, operand, outer);
      });
      if (isInner)
        addProduct(group, product, operand, how);
    }
  SmallVector<Operation *> makers(group.ops.begin(), group.ops.end());
  for (Operation *op : makers)
    for (OpOperand &use : op->getUses()) {
      auto product = dyn_cast<KernelOp>(use.getOwner());
      DenseSet<Operation *> seen;
      if (product && isa<SquaresAttr>(product.getSchedule()))
        leavePackedOutside(op, product);
      if (!isProduct(product, group) || product.isDpsInit(&use))
        continue;
      Joining how =
          joining(inputOf(product, use), product, use.get(), group, target);
      if (!how.whyApart && !fitsTile(group, use.get(), how))
        how.whyApart = "a tile would hold too few of its rows";
      if (how.whyApart)
        missed(op, "form-row-kernels", product) << how.whyApart;
      if (how.whyApart || needsThroughOutside(product, group, seen, false))
        continue;
      bool isByRowsOnly =
          llvm::all_of(product->getOpOperands(), [&](OpOperand &operand) {
            return !group.ops.contains(operand.get().getDefiningOp()) ||
                   isSame(outerLoops(inputOf(product, operand), outer),
                          outerLoops(inputOf(product, use), outer));
          });
      if (isByRowsOnly)
        addProduct(group, product, use.get(), how);
    }
}

// Says who makes what the group reads, or reads what it makes, in another form.
void leaveViewsOutside(const Group &group) {
  for (Operation *op : group.ops) {
    for (Value operand : op->getOperands())
      if (BehindView maker = makerBehindViews(operand); maker.op)
        missed(maker.op, "form-row-kernels", op) << maker.whyApart;
    for (Value result : op->getResults())
      for (BehindView reader : readersBehindViews(result))
        missed(op, "form-row-kernels", reader.op) << reader.whyApart;
  }
}

// Says why a fold is in no kernel with what makes its rows and what reads its
// results.
void leaveAlone(linalg::GenericOp fold, const char *reason) {
  for (Value row : fold.getDpsInputs())
    if (Operation *maker = row.getDefiningOp();
        isa_and_nonnull<linalg::GenericOp, KernelOp>(maker))
      missed(maker, "form-row-kernels", fold) << reason;
  for (Operation *user : fold->getUsers())
    if (isa<linalg::GenericOp, KernelOp>(user))
      missed(fold, "form-row-kernels", user) << reason;
}

// Whether L1 does not hold all that it folds, or may not.
bool isLong(linalg::GenericOp fold, TargetAttr target) {
  uint64_t bytes = getElementTypeOrSelf(fold.getDpsInputs()[0].getType())
                       .getIntOrFloatBitWidth() /
                   8;
  for (int64_t size : fold.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(size))
      return target != nullptr;
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, size);
  }
  return target && bytes > uint64_t(target.getL1Bytes());
}

// Whether it makes a row that several of it read.
bool keepsRow(const Group &group) {
  return llvm::any_of(group.ops, [](Operation *op) {
    return cast<linalg::GenericOp>(op).getNumReductionLoops() == 0 &&
           !op->hasOneUse();
  });
}

std::optional<Group> groupAround(linalg::GenericOp seed, TargetAttr target) {
  if (!seed.hasPureTensorSemantics() || readsNothing(seed) ||
      seed.getNumReductionLoops() == 0 || isContraction(seed))
    return std::nullopt;
  Group group;
  int64_t rows = 1;
  SmallVector<int64_t> sizes = seed.getStaticLoopRanges();
  if (llvm::is_contained(sizes, 0)) // no row has an element
    return std::nullopt;
  for (auto [size, iterator] : llvm::zip(sizes, seed.getIteratorTypesArray())) {
    if (iterator != utils::IteratorType::parallel)
      break;
    group.outer.push_back(size);
    rows *= size;
  }
  // A single row gets a kernel if L1 does not hold it: softmax of 151936 took
  // 0.82 of the time on Zen 4.
  const char *reason =
      group.outer.empty() || (rows == 1 && !isLong(seed, target))
          ? "there is a single row"
          : whyApart(seed, group);
  if (reason) {
    leaveAlone(seed, reason);
    return std::nullopt;
  }
  group.ops.insert(seed);
  addConsumers(group);
  addProducers(group);
  if (rows == 1 && !keepsRow(group)) {
    leaveAlone(seed, "there is a single row, and it is read once");
    return std::nullopt;
  }
  // Bare machines count their stack.
  if (rows != 1 && target && target.getHeap() && group.ops.size() > 1) {
    group.mostTileBytes = std::max(mostStackBytes, target.getL2Bytes() / 2);
    addProducts(group, target);
  }
  leaveViewsOutside(group);
  if (group.products.empty())
    group.tile = rowsTogether(group, target);
  else
    chooseTile(group, target);
  if (group.ops.size() < 2)
    return std::nullopt;
  return group;
}

// Whether the kernel is a product, or ends with one.
bool endsWithProduct(KernelOp kernel) {
  auto end = kernel.getBodyBlock()->getTerminator()->getOperand(0);
  return isa<RowsAttr>(kernel.getSchedule())
             ? end.getDefiningOp<KernelOp>() != nullptr
             : isa<ContractionAttr>(kernel.getSchedule()) && !slides(kernel);
}

// Says why two products are apart though the second one takes rows of the
// first.
void leaveProductsAlone(ModuleOp module) {
  module.walk([&](KernelOp product) {
    if (product->getParentOfType<KernelOp>() || !endsWithProduct(product))
      return;
    for (OpOperand &use : product->getUses()) {
      auto next = dyn_cast<KernelOp>(use.getOwner());
      if (!next || next.isDpsInit(&use) ||
          !isa<ContractionAttr>(next.getSchedule()) || slides(next))
        continue;
      missed(product, "form-row-kernels", next)
          << (isa<RowsAttr>(product.getSchedule())
                  ? "a kernel of rows ends with the products of what it folds"
                  : "kernels of rows are formed around folds of rows, and "
                    "there is none between");
    }
  });
}

struct FormRowKernels : impl::FormRowKernelsBase<FormRowKernels> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    SmallVector<linalg::GenericOp> seeds;
    getOperation().walk([&](linalg::GenericOp op) {
      if (!op->getParentOfType<KernelOp>() && op.getNumReductionLoops())
        seeds.push_back(op);
    });
    DenseSet<Operation *> taken;
    for (linalg::GenericOp seed : seeds) {
      if (taken.contains(seed))
        continue;
      std::optional<Group> group = groupAround(seed, target);
      if (!group)
        continue;
      taken.insert(group->ops.begin(), group->ops.end());
      outlineRows(*group, target);
    }
    leaveProductsAlone(getOperation());
  }
};

} // namespace
} // namespace onnxc
