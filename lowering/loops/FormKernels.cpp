// Groups each contraction with what belongs to it into one kernel: the zeros
// around an input, the repacking of weights, the start value, and the
// elementwise operations that follow (bias, activation, residual).
#include "lowering/Missed.h"
#include "lowering/Passes.h"
#include "lowering/loops/BehindViews.h"
#include "lowering/loops/Contraction.h"
#include "lowering/loops/EmitStrassen.h"
#include "lowering/loops/EmitWinograd.h"
#include "lowering/loops/NarrowEpilogues.h"
#include "lowering/loops/PackColumns.h"
#include "lowering/loops/Padding.h"
#include "lowering/loops/PixelFolds.h"
#include "lowering/loops/RegisterTile.h"
#include "lowering/loops/RowTiles.h"
#include "lowering/loops/WindowFolds.h"
#include "lowering/loops/Winograd.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_FORMKERNELS
#include "lowering/Passes.h.inc"

namespace {

// A kernel to be: its operations, the last of which makes its result.
struct Group {
  linalg::GenericOp root;
  llvm::SetVector<Operation *> ops;
  Operation *last;
  AffineMap position;     // of the result, in the loops of the root
  linalg::GenericOp fold; // of the result; null where there is none
  Operation *folded;      // it, or the last operation of its own epilogue

  // Where sizes are known, the result may be there for the fold alone.
  bool isFoldedOnly() const {
    auto isFold = [&](Operation *user) { return user == fold; };
    Value result = last->getResult(0);
    return fold && cast<ShapedType>(result.getType()).hasStaticShape() &&
           llvm::all_of(result.getUsers(), isFold);
  }

  // What is wanted of the kernel.
  SmallVector<Operation *> yielding() const {
    SmallVector<Operation *> ops;
    if (!isFoldedOnly())
      ops.push_back(last);
    if (fold)
      ops.push_back(folded);
    return ops;
  }
};

// Whether `value` is made anew wherever it is used.
bool isRematerialized(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->hasTrait<OpTrait::ConstantLike>())
    return false;
  DenseElementsAttr dense;
  return !isa<ShapedType>(value.getType()) ||
         (matchPattern(value, m_Constant(&dense)) && dense.isSplat());
}

// The start value, where it is computed from nothing.
void addInit(Group &group) {
  Operation *init = group.root.getDpsInits()[0].getDefiningOp();
  if (!init || init->getBlock() != group.root->getBlock())
    return;
  auto generic = dyn_cast<linalg::GenericOp>(init);
  if (isa<linalg::FillOp>(init) || (generic && isElementwise(generic)))
    group.ops.insert(init);
}

void addInputs(Group &group, const LoopRoles &roles, int64_t rows) {
  for (OpOperand *input : group.root.getDpsInputOperands()) {
    Operation *producer = input->get().getDefiningOp();
    if (producer && isStored(producer))
      group.ops.insert(producer);
    if (!producer || producer->getBlock() != group.root->getBlock())
      continue;
    AffineMap map = group.root.getMatchingIndexingMap(input);
    auto pad = dyn_cast<tensor::PadOp>(producer);
    if (!pad || !ignoresPadding(group.root, input, pad))
      continue;
    FailureOr<SmallVector<Border>> borders = inferBorders(pad, map, roles);
    if (failed(borders) || (ShapedType::isDynamicShape(pad.getStaticLow()) &&
                            needsKnownFront(group.root, roles, *borders)))
      continue;
    tensor::PadOp rest =
        fillLongBorders(pad, group.root, roles, *borders, rows);
    if (!rest)
      continue;
    // Others that read the padding, as an epilogue may, read a tensor of it.
    if (!rest->hasOneUse()) {
      rest = cast<tensor::PadOp>(OpBuilder(group.root).clone(*rest));
      input->set(rest);
    }
    group.ops.insert(rest);
  }
}

// Whether the vectors of a result stay vectors where it is written.
bool isAlongVectors(AffineMap position, linalg::GenericOp root,
                    const LoopRoles &roles) {
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  for (AffineExpr index : llvm::reverse(position.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(index);
    if (!loop || extents[loop.getPosition()] != 1)
      return loop && loop.getPosition() == roles.vector;
  }
  return false;
}

// Says why an elementwise operation behind the group does not join it.
void stayOutside(const Group &group, linalg::GenericOp next,
                 const char *reason) {
  missed(group.root, "form-kernels", next) << reason;
}

// Whether a kernel that is still to be formed ends with `next` as well: another
// contraction makes what it alone reads.
bool endsOther(const Group &group, linalg::GenericOp next) {
  return llvm::any_of(next.getDpsInputOperands(), [&](OpOperand *input) {
    auto other = input->get().getDefiningOp<linalg::GenericOp>();
    return other && !group.ops.contains(other) && input->get().hasOneUse() &&
           next.getMatchingIndexingMap(input).isPermutation() &&
           other.getNumReductionLoops() > 0 && succeeded(inferLoopRoles(other));
  });
}

// Whether `op`, behind the group, reads other tensors of full size.
bool readsOthers(const Group &group, linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return op.getMatchingIndexingMap(input).isPermutation() &&
           !group.ops.contains(input->get().getDefiningOp());
  });
}

// Follows the result of `root`, the group's own or its fold, through
// elementwise operations that alone use it; `last` becomes the last of them, at
// `position` of the loops of `root`.
void addEpilogue(Group &group, linalg::GenericOp root, const LoopRoles &roles,
                 int64_t lanes, Operation *&last, AffineMap &position) {
  last = root;
  position = root.getIndexingMapsArray().back();
  bool isSum = false;
  while (last->getResult(0).hasOneUse()) {
    OpOperand &use = *last->getResult(0).getUses().begin();
    auto next = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!next || next->getBlock() != group.root->getBlock() ||
        !isElementwise(next) || !next.isDpsInput(&use))
      return;
    AffineMap map = next.getMatchingIndexingMap(&use);
    if (!map.isPermutation())
      return stayOutside(group, next, "it reads elements more than once");
    AffineMap own = next.getIndexingMapsArray().back();
    AffineMap moved = own.compose(inversePermutation(map)).compose(position);
    if (!isAlongVectors(moved, root, roles))
      return stayOutside(group, next, "it writes across the vectors");
    if (wastesLanes(next, root, roles, lanes))
      return stayOutside(group, next, "most of its lanes would be idle");
    if (isSum && endsOther(group, next))
      return stayOutside(group, next, "another contraction's kernel ends so");
    isSum |= readsOthers(group, next);
    group.ops.insert(next);
    last = next;
    position = moved;
  }
  for (Operation *user : last->getUsers())
    if (auto next = dyn_cast<linalg::GenericOp>(user);
        next && isElementwise(next))
      return stayOutside(group, next, "the result has other users too");
}

// Elementwise operations and folds of the result by way of views: a kernel
// writes what its tiles hold as it lies there.
void leaveViewsOutside(const Group &group) {
  for (BehindView reader : readersBehindViews(group.last->getResult(0)))
    if (auto next = dyn_cast<linalg::GenericOp>(reader.op);
        next && (isElementwise(next) || next.getNumDpsInputs() == 1))
      stayOutside(group, next, reader.whyApart);
}

// Whether tasks share panels of weights, each of them for all pixels.
bool hasSeveralPanels(linalg::GenericOp root, const LoopRoles &roles,
                      ContractionAttr schedule) {
  int64_t columns = root.getStaticLoopRanges()[roles.vector];
  return schedule.getOuter() == LoopOrder::Panels &&
         !ShapedType::isDynamic(columns) && columns > schedule.getColumns();
}

// The schedule of lanes along the sum, where the constant is stored so.
ContractionAttr alongSumOf(linalg::GenericOp root, const LoopRoles &roles,
                           TargetAttr target) {
  bool isStored =
      llvm::all_of(root.getDpsInputOperands(), [&](OpOperand *input) {
        AffineMap map = root.getMatchingIndexingMap(input);
        return map.getNumResults() > 0 &&
               map.getResults().back() ==
                   getAffineDimExpr(roles.reductions.back(),
                                    map.getContext()) &&
               !input->get().getDefiningOp<linalg::UnPackOp>();
      });
  return isStored ? chooseAlongSum(root, roles, target) : ContractionAttr();
}

// Whether a window that all rows read leaps along the vectors.
bool leapsAlongVectors(linalg::GenericOp root, const LoopRoles &roles) {
  auto leaps = [&](OpOperand *input) {
    AffineMap map = withoutUnitLoops(root, root.getMatchingIndexingMap(input));
    return map.getNumResults() > 0 && !groupIndex(map.getResults().back()) &&
           coefficient(map.getResults().back(), roles.vector) > 1 &&
           llvm::none_of(roles.pixels, [&](unsigned loop) {
             return map.isFunctionOfDim(loop);
           });
  };
  return !roles.pixels.empty() &&
         llvm::any_of(root.getDpsInputOperands(), leaps);
}

using IsFold = llvm::function_ref<bool(linalg::GenericOp)>;

// Pools and means of the result, also of the result in its padding. Those that
// were `tried` have said why they are.
void leaveFoldsOutside(const Group &group, Value result, IsFold tried) {
  for (Operation *user : result.getUsers()) {
    if (auto pad = dyn_cast<tensor::PadOp>(user))
      leaveFoldsOutside(group, pad, nullptr);
    auto next = dyn_cast<linalg::GenericOp>(user);
    if (!next || !next.getNumReductionLoops() || (tried && tried(next)))
      continue;
    auto isRead = [&](OpOperand *input) {
      return next.payloadUsesValueFromOperand(input);
    };
    if (llvm::count_if(next.getDpsInputOperands(), isRead) == 1)
      stayOutside(group, next, "it folds rows of several tiles");
  }
}

// The buffer that the result of `last` is written to, before anything is in it.
Value destinationOf(const Group &group, Operation *last) {
  Value destination = cast<DestinationStyleOpInterface>(last).getDpsInits()[0];
  while (Operation *op = destination.getDefiningOp()) {
    if (!group.ops.contains(op))
      break;
    destination = cast<DestinationStyleOpInterface>(op).getDpsInits()[0];
  }
  return destination;
}

// Values from outside that the operations use, in order.
llvm::SetVector<Value> externalValues(const Group &group) {
  llvm::SetVector<Value> values;
  for (Operation *op : group.ops)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *owner = operand.getDefiningOp();
        bool inside =
            owner ? op->isProperAncestor(owner) || group.ops.contains(owner)
                  : op->isProperAncestor(
                        operand.getParentBlock()->getParentOp()) ||
                        operand.getParentBlock()->getParentOp() == op;
        if (!inside)
          values.insert(operand);
      }
    });
  return values;
}

// Whether the value is read by an operation that does not begin with it.
bool isInput(const Group &group, Value value) {
  return llvm::any_of(group.ops, [&](Operation *op) {
    auto destinations = dyn_cast<DestinationStyleOpInterface>(op);
    return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
      return operand.get() == value &&
             !(destinations && destinations.isDpsInit(&operand));
    });
  });
}

// Whether the destination can stand for `value`, which begins with it: what an
// empty tensor holds is not read, so any output of its sizes will do.
bool isWrittenTo(Value value, Value destination) {
  auto empty = value.getDefiningOp<tensor::EmptyOp>(),
       other = destination.getDefiningOp<tensor::EmptyOp>();
  if (value == destination || !empty)
    return value == destination;
  return empty.getType() == destination.getType() &&
         (other ? empty.getDynamicSizes() == other.getDynamicSizes()
                : empty.getDynamicSizes().empty());
}

using Outputs = llvm::MapVector<Value, Value>; // arguments by what they hold

void cloneInto(OpBuilder &builder, Operation *op, IRMapping &mapping,
               const Outputs &outputs) {
  Operation *clone = builder.clone(*op, mapping);
  if (auto destinations = dyn_cast<DestinationStyleOpInterface>(op))
    for (auto [i, init] : llvm::enumerate(destinations.getDpsInits()))
      if (Value output = outputs.lookup(init))
        cast<DestinationStyleOpInterface>(clone).setDpsInitOperand(i, output);
}

// Each operation behind what it reads. That alone orders them, so that kernels
// are equal in whichever order their operations were.
SmallVector<Operation *> inOrder(const Group &group) {
  llvm::SetVector<Operation *> ops;
  for (Operation *op : group.ops)
    if (isStored(op))
      ops.insert(op);
  std::function<void(Operation *)> add = [&](Operation *op) {
    if (!op || !group.ops.contains(op) || ops.contains(op))
      return;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        add(operand.getDefiningOp());
    });
    ops.insert(op);
  };
  llvm::for_each(group.yielding(), add);
  llvm::for_each(group.ops, add);
  return ops.takeVector();
}

// `scratch` are the types of what the kernel needs beside its outputs.
void outline(Group &group, Attribute schedule,
             ArrayRef<RankedTensorType> scratch) {
  OpBuilder builder(group.isFoldedOnly() ? group.folded : group.last);
  Location loc = group.root.getLoc();
  SmallVector<Operation *> ops = inOrder(group), yielding = group.yielding();
  SmallVector<Value> destinations;
  for (Operation *op : yielding)
    destinations.push_back(destinationOf(group, op));
  llvm::SetVector<Value> inputs, copies;
  llvm::MapVector<Value, size_t> numbers; // of the outputs that hold them
  for (Value value : externalValues(group)) {
    auto empty = value.getDefiningOp<tensor::EmptyOp>();
    auto *destination = llvm::find_if(destinations, [&](Value destination) {
      return isWrittenTo(value, destination);
    });
    bool isOutput = destination != destinations.end();
    if (isOutput)
      numbers[value] = destination - destinations.begin();
    if (isOutput && (empty || !isInput(group, value)))
      continue;
    // Of others, a kernel reads the sizes.
    bool isUnpacked = empty && llvm::all_of(empty->getUsers(),
                                            llvm::IsaPred<linalg::UnPackOp>);
    if (isRematerialized(value) || isUnpacked ||
        (empty && empty->getNumOperands() == 0))
      copies.insert(value);
    else
      inputs.insert(value);
    if (isUnpacked)
      inputs.insert_range(empty.getDynamicSizes());
  }
  // Each kernel has outputs of its own; the analysis need not tell apart who
  // shares an empty tensor.
  SmallVector<Value> written;
  for (Value destination : destinations)
    written.push_back(
        destination.getDefiningOp<tensor::EmptyOp>()
            ? builder.clone(*destination.getDefiningOp())->getResult(0)
            : destination);
  for (RankedTensorType type : scratch)
    written.push_back(tensor::EmptyOp::create(builder, loc, type.getShape(),
                                              type.getElementType()));
  auto kernel =
      KernelOp::create(builder, loc, schedule, inputs.getArrayRef(), written);
  IRMapping mapping;
  auto arguments = kernel.getBodyBlock()->getArguments();
  Outputs outputs;
  for (auto [value, number] : numbers) {
    outputs[value] = arguments[inputs.size() + number];
    mapping.map(value, outputs[value]);
  }
  mapping.map(inputs.getArrayRef(), arguments.take_front(inputs.size()));
  builder.setInsertionPointToStart(kernel.getBodyBlock());
  for (Value copy : copies)
    builder.clone(*copy.getDefiningOp(), mapping);
  for (Operation *op : ops)
    cloneInto(builder, op, mapping, outputs);
  SmallVector<Value> yielded;
  for (Operation *op : yielding)
    yielded.push_back(mapping.lookup(op->getResult(0)));
  llvm::append_range(yielded, arguments.take_back(scratch.size()));
  KernelYieldOp::create(builder, loc, yielded);
  for (auto [op, result] : llvm::zip(yielding, kernel.getResults()))
    op->getResult(0).replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
}

struct FormKernels : impl::FormKernelsBase<FormKernels> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    roots.clear();
    getOperation().walk(foldPadding);
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops() && !op->getParentOfType<KernelOp>())
        roots.push_back(op);
    });
    for (size_t i = 0; i < roots.size(); ++i)
      if (roots[i])
        formKernel(roots[i], target);
  }

  void formKernel(linalg::GenericOp root, TargetAttr target) {
    FailureOr<LoopRoles> roles = inferLoopRoles(root);
    if (failed(roles) || !root.hasPureTensorSemantics()) {
      if (root.getNumDpsInputs() > 1)
        missed(root, "form-kernels")
            << "no register tile: an index is not linear, or the body has no "
               "vector form";
      return;
    }
    if (sumsAlongVectors(root, *roles, rowsOf(root, *roles), target) ||
        sharesNothing(root, *roles))
      return;
    turnCollidingRows(root, *roles, target);
    turnInnermostBatches(root, *roles, target);
    ContractionAttr alongSum = alongSumOf(root, *roles, target);
    if (!alongSum)
      packColumns(root, *roles, target);
    Group group{root, {}, root, {}, {}, {}};
    ContractionShape shape = shapeOf(root, *roles);
    ContractionAttr schedule =
        alongSum ? alongSum : chooseSchedule(root.getContext(), target, shape);
    addInit(group);
    addInputs(group, *roles, schedule.getRows());
    group.ops.insert(root);
    splitNarrowEpilogue(root, *roles, schedule.getVector());
    addEpilogue(group, root, *roles, schedule.getVector(), group.last,
                group.position);
    leaveViewsOutside(group);
    for (Operation *op : group.ops) {
      if (auto matrix = dyn_cast<QuarteredMatrixOp>(op)) {
        leaveFoldsOutside(group, group.last->getResult(0), IsFold());
        return outline(group, matrix.getSchedule(),
                       strassenScratch(root, matrix.getSchedule()));
      }
      if (auto filter = dyn_cast<WinogradFilterOp>(op)) {
        WinogradAttr filtering = filter.getSchedule();
        takeFolds(group, *roles, filtering);
        return outline(group, filtering, winogradScratch(root, filtering));
      }
    }
    // A packed operand has decided how wide the tile is.
    int64_t panel =
        schedule.getColumns() / panelsOfTile(schedule, target, shape);
    for (Operation *op : group.ops)
      if (auto unpack = dyn_cast<linalg::UnPackOp>(op);
          unpack && unpack.getStaticInnerTiles()[0] != panel)
        schedule =
            ContractionAttr::get(root.getContext(), schedule.getRows(),
                                 unpack.getStaticInnerTiles()[0],
                                 schedule.getVector(), schedule.getOuter(),
                                 /*block=*/0, schedule.getGroup(), /*depth=*/0,
                                 /*partial=*/0);
    // An operand whose columns lie apart is copied panel by panel, once for
    // all rows.
    if (!alongSum &&
        (readsColumnsApart(root, *roles) || leapsAlongVectors(root, *roles)))
      schedule = ContractionAttr::get(root.getContext(), schedule.getRows(),
                                      schedule.getColumns(),
                                      schedule.getVector(), LoopOrder::Panels);
    else
      schedule = blockedForCache(schedule, target, shapeOf(root, *roles),
                                 holdsPartialSums(group));
    bool isBlocked = schedule.getBlock() || schedule.getDepth() ||
                     (schedule.getGroup() > 1 && !isDepthwise(root, *roles));
    if (!isBlocked)
      takeFold(group, *roles, hasSeveralPanels(root, *roles, schedule), isFold);
    leaveFoldsOutside(group, group.last->getResult(0),
                      isBlocked ? IsFold() : isFold);
    outline(group, schedule, {});
  }

  // The first fold of the result's pixels that the tiles can do. What is left
  // of it is done where it was.
  void takeFold(Group &group, const LoopRoles &roles, bool sharePanels,
                IsFold isCandidate) {
    for (Operation *user : group.last->getUsers()) {
      auto next = dyn_cast<linalg::GenericOp>(user);
      if (!next || next->getBlock() != group.root->getBlock() ||
          !isCandidate(next))
        continue;
      const char *reason = nullptr;
      std::optional<KernelPart> part =
          splitFold(next, group.last, group.position, group.root, roles,
                    sharePanels, reason);
      if (!part) {
        stayOutside(group, next, reason);
        continue;
      }
      group.ops.insert(part->start);
      group.ops.insert(part->fold);
      group.fold = part->fold;
      group.folded = part->fold;
      llvm::replace(roots, next, part->rest);
      next.erase();
      return;
    }
  }

  // Of the result of Winograd's tiles, of which each has its own rows.
  void takeFolds(Group &group, const LoopRoles &roles, WinogradAttr schedule) {
    FilteredConvolution conv = *matchFilteredConvolution(group.root);
    bool isAsComputed =
        group.position == group.root.getIndexingMapsArray().back();
    if (isAsComputed && conv.hasTilesOfNeighbours())
      takeWindows(group, conv.rows.outputs(schedule.getTile()),
                  conv.columns.outputs(schedule.getTile()));
    bool mayFoldRows = isAsComputed && !group.fold && conv.mayFoldRows();
    if (mayFoldRows)
      takeFold(group, roles, /*sharePanels=*/false, foldsColumns);
    leaveFoldsOutside(group, group.last->getResult(0),
                      mayFoldRows ? IsFold(foldsColumns) : IsFold());
  }

  // A pool of the result whose windows divide Winograd's tiles, and what
  // follows it where nothing else reads the result.
  void takeWindows(Group &group, int64_t rows, int64_t columns) {
    for (Operation *user : group.last->getUsers()) {
      auto next = dyn_cast<linalg::GenericOp>(user);
      if (!next || next->getBlock() != group.root->getBlock())
        continue;
      FailureOr<WindowFold> windows = matchWindowFold(next);
      auto start = next.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
      if (failed(windows) || !start)
        continue;
      if (rows % windows->rows || columns % windows->columns) {
        stayOutside(group, next, "its windows reach into several tiles");
        continue;
      }
      IRRewriter rewriter(next);
      if (failed(
              moveValueDefinitions(rewriter, start.getDpsInits(), group.last)))
        continue;
      group.ops.insert(start);
      group.ops.insert(next);
      group.fold = next;
      group.folded = next;
      AffineMap position;
      if (group.isFoldedOnly())
        addEpilogue(group, next, *inferLoopRoles(next),
                    /*lanes=*/1, group.folded, position);
      llvm::replace(roots, next, linalg::GenericOp());
      return;
    }
  }

  // Whether the output can hold sums until they are complete: as they are, and
  // no operation behind the sum reads what it held before.
  static bool holdsPartialSums(Group &group) {
    Value destination = destinationOf(group, group.last);
    bool reads = llvm::any_of(group.ops, [&](Operation *op) {
      auto generic = dyn_cast<linalg::GenericOp>(op);
      return generic && generic != group.root &&
             generic.payloadUsesValueFromOperand(generic.getDpsInitOperand(0));
    });
    return getElementTypeOrSelf(destination) ==
               getElementTypeOrSelf(group.root.getResult(0)) &&
           !reads && !isInput(group, destination);
  }

  SmallVector<linalg::GenericOp> roots;
};

} // namespace
} // namespace onnxc
