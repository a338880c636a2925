// A silent copy is the failure to fear. Bufferization leaves one where a value
// goes into a part of another (concatenation), into an output, or where two
// values want the same memory. Most are not needed: a buffer that is copied
// into another as a whole can live there from the start, if nothing else
// touches that place between its first use and the copy, and if nobody
// overwrites one of the two while the other is still read. Its users then see a
// strided view.
//
// A part that is copied for readers only is read where it lies, if nobody
// writes it meanwhile.
//
// Of a value that is copied in another shape the destination is seen in the
// value's own first.
//
// A concatenation of concatenations (DenseNet) arrives as copies of all parts
// of one buffer, side by side, into another. These are taken as one copy first.
#include "lowering/Missed.h"
#include "lowering/Passes.h"
#include "lowering/memory/ChangeLayout.h"
#include "lowering/memory/Signature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace onnxc {

#define GEN_PASS_DEF_ELIDECOPIES
#include "lowering/Passes.h.inc"

namespace {

// A part of a dimension. What only the run knows is dynamic, but it may be a
// value, or all of the dimension.
struct Range {
  int64_t begin, size;
  bool isAll;
  Value beginValue, sizeValue; // null where they are numbers or not known

  bool endsBefore(const Range &other) const {
    if (ShapedType::isDynamic(begin))
      return false;
    if (!ShapedType::isDynamic(size))
      return !ShapedType::isDynamic(other.begin) && begin + size <= other.begin;
    // The other one begins a number of elements behind so many.
    if (!sizeValue || !other.beginValue)
      return false;
    llvm::APInt more(64, 0);
    auto sum = other.beginValue.getDefiningOp<arith::AddIOp>();
    bool isBehind = sum && sum.getLhs() == sizeValue &&
                    matchPattern(sum.getRhs(), m_ConstantInt(&more));
    return (isBehind || other.beginValue == sizeValue) &&
           begin <= more.getSExtValue();
  }
};

// A box of a buffer, in its own dimensions; none where it is not known.
struct Box {
  std::vector<Range> ranges;

  static Box ofAll(ArrayRef<int64_t> shape) {
    Box box;
    for (int64_t size : shape)
      box.ranges.push_back({0, size, true, {}, {}});
    return box;
  }
  bool isApartFrom(const Box &other) const {
    return llvm::any_of(llvm::zip(ranges, other.ranges), [](auto pair) {
      auto &[own, theirs] = pair;
      return own.endsBefore(theirs) || theirs.endsBefore(own);
    });
  }
  // Whether nothing is left to the run but how long whole dimensions are.
  bool isCertain() const {
    return llvm::all_of(ranges, [](const Range &range) {
      return !ShapedType::isDynamic(range.begin) &&
             (!ShapedType::isDynamic(range.size) || range.isAll);
    });
  }
  bool isSameSize(const Box &other) const {
    return llvm::equal(ranges, other.ranges,
                       [](const Range &own, const Range &theirs) {
                         return own.size == theirs.size;
                       });
  }
  // From the begin of this box to that of another.
  SmallVector<int64_t> distanceTo(const Box &other) const {
    SmallVector<int64_t> distance;
    for (auto [own, theirs] : llvm::zip(ranges, other.ranges))
      distance.push_back(theirs.begin - own.begin);
    return distance;
  }
  // Elements in an element of all dynamic dimensions.
  int64_t volume() const {
    int64_t product = 1;
    for (const Range &range : ranges)
      product *= ShapedType::isDynamic(range.size) ? 1 : range.size;
    return product;
  }
};

bool isReshape(Operation *op) {
  return isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(op);
}

// The buffer that `value` is the whole or a part of, through any number of
// views.
struct Place {
  Value root;
  SmallVector<Operation *> views; // parts and other shapes, innermost first
  std::optional<Box> box;
};

SmallVector<OpFoldResult> sizesOf(Value buffer) {
  if (auto view = buffer.getDefiningOp<memref::SubViewOp>())
    return view.getMixedSizes();
  if (auto alloc = buffer.getDefiningOp<memref::AllocOp>())
    return alloc.getMixedSizes();
  return {};
}

// The box of a view of `source`'s box.
std::optional<Box> viewed(const Box &source, memref::SubViewOp view) {
  SmallVector<OpFoldResult> offsets = view.getMixedOffsets(),
                            sizes = view.getMixedSizes(),
                            around = sizesOf(view.getSource());
  if (source.ranges.size() != sizes.size())
    return std::nullopt;
  Box box;
  for (auto [dim, from] : llvm::enumerate(source.ranges)) {
    int64_t offset = view.getStaticOffsets()[dim];
    bool isDense = view.getStaticStrides()[dim] == 1;
    bool isKnown = isDense && !ShapedType::isDynamic(offset) &&
                   !ShapedType::isDynamic(from.begin);
    Range range;
    range.begin = isKnown ? from.begin + offset : ShapedType::kDynamic;
    range.size = isDense ? view.getStaticSizes()[dim] : ShapedType::kDynamic;
    range.isAll = from.isAll && isDense && offset == 0 && dim < around.size() &&
                  sizes[dim] == around[dim];
    if (isDense && from.begin == 0)
      range.beginValue = dyn_cast<Value>(offsets[dim]);
    if (isDense)
      range.sizeValue = dyn_cast<Value>(sizes[dim]);
    box.ranges.push_back(range);
  }
  return box;
}

// The box of the parts in `views`, innermost first. Another shape of a part is
// the same elements; a part of another shape is no box.
std::optional<Box> boxOf(MemRefType root, ArrayRef<Operation *> views) {
  views = views.drop_while(isReshape);
  std::optional<Box> box = Box::ofAll(root.getShape());
  for (Operation *op : llvm::reverse(views)) {
    auto view = dyn_cast<memref::SubViewOp>(op);
    bool dropsDims =
        view && view.getType().getRank() != view.getSourceType().getRank();
    if (!view || !box || (dropsDims && op != views.front()))
      return std::nullopt;
    box = viewed(*box, view);
  }
  return box;
}

Place placeOf(Value value) {
  Place place = {value, {}, std::nullopt};
  for (Operation *op = value.getDefiningOp();
       op && (isReshape(op) || isa<memref::SubViewOp>(op));
       op = place.root.getDefiningOp()) {
    place.views.push_back(op);
    place.root = op->getOperand(0);
  }
  if (auto type = dyn_cast<MemRefType>(place.root.getType()))
    place.box = boxOf(type, place.views);
  return place;
}

// One use of a buffer's memory in the block of a copy.
struct Access {
  Operation *op; // in that block
  bool writes;
  std::optional<Box> box;
};

bool mayWrite(Operation *user, Value value) {
  if (auto copy = dyn_cast<memref::CopyOp>(user))
    return copy.getTarget() == value;
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(user))
    return llvm::any_of(destination.getDpsInits(),
                        [&](Value init) { return init == value; });
  return !isa<memref::LoadOp, memref::DimOp>(user);
}

// All accesses to `root`, seen from `block`; none where one is outside.
std::optional<SmallVector<Access>>
accessesOf(Value root, Block *block, const BufferViewFlowAnalysis &views) {
  SmallVector<Access> accesses;
  for (Value alias : views.resolve(root)) {
    Place place = placeOf(alias);
    if (place.root != root)
      place.box = std::nullopt;
    for (Operation *user : alias.getUsers()) {
      if (isa<ViewLikeOpInterface, memref::DimOp>(user))
        continue;
      Operation *op = block->findAncestorOpInBlock(*user);
      if (!op && insideMutuallyExclusiveRegions(user, block->getTerminator()))
        continue;
      if (!op)
        return std::nullopt;
      accesses.push_back({op, mayWrite(user, alias), place.box});
    }
  }
  return accesses;
}

// What is changed times what is looked at for each change. A network has a few
// hundred copies among ten thousand operations; where there are very many more,
// those beyond stay.
constexpr int64_t mostWork = 1 << 24;

// A value with more views is copied: all of them are looked at again whenever
// it becomes a part of the next. Dense blocks of a hundred layers have fewer.
constexpr size_t mostViews = 512;

class Elision {
public:
  Elision(func::FuncOp model) : model(model), views(model) {}

  // Null where the copy is gone, else why it stays.
  const char *elide(memref::CopyOp copy);

private:
  bool isOwn(Value root);
  const char *readInPlace(memref::CopyOp copy);
  bool isWrittenMeanwhile(memref::SubViewOp part, Operation *first,
                          Operation *last);
  const char *whyStays(memref::CopyOp copy, memref::AllocOp source,
                       Place target);
  bool isUntouched(memref::CopyOp copy, Value source, Place target);
  bool canMoveBefore(memref::AllocOp source, Place target);

  func::FuncOp model;
  BufferViewFlowAnalysis views;
};

// `target`, which has the shape that `reshape` makes, in the one before; null
// where that is no view of it.
Value unshaped(OpBuilder &builder, Operation *reshape, Value target) {
  Location loc = reshape->getLoc();
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(reshape)) {
    auto groups = expand.getReassociationIndices();
    if (!memref::CollapseShapeOp::isGuaranteedCollapsible(
            cast<MemRefType>(target.getType()), groups))
      return {};
    return memref::CollapseShapeOp::create(builder, loc, target, groups);
  }
  auto collapse = cast<memref::CollapseShapeOp>(reshape);
  Operation *maker = collapse.getSrc().getDefiningOp();
  SmallVector<OpFoldResult> sizes;
  if (auto alloc = dyn_cast<memref::AllocOp>(maker))
    sizes = alloc.getMixedSizes();
  else if (auto expand = dyn_cast<memref::ExpandShapeOp>(maker))
    sizes = expand.getMixedOutputShape();
  else
    return {};
  return memref::ExpandShapeOp::create(
      builder, loc, collapse.getSrcType().getShape(), target,
      collapse.getReassociationIndices(), sizes);
}

// copy(reshape(x), to) as copy(x, reshape(to)), where x is a buffer.
void reshapeTarget(memref::CopyOp copy) {
  SmallVector<Operation *> reshapes;
  Value source = copy.getSource();
  for (Operation *op = source.getDefiningOp(); op && isReshape(op);
       op = source.getDefiningOp()) {
    reshapes.push_back(op);
    source = op->getOperand(0);
  }
  if (reshapes.empty() || !source.getDefiningOp<memref::AllocOp>())
    return;
  OpBuilder builder(copy);
  Value target = copy.getTarget();
  for (Operation *reshape : reshapes) {
    target = unshaped(builder, reshape, target);
    if (!target)
      return;
  }
  copy.getSourceMutable().assign(source);
  copy.getTargetMutable().assign(target);
}

// Whether anything between the two, in whose block they are, may write `part`.
bool Elision::isWrittenMeanwhile(memref::SubViewOp part, Operation *first,
                                 Operation *last) {
  for (Value alias : views.resolve(placeOf(part).root))
    for (Operation *user : alias.getUsers()) {
      Operation *op = first->getBlock()->findAncestorOpInBlock(*user);
      bool isMeanwhile =
          op && first->isBeforeInBlock(op) && !last->isBeforeInBlock(op);
      if (!isMeanwhile || isa<ViewLikeOpInterface>(user) ||
          !mayWrite(user, alias))
        continue;
      auto other = alias.getDefiningOp<memref::SubViewOp>();
      if (!other || other.getSource() != part.getSource())
        return true;
      FailureOr<bool> overlap = ValueBoundsConstraintSet::areOverlappingSlices(
          part.getContext(), HyperrectangularSlice(part),
          HyperrectangularSlice(other));
      if (failed(overlap) || *overlap)
        return true;
    }
  return false;
}

// Of a part of a buffer that is copied for readers only, which may as well read
// the part itself if nobody writes it meanwhile. Null if they do, else why not.
const char *Elision::readInPlace(memref::CopyOp copy) {
  const char *isPart = "the value is a part of another";
  auto part = copy.getSource().getDefiningOp<memref::SubViewOp>();
  auto target = copy.getTarget().getDefiningOp<memref::AllocOp>();
  if (!part || !target || !isOwn(placeOf(part).root) ||
      target->getBlock() != copy->getBlock() ||
      target.getType().getShape() != part.getType().getShape())
    return isPart;
  if (!takesAnyLayout(target, part.getType()))
    return "a user needs the part without gaps";
  bool isViewedBefore = llvm::any_of(target->getUsers(), [&](Operation *user) {
    return user->getBlock() == copy->getBlock() && user->isBeforeInBlock(copy);
  });
  std::optional<SmallVector<Access>> uses =
      accessesOf(target, copy->getBlock(), views);
  if (isViewedBefore || !uses)
    return isPart;
  Operation *last = copy;
  for (const Access &use : *uses) {
    if (use.op == copy)
      continue;
    if (use.writes || use.op->isBeforeInBlock(copy))
      return isPart;
    if (last->isBeforeInBlock(use.op))
      last = use.op;
  }
  if (isWrittenMeanwhile(part, copy, last))
    return "the part is overwritten while it is read";
  copy.erase();
  replaceBuffer(target, part);
  target.erase();
  return nullptr;
}

// Whether `root` is a buffer or an argument of the model, of which all views
// are known.
bool Elision::isOwn(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  return argument ? argument.getOwner() == &model.getBody().front()
                  : bool(root.getDefiningOp<memref::AllocOp>());
}

const char *Elision::elide(memref::CopyOp copy) {
  const char *whyCopied = readInPlace(copy);
  if (!whyCopied)
    return nullptr;
  auto source = copy.getSource().getDefiningOp<memref::AllocOp>();
  if (!source)
    return isa<BlockArgument>(copy.getSource()) ? "the value is an argument"
           : copy.getSource().getDefiningOp<memref::GetGlobalOp>()
               ? "the value is a constant"
               : whyCopied;
  Place target = placeOf(copy.getTarget());
  if (const char *reason = whyStays(copy, source, target))
    return reason;
  if (auto alloc = target.root.getDefiningOp<memref::AllocOp>();
      alloc && source->isBeforeInBlock(alloc))
    alloc->moveBefore(source);
  for (Operation *view : llvm::reverse(target.views))
    if (source->isBeforeInBlock(view))
      view->moveBefore(source);
  Value replacement = copy.getTarget();
  copy.erase();
  replaceBuffer(source, replacement);
  source.erase();
  return nullptr;
}

const char *Elision::whyStays(memref::CopyOp copy, memref::AllocOp source,
                              Place target) {
  if (copy->getBlock() != source->getBlock())
    return "the value is made outside the loop or branch that copies it";
  auto alloc = target.root.getDefiningOp<memref::AllocOp>();
  if (!isOwn(target.root) || (alloc && alloc->getBlock() != copy->getBlock()))
    return "the destination is no buffer of the same block";
  if (target.root == source.getResult())
    return "the value is copied within its own memory";
  auto type = cast<MemRefType>(copy.getTarget().getType());
  if (type.getShape() != source.getType().getShape() ||
      !takesAnyLayout(source, type))
    return "a user needs the value without gaps";
  if (views.resolve(source).size() > mostViews)
    return "the value has very many parts";
  if (!canMoveBefore(source, target))
    return "the destination's size or place is not known early enough";
  if (!isUntouched(copy, source, target))
    return "the destination or the value is overwritten meanwhile";
  return nullptr;
}

bool Elision::canMoveBefore(memref::AllocOp source, Place target) {
  DominanceInfo dominance(model);
  auto areKnown = [&](ValueRange values) {
    return llvm::all_of(values, [&](Value value) {
      return value == target.root || dominance.dominates(value, source) ||
             llvm::is_contained(target.views, value.getDefiningOp());
    });
  };
  auto alloc = target.root.getDefiningOp<memref::AllocOp>();
  return (!alloc || areKnown(alloc->getOperands())) &&
         llvm::all_of(target.views, [&](Operation *view) {
           return view->getBlock() == source->getBlock() &&
                  areKnown(view->getOperands());
         });
}

// Before the copy nobody else touches the place; after it nobody writes the
// place or the value while the value is still used.
bool Elision::isUntouched(memref::CopyOp copy, Value source, Place target) {
  Block *block = copy->getBlock();
  auto own = accessesOf(source, block, views);
  auto others = accessesOf(target.root, block, views);
  if (!own || !others)
    return false;
  Operation *first = copy, *last = copy;
  for (const Access &access : *own) {
    if (access.op->isBeforeInBlock(first))
      first = access.op;
    if (last->isBeforeInBlock(access.op))
      last = access.op;
    if (access.writes && copy->isBeforeInBlock(access.op))
      return false;
  }
  return llvm::all_of(*others, [&](const Access &access) {
    if (access.op == copy)
      return true;
    if (target.box && access.box && target.box->isApartFrom(*access.box))
      return true;
    bool isAfterFirst = !access.op->isBeforeInBlock(first);
    bool isBeforeCopy = access.op->isBeforeInBlock(copy);
    bool isBeforeLast = !last->isBeforeInBlock(access.op);
    return !(isAfterFirst && isBeforeCopy) &&
           !(access.writes && isBeforeLast && !isBeforeCopy);
  });
}

bool isToItself(memref::CopyOp copy) {
  Place from = placeOf(copy.getSource()), to = placeOf(copy.getTarget());
  return copy.getSource() == copy.getTarget() ||
         (from.root == to.root && from.box && to.box && from.box->isCertain() &&
          to.box->isCertain() && from.box->isSameSize(*to.box) &&
          llvm::all_of(from.box->distanceTo(*to.box),
                       [](int64_t steps) { return steps == 0; }));
}

//===-- Parts that travel together ----------------------------------------===//

// Copies of parts of one buffer to parts of another, all by the same distance.
struct Move {
  memref::AllocOp source;
  Value target;
  SmallVector<int64_t> distance;
  SmallVector<memref::CopyOp> copies;
  int64_t volume = 0;
};

// So that volumes are of the same elements.
bool hasAllOfDynamic(const Box &box, MemRefType type) {
  return llvm::all_of(llvm::seq<int64_t>(0, type.getRank()), [&](int64_t dim) {
    return !type.isDynamicDim(dim) ||
           ShapedType::isDynamic(box.ranges[dim].size);
  });
}

std::optional<Move> asMove(memref::CopyOp copy) {
  Place from = placeOf(copy.getSource()), to = placeOf(copy.getTarget());
  auto source = from.root.getDefiningOp<memref::AllocOp>();
  bool areParts = !from.views.empty() && !to.views.empty() && from.box &&
                  to.box && from.box->isCertain() && to.box->isCertain();
  if (!source || !areParts || from.root == to.root ||
      source->getBlock() != copy->getBlock() ||
      !from.box->isSameSize(*to.box) ||
      !hasAllOfDynamic(*from.box, source.getType()))
    return std::nullopt;
  Move move = {source,
               to.root,
               from.box->distanceTo(*to.box),
               {copy},
               from.box->volume()};
  return move;
}

// Whether the parts are all of the source, which nobody writes from the first
// copy on, and nobody else looks at their places until the last.
bool isWhole(Move &move, const BufferViewFlowAnalysis &views) {
  Box whole = Box::ofAll(move.source.getType().getShape());
  if (move.volume != whole.volume())
    return false;
  for (auto [i, copy] : llvm::enumerate(move.copies))
    for (memref::CopyOp other : ArrayRef(move.copies).drop_front(i + 1))
      if (!placeOf(copy.getSource())
               .box->isApartFrom(*placeOf(other.getSource()).box))
        return false;
  Operation *first = move.copies.front(), *last = move.copies.back();
  auto own = accessesOf(move.source, first->getBlock(), views);
  auto others = accessesOf(move.target, first->getBlock(), views);
  if (!own || !others)
    return false;
  Box place = whole;
  for (auto [range, begin] : llvm::zip(place.ranges, move.distance))
    range.begin = begin;
  return llvm::none_of(*own,
                       [&](const Access &access) {
                         return access.writes &&
                                first->isBeforeInBlock(access.op);
                       }) &&
         llvm::all_of(*others, [&](const Access &access) {
           return llvm::is_contained(move.copies, access.op) ||
                  access.op->isBeforeInBlock(first) ||
                  last->isBeforeInBlock(access.op) ||
                  (access.box && access.box->isApartFrom(place));
         });
}

SmallVector<Move> findMoves(func::FuncOp model) {
  SmallVector<Move> moves;
  model.walk([&](memref::CopyOp copy) {
    std::optional<Move> move = asMove(copy);
    if (!move)
      return;
    for (Move &known : moves)
      if (known.source == move->source && known.target == move->target &&
          known.distance == move->distance &&
          known.copies[0]->getBlock() == copy->getBlock()) {
        known.copies.push_back(copy);
        known.volume += move->volume;
        return;
      }
    moves.push_back(*move);
  });
  return moves;
}

void joinParts(func::FuncOp model) {
  SmallVector<Move> moves = findMoves(model);
  BufferViewFlowAnalysis views(model);
  for (Move &move : moves) {
    if (!isWhole(move, views))
      continue;
    memref::CopyOp first = move.copies.front();
    OpBuilder builder(first);
    SmallVector<OpFoldResult> offsets,
        sizes = move.source.getMixedSizes(),
        ones(sizes.size(), builder.getIndexAttr(1));
    for (int64_t offset : move.distance)
      offsets.push_back(builder.getIndexAttr(offset));
    Value place = memref::SubViewOp::create(builder, first.getLoc(),
                                            move.target, offsets, sizes, ones);
    memref::CopyOp::create(builder, first.getLoc(), move.source, place);
    for (memref::CopyOp copy : move.copies)
      copy.erase();
  }
}

struct ElideCopies : impl::ElideCopiesBase<ElideCopies> {
  using ElideCopiesBase::ElideCopiesBase;

  void runOnOperation() override {
    func::FuncOp model = findModel(getOperation());
    if (!model)
      return;
    model.walk([&](linalg::CopyOp copy) { raise(copy); });
    model.walk([&](memref::CopyOp copy) { reshapeTarget(copy); });
    bool changed = true;
    while (changed) {
      joinParts(model);
      changed = elideAll(model);
    }
    Elision elision(model);
    model.walk([&](memref::CopyOp copy) { report(copy, elision); });
    model.walk([&](memref::CopyOp copy) { lower(copy); });
  }

  bool elideAll(func::FuncOp model) {
    SmallVector<memref::CopyOp> copies;
    int64_t operations = 0;
    model.walk([&](Operation *op) {
      ++operations;
      if (auto copy = dyn_cast<memref::CopyOp>(op))
        copies.push_back(copy);
    });
    bool changed = false;
    std::optional<Elision> elision; // looks at the whole model once a change
    for (memref::CopyOp copy : copies) {
      if (isToItself(copy)) {
        copy.erase();
        changed = true;
        continue;
      }
      if (work > mostWork)
        return false;
      if (!elision)
        elision.emplace(model);
      if (elision->elide(copy))
        continue;
      elision.reset();
      changed = true;
      ++elided;
      work += operations;
    }
    return changed;
  }

  void report(memref::CopyOp copy, Elision &elision) {
    ++kept;
    const char *reason =
        work > mostWork ? "the model has very many" : elision.elide(copy);
    missed(copy, "elide-copies") << reason;
    if (remarks)
      copy.emitRemark("copy stays: ") << reason;
  }

  int64_t work = 0;

  // A copy that a lowering asked for is one like any other.
  static void raise(linalg::CopyOp copy) {
    if (copy->getParentOfType<KernelOp>() || !copy.hasPureBufferSemantics())
      return;
    OpBuilder builder(copy);
    memref::CopyOp::create(builder, copy.getLoc(), copy.getInputs()[0],
                           copy.getOutputs()[0]);
    copy.erase();
  }

  // A call of a library would be what upstream makes of a strided one.
  static void lower(memref::CopyOp copy) {
    OpBuilder builder(copy);
    linalg::CopyOp::create(builder, copy.getLoc(), copy.getSource(),
                           copy.getTarget());
    copy.erase();
  }
};

} // namespace
} // namespace onnxc
