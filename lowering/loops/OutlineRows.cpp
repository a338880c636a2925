#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/EmitContraction.h"
#include "lowering/loops/IndexMath.h"
#include "lowering/loops/RegisterTile.h"
#include "lowering/loops/RowGroup.h"
#include "lowering/loops/RowMemory.h"
#include "lowering/loops/RowOperations.h"
#include "lowering/loops/RowPanels.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace onnxc {
namespace {

// What the kernel takes from outside: tensors, and scalars of the bodies.
// Destinations and start values are made anew inside.
struct Parts {
  SmallVector<Operation *> ops;
  llvm::SetVector<Value> inputs;
  SmallVector<Value> results;
};

// Scalar constants, destinations and fills.
bool isMadeAnew(Operation *def) {
  return isa_and_nonnull<tensor::EmptyOp, linalg::FillOp>(def) ||
         (isa_and_nonnull<arith::ConstantOp>(def) &&
          !isa<ShapedType>(def->getResult(0).getType()));
}

void addInput(Parts &parts, Value value) {
  Operation *def = value.getDefiningOp();
  if (!isMadeAnew(def)) {
    parts.inputs.insert(value);
    return;
  }
  for (Value operand : def->getOperands())
    addInput(parts, operand);
}

void makeAnew(OpBuilder &builder, Value value, IRMapping &mapping) {
  Operation *def = value.getDefiningOp();
  if (!isMadeAnew(def) || mapping.contains(value))
    return;
  for (Value operand : def->getOperands())
    makeAnew(builder, operand, mapping);
  builder.clone(*def, mapping);
}

bool isUsedOutside(Value value, const RowGroup &group) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return !group.ops.contains(user);
  });
}

// Rows that are too large for a tile are outputs, too.
bool isTooLarge(Value value, const RowGroup &group) {
  unsigned outer = group.outer.size();
  bool isOfAnySize =
      rowBytes(value, outer) == std::numeric_limits<int64_t>::max();
  if (isOfAnySize && hasSizesOfEntry(value))
    return false;
  uint64_t most = group.tile == 1 ? mostRowBytes : group.mostTileBytes;
  return tileBytes(value, outer, group.tile) > most && hasOwnTile(value);
}

// Bytes of tiles that the stack does not hold, but the kernel's own memory.
OpFoldResult scratchBytes(ImplicitLocOpBuilder &b, const RowGroup &group,
                          const Parts &parts) {
  unsigned outer = group.outer.size();
  OpFoldResult bytes = number(b, 0);
  for (Operation *op : parts.ops)
    for (Value value : op->getResults()) {
      if (llvm::is_contained(parts.results, value) ||
          !isInScratch(value, outer, group.tile))
        continue;
      Type element = getElementTypeOrSelf(value);
      SmallVector<OpFoldResult> room = roomInScratch(
          b, element, sizesOfTile(b, value, outer, group.tiled(), group.tile));
      bytes = add(b, bytes, bytesOfRoom(b, element, room));
    }
  return bytes;
}

Parts partsOf(const RowGroup &group) {
  Parts parts;
  parts.ops.assign(group.ops.begin(), group.ops.end());
  llvm::sort(parts.ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : parts.ops) {
    for (Value operand : op->getOperands())
      if (!group.ops.contains(operand.getDefiningOp()))
        addInput(parts, operand);
    for (Value value : capturedBy(op))
      addInput(parts, value);
    for (Value result : op->getResults())
      if (isTooLarge(result, group) || isUsedOutside(result, group))
        parts.results.push_back(result);
  }
  return parts;
}

// The sizes are those of the start value, which lies in front.
Value emptyLike(OpBuilder &builder, Value result) {
  auto owner = cast<DestinationStyleOpInterface>(result.getDefiningOp());
  Value init = owner.getTiedOpOperand(cast<OpResult>(result))->get();
  while (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.getOutputs()[0];
  if (auto empty = init.getDefiningOp<tensor::EmptyOp>())
    return builder.clone(*empty)->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  return tensor::EmptyOp::create(
      builder, result.getLoc(),
      tensor::getMixedSizes(builder, result.getLoc(), init),
      type.getElementType());
}

// The same for rows that only the kernel reads. They begin with a line each:
// of 49 elements, one behind the other, scores with their softmax and products
// took 1.3 times as long.
Value scratchLike(OpBuilder &builder, Value result) {
  Value dense = emptyLike(builder, result);
  ImplicitLocOpBuilder b(result.getLoc(), builder);
  auto type = cast<RankedTensorType>(result.getType());
  int64_t perLine = 8 * lineBytes / type.getElementTypeBitWidth();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), dense),
                            room = sizes;
  if (sizes.empty() || perLine < 2)
    return dense;
  OpFoldResult lines = ceilDivide(b, sizes.back(), number(b, perLine));
  room.back() = multiply(b, lines, number(b, perLine));
  Value lined = tensor::EmptyOp::create(b, room, type.getElementType());
  SmallVector<OpFoldResult> zeros(sizes.size(), number(b, 0)),
      ones(sizes.size(), number(b, 1));
  return tensor::ExtractSliceOp::create(b, type, lined, zeros, sizes, ones);
}

// Registers for constants of the functions around products, which live on
// through their loops; 16 registers are too few to leave any.
constexpr int64_t registersForConstants = 4, manyRegisters = 32;

// All rows of the tile take a panel while it is in the cache. Where it is not
// packed, its width may suit these rows.
ContractionAttr byPanels(KernelOp product, int64_t rows, TargetAttr target) {
  auto schedule = cast<ContractionAttr>(product.getSchedule());
  bool isPacked = !product.getBodyBlock()->getOps<linalg::UnPackOp>().empty();
  if (!isPacked && !schedule.getPartial() && rows > 1 && target &&
      target.getVectorRegisters() >= manyRegisters) {
    linalg::GenericOp root = *findContraction(product);
    ContractionShape shape = shapeOf(root, *inferLoopRoles(root));
    shape.rows = rows;
    shape.taken = registersForConstants;
    schedule = chooseSchedule(product.getContext(), target, shape);
  }
  return ContractionAttr::get(
      product.getContext(), schedule.getRows(), schedule.getColumns(),
      schedule.getVector(), LoopOrder::Panels, 0, 1, 0, schedule.getPartial());
}

} // namespace

void outlineRows(const RowGroup &group, TargetAttr target) {
  for (KernelOp product : group.products)
    storePanels(product, target);
  Parts parts = partsOf(group);
  Operation *last = parts.ops.back();
  OpBuilder builder(last);
  Location loc = last->getLoc();
  SmallVector<Value> outputs;
  for (Value result : parts.results)
    outputs.push_back(isUsedOutside(result, group)
                          ? emptyLike(builder, result)
                          : scratchLike(builder, result));
  ImplicitLocOpBuilder b(loc, builder);
  OpFoldResult scratch = scratchBytes(b, group, parts);
  bool hasScratch = !isConstantIntValue(scratch, 0);
  if (hasScratch)
    outputs.push_back(
        tensor::EmptyOp::create(b, ArrayRef(scratch), b.getI8Type()));
  auto schedule =
      RowsAttr::get(builder.getContext(), group.outer.size(), group.tile);
  auto kernel = KernelOp::create(builder, loc, schedule,
                                 parts.inputs.getArrayRef(), outputs);
  IRMapping mapping;
  Block *body = kernel.getBodyBlock();
  for (auto [outside, inside] : llvm::zip(parts.inputs, body->getArguments()))
    mapping.map(outside, inside);
  builder.setInsertionPointToEnd(body);
  for (Operation *op : parts.ops) {
    for (Value operand : op->getOperands())
      makeAnew(builder, operand, mapping);
    for (Value value : capturedBy(op))
      makeAnew(builder, value, mapping);
    Operation *clone = builder.clone(*op, mapping);
    if (auto product = dyn_cast<KernelOp>(clone))
      product.setScheduleAttr(byPanels(product, group.tile, target));
  }
  SmallVector<Value> yielded;
  for (Value result : parts.results)
    yielded.push_back(mapping.lookup(result));
  if (hasScratch)
    yielded.push_back(body->getArguments().back());
  KernelYieldOp::create(builder, loc, yielded);
  bool isInOrder = true;
  for (auto [result, replacement] :
       llvm::zip(parts.results, kernel.getResults()))
    result.replaceUsesWithIf(replacement, [&](OpOperand &use) {
      if (group.ops.contains(use.getOwner()))
        return false;
      isInOrder &= kernel->isBeforeInBlock(
          kernel->getBlock()->findAncestorOpInBlock(*use.getOwner()));
      return true;
    });
  for (Operation *op : llvm::reverse(parts.ops))
    op->erase();
  if (!isInOrder)
    sortTopologically(kernel->getBlock());
}

} // namespace onnxc
