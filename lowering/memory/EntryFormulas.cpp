#include "lowering/memory/EntryFormulas.h"
#include "lowering/memory/Signature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace onnxc {
namespace {

bool isScalar(Type type) { return type.isIntOrIndex(); }

// Integer arithmetic. A division counts although it must not be moved as it is:
// rebuild() guards its divisor.
bool isScalarFormula(Operation *op) {
  return op && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         isScalar(op->getResult(0).getType()) && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperandTypes(), isScalar);
}

bool isDivision(Operation *op) {
  return isa<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp,
             arith::CeilDivUIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
}

struct SizeOf {
  Value shaped;
  int64_t dim;
};

std::optional<SizeOf> asSize(Operation *op) {
  if (!isa_and_nonnull<tensor::DimOp, memref::DimOp>(op))
    return std::nullopt;
  std::optional<int64_t> dim = getConstantIntValue(op->getOperand(1));
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto buffer = dyn_cast<MemRefType>(op->getOperand(0).getType());
  int64_t rank = type ? type.getRank() : buffer ? buffer.getRank() : 0;
  if (!dim || *dim < 0 || *dim >= rank)
    return std::nullopt;
  return SizeOf{op->getOperand(0), *dim};
}

// What a loop starts with, hands from iteration to iteration and returns.
struct Carried {
  scf::ForOp loop;
  unsigned number;
};

std::optional<Carried> asCarried(Value value) {
  if (auto result = dyn_cast<OpResult>(value)) {
    auto loop = dyn_cast<scf::ForOp>(result.getOwner());
    return loop ? std::optional<Carried>({loop, result.getResultNumber()})
                : std::nullopt;
  }
  auto argument = cast<BlockArgument>(value);
  auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument == loop.getInductionVar())
    return std::nullopt;
  return Carried{loop, argument.getArgNumber() - loop.getNumInductionVars()};
}

} // namespace

bool isKnownAtEntry(Value value) {
  SmallVector<Value> open = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!seen.insert(next).second)
      continue;
    if (std::optional<SizeOf> size = asSize(op)) {
      if (!isInput(size->shaped))
        return false;
      continue;
    }
    if (!isScalarFormula(op))
      return false;
    llvm::append_range(open, op->getOperands());
  }
  return true;
}

Value EntryFormulas::sizeOf(Value shaped, int64_t dim) {
  auto type = cast<ShapedType>(shaped.getType());
  Location loc = shaped.getLoc();
  if (!type.isDynamicDim(dim))
    return arith::ConstantIndexOp::create(builder, loc, type.getDimSize(dim));
  if (isInput(shaped))
    return inputSize(cast<BlockArgument>(shaped), dim);
  if (std::optional<Carried> carried = asCarried(shaped))
    return carriedSize(carried->loop, carried->number, dim);
  auto result = dyn_cast<OpResult>(shaped);
  if (!result)
    return {};
  Operation *op = result.getOwner();
  if (auto branches = dyn_cast<scf::IfOp>(op))
    return branchSize(branches, result.getResultNumber(), dim);
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return sizeOf(destination.getTiedOpOperand(result)->get(), dim);
  // What reification builds uses values next to `op`; valueOf() rebuilds it.
  OpBuilder beside(op->getContext(), &reified);
  beside.setInsertionPoint(op);
  FailureOr<OpFoldResult> size =
      reifyDimOfResult(beside, op, result.getResultNumber(), dim);
  if (failed(size))
    return {};
  return valueOf(getValueOrCreateConstantIndexOp(beside, loc, *size));
}

void EntryFormulas::eraseReified() {
  for (Operation *op : llvm::reverse(reified.ops))
    if (op->use_empty())
      op->erase();
}

Value EntryFormulas::branchSize(scf::IfOp branches, unsigned number,
                                int64_t dim) {
  Value condition = valueOf(branches.getCondition());
  if (!condition)
    return {};
  Value yes = sizeOf(branches.thenYield().getResults()[number], dim);
  Value no =
      yes ? sizeOf(branches.elseYield().getResults()[number], dim) : Value();
  return no ? builder.createOrFold<arith::SelectOp>(branches.getLoc(),
                                                    condition, yes, no)
            : Value();
}

// A loop keeps a size if an iteration that starts with it ends with it. What
// else was found while that was taken for granted falls with it.
Value EntryFormulas::carriedSize(scf::ForOp loop, unsigned number,
                                 int64_t dim) {
  auto key = std::make_tuple(loop.getOperation(), number, dim);
  if (auto known = carried.find(key); known != carried.end())
    return known->second;
  Value first = sizeOf(loop.getInitArgs()[number], dim);
  auto valuesBefore = values;
  auto carriedBefore = carried;
  carried[key] = first;
  if (!first || sizeOf(loop.getYieldedValues()[number], dim) == first)
    return first;
  values = std::move(valuesBefore);
  carried = std::move(carriedBefore);
  return carried[key] = {};
}

Value EntryFormulas::valueOf(Value value) {
  if (auto known = values.find(value); known != values.end())
    return known->second;
  Value rebuilt = rebuild(value);
  values[value] = rebuilt;
  return rebuilt;
}

Value EntryFormulas::rebuild(Value value) {
  Operation *op = value.getDefiningOp();
  if (std::optional<SizeOf> size = asSize(op))
    return sizeOf(size->shaped, size->dim);
  if (!isScalarFormula(op))
    return {};
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    Value known = valueOf(operand);
    if (!known)
      return {};
    mapping.map(operand, known);
  }
  // At its old place a condition may have kept a zero away.
  if (isDivision(op)) {
    Value divisor = mapping.lookup(op->getOperand(1));
    Location loc = op->getLoc();
    Value one = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(divisor.getType(), 1));
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(divisor.getType(), 0));
    Value isZero = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         divisor, zero);
    mapping.map(op->getOperand(1),
                arith::SelectOp::create(builder, loc, isZero, one, divisor));
  }
  Operation *rebuilt = builder.clone(*op, mapping);
  if (observer)
    observer(rebuilt);
  return rebuilt->getResult(0);
}

} // namespace onnxc
