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

// Fails where something else reads one of them, too.
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
  return prefix;
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

void splitNarrowEpilogue(GenericOp root, const LoopRoles &roles,
                         int64_t lanes) {
  if (!root.getResult(0).hasOneUse())
    return;
  OpOperand *sum = &*root.getResult(0).getUses().begin();
  auto next = dyn_cast<GenericOp>(sum->getOwner());
  if (!next || !isElementwise(next) || !next.isDpsInput(sum) ||
      !next.getMatchingIndexingMap(sum).isIdentity() ||
      next.hasIndexSemantics() || next.getNumDpsInits() != 1 ||
      next.payloadUsesValueFromOperand(next.getDpsInitOperand(0)) ||
      !next.getIndexingMapsArray().back().isIdentity())
    return;
  FailureOr<Prefix> prefix = prefixOf(next, sum);
  if (failed(prefix) || prefix->ops.empty() ||
      !wastes(weightOf(next) - prefix->ops.size(), root, roles, lanes))
    return;
  ImplicitLocOpBuilder b(next.getLoc(), next);
  SmallVector<OpOperand *> rest = next.getDpsInputOperands();
  llvm::erase_if(rest, [&](OpOperand *input) {
    return llvm::is_contained(prefix->inputs, input);
  });
  auto valuesOf = [](ArrayRef<OpOperand *> operands) {
    return llvm::map_to_vector(
        operands, [](OpOperand *operand) { return operand->get(); });
  };
  auto mapped = [&](ArrayRef<OpOperand *> operands, ValueRange elements) {
    IRMapping mapping;
    for (auto [operand, element] : llvm::zip(operands, elements))
      mapping.map(next.getMatchingBlockArgument(operand), element);
    return mapping;
  };
  Value place = tensor::EmptyOp::create(
      b, tensor::getMixedSizes(b, b.getLoc(), sum->get()),
      prefix->result.getType());
  GenericOp first =
      elementwise(b, next, prefix->inputs, valuesOf(prefix->inputs), place,
                  [&](OpBuilder &inside, ValueRange elements) {
                    IRMapping mapping = mapped(prefix->inputs, elements);
                    for (Operation *op : prefix->ops)
                      inside.clone(*op, mapping);
                    return mapping.lookup(prefix->result);
                  });
  // The sum's own map is the identity, so is that of what was made of it.
  SmallVector<OpOperand *> operands = {sum};
  llvm::append_range(operands, rest);
  SmallVector<Value> inputs = {first.getResult(0)};
  llvm::append_range(inputs, valuesOf(rest));
  GenericOp second =
      elementwise(b, next, operands, inputs, next.getDpsInits()[0],
                  [&](OpBuilder &inside, ValueRange elements) {
                    IRMapping mapping = mapped(rest, elements.drop_front());
                    mapping.map(prefix->result, elements.front());
                    for (Operation &op : next.getBody()->without_terminator())
                      if (!llvm::is_contained(prefix->ops, &op))
                        inside.clone(op, mapping);
                    return mapping.lookupOrDefault(
                        next.getBody()->getTerminator()->getOperand(0));
                  });
  next->replaceAllUsesWith(second->getResults());
  next->erase();
}

} // namespace onnxc
