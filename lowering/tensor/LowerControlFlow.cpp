// If, Loop and Scan become scf. Subgraphs are inlined as they are: what they
// yield is cast to the type that holds every iteration's or branch's value. A
// carried value of fixed shape is written into the memory that carries it, so
// that a loop allocates nothing; one whose shape changes is whatever buffer the
// body made.
#include "dialects/onnx/Families.h"
#include "lowering/Passes.h"
#include "lowering/tensor/Inputs.h"
#include "lowering/tensor/ScanOutput.h"

using namespace mlir;

namespace onnxc {

#define GEN_PASS_DEF_LOWERCONTROLFLOW
#include "lowering/Passes.h.inc"

namespace {

Value cast(ImplicitLocOpBuilder &builder, Value value, Type type) {
  return value.getType() == type
             ? value
             : tensor::CastOp::create(builder, type, value).getResult();
}

Value index(ImplicitLocOpBuilder &builder, int64_t value) {
  return arith::ConstantIndexOp::create(builder, value);
}

// The one element of a tensor.
Value element(ImplicitLocOpBuilder &builder, Value tensor) {
  auto type = mlir::cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> first(type.getRank(), index(builder, 0));
  return tensor::ExtractOp::create(builder, tensor, first);
}

// Any byte but 0 is true.
Value isTrue(ImplicitLocOpBuilder &builder, Value tensor) {
  Value value = element(builder, tensor);
  Value zero = arith::ConstantOp::create(
      builder, builder.getIntegerAttr(value.getType(), 0));
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, value, zero);
}

Value scalarTensor(ImplicitLocOpBuilder &builder, Value value, Type type) {
  auto tensor = mlir::cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(builder, element, value);
  else if (value.getType() != element)
    value = arith::ExtUIOp::create(builder, element, value);
  return tensor::FromElementsOp::create(builder, tensor, value);
}

bool isConstantTrue(Value tensor) {
  DenseElementsAttr value;
  return matchPattern(tensor, m_Constant(&value)) && value.isSplat() &&
         !value.getSplatValue<APInt>().isZero();
}

//===-- If ----------------------------------------------------------------===//

void moveBranch(Region &from, Region &to, TypeRange types) {
  to.takeBody(from);
  auto end = mlir::cast<YieldOp>(to.front().getTerminator());
  ImplicitLocOpBuilder builder(end.getLoc(), end);
  SmallVector<Value> values;
  for (auto [value, type] : llvm::zip(end.getOutputs(), types))
    values.push_back(cast(builder, value, type));
  scf::YieldOp::create(builder, values);
  end.erase();
}

void lowerIf(IfOp op) {
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  auto branch = scf::IfOp::create(builder, op.getResultTypes(),
                                  isTrue(builder, op.getCond()),
                                  /*addThenBlock=*/false,
                                  /*addElseBlock=*/false);
  moveBranch(op.getThenBranch(), branch.getThenRegion(), op.getResultTypes());
  moveBranch(op.getElseBranch(), branch.getElseRegion(), op.getResultTypes());
  op.replaceAllUsesWith(branch.getResults());
  op.erase();
}

//===-- Loops -------------------------------------------------------------===//

// What Loop and Scan share: values carried with the types that the body takes,
// then one stack for each scan output.
struct LoopValues {
  SmallVector<Value> carried;
  SmallVector<ScanOutput> scans;

  SmallVector<Value> initial(ImplicitLocOpBuilder &builder) const {
    SmallVector<Value> values = carried;
    for (const ScanOutput &scan : scans)
      values.push_back(scan.create(builder));
    return values;
  }
};

// Moves the body's operations to the insertion point; returns what it yields.
SmallVector<Value> inlineBody(ImplicitLocOpBuilder &builder, Region &body,
                              ValueRange arguments) {
  Block &block = body.front();
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    argument.replaceAllUsesWith(cast(builder, value, argument.getType()));
  Operation *end = block.getTerminator();
  SmallVector<Value> yielded(end->getOperands());
  end->erase();
  builder.getBlock()->getOperations().splice(builder.getInsertionPoint(),
                                             block.getOperations());
  return yielded;
}

// The next values of an iteration, in the order of LoopValues.
SmallVector<Value> nextValues(ImplicitLocOpBuilder &builder,
                              const LoopValues &loop, ValueRange current,
                              ValueRange yielded, Value iteration) {
  SmallVector<Value> next;
  size_t states = loop.carried.size();
  // Slices first: one may be a state that is about to be overwritten.
  SmallVector<Value> stacks;
  for (auto [scan, stack, value] : llvm::zip(
           loop.scans, current.drop_front(states), yielded.drop_front(states)))
    stacks.push_back(scan.insert(builder, stack, value, iteration));
  for (size_t i = 0; i < states; ++i) {
    auto type = mlir::cast<RankedTensorType>(current[i].getType());
    Value value = cast(builder, yielded[i], type);
    if (type.hasStaticShape() && value != current[i])
      value = linalg::CopyOp::create(builder, value, current[i]).getResult(0);
    next.push_back(value);
  }
  next.append(stacks);
  return next;
}

// Casts carried values and stacks to the results' types.
void replaceResults(ImplicitLocOpBuilder &builder, Operation *op,
                    const LoopValues &loop, ValueRange values, Value count) {
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    size_t scan = i - loop.carried.size();
    Value value = i < loop.carried.size()
                      ? values[i]
                      : loop.scans[scan].finish(builder, values[i], count);
    result.replaceAllUsesWith(cast(builder, value, result.getType()));
  }
  op->erase();
}

// The first of the scanned inputs says how often the body runs.
LogicalResult requireEqualLengths(ImplicitLocOpBuilder &builder, ScanOp op,
                                  ValueRange scanned, ArrayRef<int64_t> axes) {
  Index count = sizeOf(builder, scanned[0], axes[0]);
  for (size_t i = 1; i < scanned.size(); ++i)
    if (failed(require(builder, sizeOf(builder, scanned[i], axes[i]) == count,
                       Status::Shape, op, "scanned inputs differ in length",
                       "initial_state_and_scan_inputs")))
      return failure();
  return success();
}

LogicalResult lowerScan(ScanOp op) {
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  Block &body = op.getBody().front();
  size_t states = op.getInputs().size() - op.getNumScanInputs();
  ValueRange scanned = op.getInputs().drop_front(states);
  SmallVector<int64_t> axes;
  for (auto [i, input] : llvm::enumerate(scanned))
    axes.push_back(op.inputAxis(i, rankOf(input)));
  if (failed(requireEqualLengths(builder, op, scanned, axes)))
    return failure();
  Value count = builder.createOrFold<tensor::DimOp>(scanned[0], axes[0]);

  LoopValues loop;
  for (size_t i = 0; i < states; ++i)
    loop.carried.push_back(
        cast(builder, op.getInputs()[i], body.getArgument(i).getType()));
  Operation *end = body.getTerminator();
  for (auto [i, slice] :
       llvm::enumerate(end->getOperands().drop_front(states))) {
    auto type = mlir::cast<RankedTensorType>(slice.getType());
    loop.scans.push_back({type, op.outputAxis(i, type.getRank() + 1),
                          op.isOutputReversed(i), count, op});
  }

  auto iterate = [&](OpBuilder &inner, Location loc, Value iteration,
                     ValueRange current) {
    ImplicitLocOpBuilder block(loc, inner);
    SmallVector<Value> arguments(current.take_front(states));
    for (auto [i, input] : llvm::enumerate(scanned)) {
      Value position = iteration;
      if (op.isInputReversed(i)) {
        Value last = arith::SubIOp::create(block, count, index(block, 1));
        position = arith::SubIOp::create(block, last, iteration);
      }
      SmallVector<OpFoldResult> sizes =
          tensor::getMixedSizes(block, loc, input);
      SmallVector<OpFoldResult> offsets(sizes.size(), block.getIndexAttr(0));
      SmallVector<OpFoldResult> ones(sizes.size(), block.getIndexAttr(1));
      offsets[axes[i]] = position;
      sizes[axes[i]] = block.getIndexAttr(1);
      auto whole = mlir::cast<RankedTensorType>(input.getType());
      SmallVector<int64_t> shape(whole.getShape());
      shape.erase(shape.begin() + axes[i]);
      arguments.push_back(tensor::ExtractSliceOp::create(
          block, RankedTensorType::get(shape, whole.getElementType()), input,
          offsets, sizes, ones));
    }
    SmallVector<Value> yielded = inlineBody(block, op.getBody(), arguments);
    scf::YieldOp::create(block,
                         nextValues(block, loop, current, yielded, iteration));
  };
  auto run =
      scf::ForOp::create(builder, index(builder, 0), count, index(builder, 1),
                         loop.initial(builder), iterate);
  replaceResults(builder, op, loop, run.getResults(), count);
  return success();
}

// Whether only the count ends the loop.
bool runsToItsCount(LoopOp op) {
  Value next = op.getBody().front().getTerminator()->getOperand(0);
  bool keepsCondition =
      isConstantTrue(next) || next == op.getBody().front().getArgument(1);
  return op.getM() && keepsCondition &&
         (!op.getCond() || isConstantTrue(op.getCond()));
}

LoopValues loopValues(ImplicitLocOpBuilder &builder, LoopOp op, Value count) {
  Block &body = op.getBody().front();
  LoopValues loop;
  for (auto [initial, argument] :
       llvm::zip(op.getVInitial(), body.getArguments().drop_front(2)))
    loop.carried.push_back(cast(builder, initial, argument.getType()));
  size_t states = loop.carried.size();
  for (Value slice : body.getTerminator()->getOperands().drop_front(1 + states))
    loop.scans.push_back(
        {mlir::cast<RankedTensorType>(slice.getType()), 0, false, count, op});
  return loop;
}

Value tripCount(ImplicitLocOpBuilder &builder, LoopOp op) {
  Value count = arith::IndexCastOp::create(builder, builder.getIndexType(),
                                           element(builder, op.getM()));
  DenseElementsAttr known;
  if (matchPattern(op.getM(), m_Constant(&known)))
    return index(builder, std::max<int64_t>(
                              0, (*known.value_begin<APInt>()).getSExtValue()));
  return arith::MaxSIOp::create(builder, count, index(builder, 0));
}

void lowerCountedLoop(LoopOp op) {
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  Value count = tripCount(builder, op);
  LoopValues loop = loopValues(builder, op, count);
  auto iterate = [&](OpBuilder &inner, Location loc, Value iteration,
                     ValueRange current) {
    ImplicitLocOpBuilder block(loc, inner);
    Block &body = op.getBody().front();
    Value yes = arith::ConstantIntOp::create(block, 1, 1);
    SmallVector<Value> arguments = {
        scalarTensor(block, iteration, body.getArgument(0).getType()),
        scalarTensor(block, yes, body.getArgument(1).getType())};
    llvm::append_range(arguments, current.take_front(loop.carried.size()));
    SmallVector<Value> yielded = inlineBody(block, op.getBody(), arguments);
    scf::YieldOp::create(block, nextValues(block, loop, current,
                                           ValueRange(yielded).drop_front(),
                                           iteration));
  };
  auto run =
      scf::ForOp::create(builder, index(builder, 0), count, index(builder, 1),
                         loop.initial(builder), iterate);
  replaceResults(builder, op, loop, run.getResults(), count);
}

// Carries the iteration and the condition in front of the loop's own values.
void lowerConditionalLoop(LoopOp op) {
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  Value limit = op.getM() ? tripCount(builder, op) : Value();
  LoopValues loop = loopValues(builder, op, /*count=*/{});
  SmallVector<Value> initial = {
      index(builder, 0),
      op.getCond() ? isTrue(builder, op.getCond())
                   : arith::ConstantIntOp::create(builder, 1, 1).getResult()};
  llvm::append_range(initial, loop.initial(builder));
  auto ask = [&](OpBuilder &inner, Location loc, ValueRange current) {
    Value goesOn = current[1];
    if (limit) {
      Value isBelow = arith::CmpIOp::create(
          inner, loc, arith::CmpIPredicate::slt, current[0], limit);
      goesOn = arith::AndIOp::create(inner, loc, goesOn, isBelow);
    }
    scf::ConditionOp::create(inner, loc, goesOn, current);
  };
  auto iterate = [&](OpBuilder &inner, Location loc, ValueRange current) {
    ImplicitLocOpBuilder block(loc, inner);
    Block &body = op.getBody().front();
    SmallVector<Value> arguments = {
        scalarTensor(block, current[0], body.getArgument(0).getType()),
        scalarTensor(block, current[1], body.getArgument(1).getType())};
    llvm::append_range(arguments,
                       current.drop_front(2).take_front(loop.carried.size()));
    SmallVector<Value> yielded = inlineBody(block, op.getBody(), arguments);
    Value condition = isTrue(block, yielded[0]);
    SmallVector<Value> next = {
        arith::AddIOp::create(block, current[0], index(block, 1)), condition};
    llvm::append_range(next, nextValues(block, loop, current.drop_front(2),
                                        ValueRange(yielded).drop_front(),
                                        current[0]));
    scf::YieldOp::create(block, next);
  };
  SmallVector<Type> types = llvm::to_vector(ValueRange(initial).getTypes());
  auto run = scf::WhileOp::create(builder, types, initial, ask, iterate);
  replaceResults(builder, op, loop, run.getResults().drop_front(2),
                 run.getResult(0));
}

LogicalResult lower(Operation *op) {
  if (auto scan = dyn_cast<ScanOp>(op))
    return lowerScan(scan);
  if (auto branch = dyn_cast<IfOp>(op))
    lowerIf(branch);
  else if (auto loop = mlir::cast<LoopOp>(op); runsToItsCount(loop))
    lowerCountedLoop(loop);
  else
    lowerConditionalLoop(loop);
  return success();
}

LogicalResult checkTypes(Operation *op) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  auto areTensors = [&](TypeRange types) {
    return llvm::all_of(types, isTensor);
  };
  bool fits =
      areTensors(op->getOperandTypes()) && areTensors(op->getResultTypes());
  for (Region &region : op->getRegions())
    fits &= areTensors(region.front().getArgumentTypes()) &&
            areTensors(region.front().getTerminator()->getOperandTypes());
  if (fits)
    return success();
  return op->emitOpError(
      "needs tensors whose ranks are the same in every branch and iteration");
}

// Bufferization finds the type of a carried value by way of the loops in the
// loop: in time that doubles with each.
constexpr int deepestLoops = 16;

LogicalResult checkDepth(Operation *op) {
  int depth = 0;
  for (Operation *loop = op; loop; loop = loop->getParentOp())
    depth += isa<LoopOp, ScanOp>(loop);
  if (depth <= deepestLoops)
    return success();
  return op->emitError("lies in so many loops that it exceeds the budget of ")
         << deepestLoops;
}

struct LowerControlFlow : impl::LowerControlFlowBase<LowerControlFlow> {
  void runOnOperation() override {
    // Outer ones first: the bodies are moved, not cloned.
    SmallVector<Operation *> subgraphs;
    getOperation().walk<WalkOrder::PreOrder>(
        [&](SubgraphOpInterface op) { subgraphs.push_back(op); });
    for (Operation *op : subgraphs)
      if (failed(checkTypes(op)) || failed(checkDepth(op)))
        return signalPassFailure();
    for (Operation *op : subgraphs)
      if (failed(lower(op)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace onnxc
