#include "lowering/loops/NarrowEpilogues.h"
#include "lowering/loops/LaneBody.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using linalg::GenericOp;

namespace onnxc {

// Instructions of a vector that is stored and read once more.
static constexpr int64_t costOfPass = 6;
// Of less than so many vectors a pass is not worth its call.
static constexpr int64_t fewestVectors = 4;

static bool wastes(unsigned weight, GenericOp root, const LoopRoles &roles,
                   int64_t lanes) {
  int64_t columns = root.getStaticLoopRanges()[roles.vector];
  auto result = cast<RankedTensorType>(root.getResult(0).getType());
  if (ShapedType::isDynamic(columns) || columns % lanes == 0 ||
      (result.hasStaticShape() &&
       result.getNumElements() < fewestVectors * lanes))
    return false;
  int64_t all = llvm::alignTo(columns, lanes);
  return weight * (all - columns) >= costOfPass * all;
}

bool wastesLanes(GenericOp next, GenericOp root, const LoopRoles &roles,
                 int64_t lanes) {
  return wastes(weightOf(next), root, roles, lanes);
}

namespace {

// What the body of an epilogue does first: the sum with what its columns read.
struct Prefix {
  SmallVector<Operation *> ops;
  SmallVector<OpOperand *> inputs; // the sum, and operands of columns
  Value result;
};

// Fails where something else reads one of them, too, and where the result has
// no bytes to be stored as.
FailureOr<Prefix> prefixOf(GenericOp next, OpOperand *sum) {
  Prefix prefix{{}, {sum}, next.getMatchingBlockArgument(sum)};
  llvm::SmallPtrSet<Value, 4> columns;
  for (OpOperand *input : next.getDpsInputOperands()) {
    AffineMap map = next.getMatchingIndexingMap(input);
    if (map.isPermutation() || map.getNumResults() == 0 ||
        !next.payloadUsesValueFromOperand(input))
      continue;
    prefix.inputs.push_back(input);
    columns.insert(next.getMatchingBlockArgument(input));
  }
  while (!columns.empty()) {
    if (!prefix.result.hasOneUse())
      return failure();
    Operation *op = *prefix.result.user_begin();
    if (op->getNumResults() != 1)
      return failure();
    for (Value operand : op->getOperands()) {
      bool isColumn = columns.contains(operand) && operand.hasOneUse();
      if (operand != prefix.result && !isColumn)
        return failure();
      columns.erase(operand);
    }
    prefix.ops.push_back(op);
    prefix.result = op->getResult(0);
  }
  if (prefix.result.getType().isInteger(1))
    return failure();
  return prefix;
}

SmallVector<Value> valuesOf(ArrayRef<OpOperand *> operands) {
  return llvm::map_to_vector(operands,
                             [](OpOperand *operand) { return operand->get(); });
}

IRMapping mapped(GenericOp next, ArrayRef<OpOperand *> operands,
                 ValueRange elements) {
  IRMapping mapping;
  for (auto [operand, element] : llvm::zip(operands, elements))
    mapping.map(next.getMatchingBlockArgument(operand), element);
  return mapping;
}

// A generic on `inputs` with the indexing maps that `next` has for them.
GenericOp elementwise(ImplicitLocOpBuilder &b, GenericOp next,
                      ArrayRef<OpOperand *> operands, ValueRange inputs,
                      Value output,
                      llvm::function_ref<Value(OpBuilder &, ValueRange)> body) {
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : operands)
    maps.push_back(next.getMatchingIndexingMap(operand));
  maps.push_back(next.getIndexingMapsArray().back());
  return GenericOp::create(
      b, output.getType(), inputs, output, maps, next.getIteratorTypesArray(),
      [&](OpBuilder &inside, Location loc, ValueRange elements) {
        linalg::YieldOp::create(inside, loc, body(inside, elements));
      });
}

} // namespace

// The only operation that reads the result of `root`, element by element and in
// its order, by `sum`; null where there is none.
static GenericOp behind(GenericOp root, OpOperand *&sum) {
  if (!root.getResult(0).hasOneUse())
    return {};
  sum = &*root.getResult(0).getUses().begin();
  auto next = dyn_cast<GenericOp>(sum->getOwner());
  bool isPlain = next && isElementwise(next) && next.isDpsInput(sum) &&
                 !next.hasIndexSemantics() && next.getNumDpsInits() == 1 &&
                 next.getMatchingIndexingMap(sum).isIdentity() &&
                 next.getIndexingMapsArray().back().isIdentity() &&
                 !next.payloadUsesValueFromOperand(next.getDpsInitOperand(0));
  return isPlain ? next : GenericOp();
}

// What `next` does up to the prefix' result.
static GenericOp first(ImplicitLocOpBuilder &b, GenericOp next,
                       const Prefix &prefix) {
  Value place = tensor::EmptyOp::create(
      b, tensor::getMixedSizes(b, b.getLoc(), prefix.inputs.front()->get()),
      prefix.result.getType());
  return elementwise(b, next, prefix.inputs, valuesOf(prefix.inputs), place,
                     [&](OpBuilder &inside, ValueRange elements) {
                       IRMapping mapping =
                           mapped(next, prefix.inputs, elements);
                       for (Operation *op : prefix.ops)
                         inside.clone(*op, mapping);
                       return mapping.lookup(prefix.result);
                     });
}

// What it does with that, which is `done`.
static GenericOp rest(ImplicitLocOpBuilder &b, GenericOp next,
                      const Prefix &prefix, Value done) {
  SmallVector<OpOperand *> others = next.getDpsInputOperands();
  llvm::erase_if(others, [&](OpOperand *input) {
    return llvm::is_contained(prefix.inputs, input);
  });
  // The sum's own map is the identity, so is that of what was made of it.
  SmallVector<OpOperand *> operands = {prefix.inputs.front()};
  llvm::append_range(operands, others);
  SmallVector<Value> inputs = {done};
  llvm::append_range(inputs, valuesOf(others));
  Operation *yield = next.getBody()->getTerminator();
  return elementwise(
      b, next, operands, inputs, next.getDpsInits()[0],
      [&](OpBuilder &inside, ValueRange elements) {
        IRMapping mapping = mapped(next, others, elements.drop_front());
        mapping.map(prefix.result, elements.front());
        for (Operation &op : next.getBody()->without_terminator())
          if (!llvm::is_contained(prefix.ops, &op))
            inside.clone(op, mapping);
        return mapping.lookupOrDefault(yield->getOperand(0));
      });
}

void splitNarrowEpilogue(GenericOp root, const LoopRoles &roles,
                         int64_t lanes) {
  OpOperand *sum = nullptr;
  GenericOp next = behind(root, sum);
  FailureOr<Prefix> prefix =
      next ? prefixOf(next, sum) : FailureOr<Prefix>(failure());
  if (failed(prefix) || prefix->ops.empty() ||
      !wastes(weightOf(next) - prefix->ops.size(), root, roles, lanes))
    return;
  ImplicitLocOpBuilder b(next.getLoc(), next);
  GenericOp begun = first(b, next, *prefix);
  next->replaceAllUsesWith(rest(b, next, *prefix, begun.getResult(0)));
  next->erase();
}

} // namespace onnxc
