// A shape or axes of a length that nobody knows have the one that the model's
// declared rank asks for; the run checks it.
//
// A Squeeze without axes takes away what has size 1 in the run. Sizes that are
// not known yet are taken for others; a run where one is 1 ends with an error.
//
// Behind an If whose branches yield different ranks nobody knows a rank. The
// rest of the block moves into both branches, where everybody does. Conditions
// that ask for the rank again are folded between the rounds, so that copies of
// copies stay few.
#include "dialects/onnx/Composite.h"
#include "dialects/onnx/Families.h"
#include "dialects/onnx/Graph.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace onnxc {
#define GEN_PASS_DEF_SPECIALIZERANKS
#include "lowering/Passes.h.inc"

using namespace mlir;

namespace {

constexpr int mostRounds = 64;
// Copies may multiply; models in use stay far below.
constexpr int64_t mostOperations = 100000;

bool isUnranked(Value value) {
  return isa<UnrankedTensorType>(value.getType());
}

bool isOfUnknownRank(IfOp op) {
  return llvm::any_of(op.getResults(), isUnranked);
}

// Whether more than the end of the block depends on `op`. What an If at the end
// of a branch yields is the business of the If around it.
bool isFollowed(IfOp op) {
  Operation *end = op->getBlock()->getTerminator();
  return llvm::any_of(op->getUsers(),
                      [&](Operation *user) { return user != end; });
}

// Inner ones come first, and those that others depend on.
IfOp firstToSplit(Operation *root) {
  IfOp found;
  root->walk([&](IfOp op) {
    if (!isOfUnknownRank(op) || !isFollowed(op))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

// What follows `op` in its block and depends on it; the others go before it.
SmallVector<Operation *> dependents(IfOp op) {
  DenseSet<Operation *> depending = {op};
  SmallVector<Operation *> rest;
  Block *block = op->getBlock();
  for (Operation &other : llvm::make_early_inc_range(llvm::make_range(
           std::next(Block::iterator(op)), std::prev(block->end())))) {
    bool depends = false;
    other.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *def = operand.getDefiningOp())
          depends |= depending.contains(def);
    });
    if (!depends) {
      other.moveBefore(op);
      continue;
    }
    depending.insert(&other);
    rest.push_back(&other);
  }
  return rest;
}

void sinkInto(Region &branch, IfOp op, ArrayRef<Operation *> rest,
              ArrayRef<Value> outputs) {
  Operation *yield = branch.front().getTerminator();
  IRMapping mapping;
  mapping.map(op->getResults(), yield->getOperands());
  OpBuilder builder(yield);
  for (Operation *other : rest)
    builder.clone(*other, mapping);
  SmallVector<Value> yielded = llvm::map_to_vector(
      outputs, [&](Value output) { return mapping.lookup(output); });
  YieldOp::create(builder, op.getLoc(), yielded);
  yield->erase();
}

void sinkRest(IfOp op) {
  SmallVector<Operation *> rest = dependents(op);
  Operation *end = op->getBlock()->getTerminator();
  DenseSet<Operation *> moved(rest.begin(), rest.end());
  moved.insert(op);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : end->getOpOperands())
    if (moved.contains(use.get().getDefiningOp()))
      uses.push_back(&use);
  SmallVector<Value> outputs =
      llvm::map_to_vector(uses, [](OpOperand *use) { return use->get(); });
  OpBuilder builder(op);
  OperationState state(op.getLoc(), op->getName());
  state.addOperands(op->getOperands());
  state.addTypes(ValueRange(outputs).getTypes());
  for (Region &branch : op->getRegions()) {
    sinkInto(branch, op, rest, outputs);
    state.addRegion()->takeBody(branch);
  }
  Operation *whole = builder.create(state);
  for (auto [use, result] : llvm::zip_equal(uses, whole->getResults()))
    use->set(result);
  for (Operation *other : llvm::reverse(rest))
    other->erase();
  op->erase();
}

// Ends a block of its own for `If`.
void yieldIn(OperationState &state, OpBuilder &builder,
             llvm::function_ref<Value()> made) {
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(state.addRegion());
  YieldOp::create(builder, state.location, made());
}

void nameAxes(SqueezeOp op) {
  OpBuilder builder(op);
  Graph graph(builder, op.getLoc());
  Node x(graph, op.getData()), hasOne;
  SmallVector<int64_t> axes;
  for (auto [dim, size] : llvm::enumerate(
           cast<RankedTensorType>(op.getData().getType()).getShape())) {
    if (size == 1)
      axes.push_back(dim);
    if (!ShapedType::isDynamic(size))
      continue;
    Node isOne = scalar(sizeOf(x, dim)) == 1;
    hasOne = hasOne.given() ? hasOne || isOne : isOne;
  }
  OperationState state(op.getLoc(), IfOp::getOperationName());
  state.addOperands(hasOne.value);
  Type type;
  yieldIn(state, builder, [&] {
    Value y = squeeze(x, axes).value;
    type = y.getType();
    return y;
  });
  yieldIn(state, builder, [&]() -> Value {
    return FailOp::create(builder, op.getLoc(), TypeRange(type),
                          "a size that Squeeze without axes does not take for "
                          "1 is 1; fix it with --shape or --dim")
        .getResult(0);
  });
  std::swap(state.regions[0], state.regions[1]);
  state.addTypes(type);
  op.replaceAllUsesWith(builder.create(state)->getResult(0));
  op.erase();
}

// Whether there were any.
bool nameAllAxes(Operation *root) {
  SmallVector<SqueezeOp> open;
  root->walk([&](SqueezeOp op) {
    if (!op.getAxes() && isUnranked(op.getResult()) &&
        !isUnranked(op.getData()))
      open.push_back(op);
  });
  for (SqueezeOp op : open)
    nameAxes(op);
  return !open.empty();
}

// Whether the operation has that rank with another list; then it does from now
// on.
bool tryList(Operation *op, OpOperand &list, Value other, int64_t rank) {
  Value old = list.get();
  list.set(other);
  SmallVector<Type> types;
  ScopedDiagnosticHandler silent(op->getContext(),
                                 [](Diagnostic &) { return success(); });
  bool fits = succeeded(cast<InferTypeOpInterface>(op).inferReturnTypes(
                  op->getContext(), op->getLoc(), op->getOperands(),
                  op->getDiscardableAttrDictionary(),
                  op->getPropertiesStorage(), op->getRegions(), types)) &&
              types.size() == 1 && isa<RankedTensorType>(types[0]) &&
              cast<RankedTensorType>(types[0]).getRank() == rank;
  if (fits)
    op->getResult(0).setType(types[0]);
  else
    list.set(old);
  return fits;
}

// Whether the operation has that rank if the list has a certain length, which
// the run checks then.
bool tryLengths(Operation *op, OpOperand &list, int64_t rank) {
  OpBuilder builder(op);
  Graph graph(builder, op->getLoc());
  Node given(graph, list.get());
  StringRef name = cast<OnnxOpInterface>(op)
                       .getRecord()
                       .operands[list.getOperandNumber()]
                       .name;
  int64_t most = std::max(rank, rankOf(op->getOperand(0)));
  for (int64_t count = most; count >= 0; --count)
    if (tryList(op, list, ofLength(given, count, name).value, rank))
      return true;
  return false;
}

// A shape that may be shorter than what it expands begins with ones.
bool tryShorterShape(ExpandOp op, int64_t rank) {
  if (rankOf(op.getInput()) != rank)
    return false;
  OpBuilder builder(op);
  Graph graph(builder, op.getLoc());
  Node shape(graph, op.getShape()), missing = rank - sizeOf(shape, 0);
  shape = require(shape, missing >= 0,
                  {Status::Shape, "shape", "is longer than the result's rank"});
  shape = concat({expand(graph.ints(1), missing), shape}, 0);
  return tryList(op, op.getShapeMutable(), reshape(shape, {rank}).value, rank);
}

// As many positions in an index as leave that rank.
bool tryDepth(GatherNDOp op, int64_t rank) {
  OpBuilder builder(op);
  Graph graph(builder, op.getLoc());
  Node indices(graph, op.getIndices());
  int64_t outer = rankOf(indices) - 1;
  int64_t depth = outer + rankOf(op.getData()) - op.getBatchDims() - rank;
  if (outer < 0 || depth < 0)
    return false;
  indices = require(indices, sizeOf(indices, outer) == depth,
                    {Status::Shape, "indices", "do not fit the result's rank"});
  SmallVector<int64_t> sizes(outer, 0);
  sizes.push_back(depth);
  return tryList(op, op.getIndicesMutable(), reshape(indices, sizes).value,
                 rank);
}

// Reductions take any number of axes in a run.
void declareRank(ReductionOpInterface op, int64_t rank) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  op->getResult(0).setType(tensorOf(Shape(rank), element));
}

bool isOpenList(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getRank() == 1 && type.isDynamicDim(0) &&
         type.getElementType().isInteger(64);
}

bool takeRank(Operation *op, int64_t rank) {
  if (auto reduction = dyn_cast<ReductionOpInterface>(op)) {
    declareRank(reduction, rank);
    return true;
  }
  if (auto gather = dyn_cast<GatherNDOp>(op))
    return tryDepth(gather, rank);
  for (OpOperand &list : op->getOpOperands())
    if (isOpenList(list.get()) &&
        ((isa<ExpandOp>(op) && tryShorterShape(cast<ExpandOp>(op), rank)) ||
         tryLengths(op, list, rank)))
      return true;
  return false;
}

// A shape or axes of unknown number have as many as the rank that the model
// declares asks for. Whether there was such an operation.
bool takeDeclaredRank(Operation *root) {
  WalkResult found = root->walk([](Operation *op) {
    auto rank = op->getAttrOfType<IntegerAttr>(rankAttrName);
    bool isOpen = rank && isUnranked(op->getResult(0)) &&
                  llvm::all_of(op->getOperands(), isRanked);
    return isOpen && takeRank(op, rank.getInt()) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
  });
  return found.wasInterrupted();
}

struct SpecializeRanks : impl::SpecializeRanksBase<SpecializeRanks> {
  void runOnOperation() override {
    OpPassManager fold(ModuleOp::getOperationName());
    fold.addPass(createInferShapes());
    fold.addPass(createCanonicalizerPass());
    for (int round = 0; round < mostRounds && takeDeclaredRank(getOperation());
         ++round)
      if (failed(runPipeline(fold, getOperation())))
        return signalPassFailure();
    // What follows one may end in another.
    for (int round = 0; round < mostRounds && nameAllAxes(getOperation());
         ++round)
      if (failed(runPipeline(fold, getOperation())))
        return signalPassFailure();
    for (int round = 0; round < mostRounds; ++round) {
      IfOp op = firstToSplit(getOperation());
      int64_t operations = 0;
      getOperation().walk([&](Operation *) { ++operations; });
      if (!op || operations > mostOperations)
        break;
      sinkRest(op);
      if (failed(runPipeline(fold, getOperation())))
        return signalPassFailure();
    }
    getOperation().walk([&](IfOp op) {
      if (!isOfUnknownRank(op))
        return WalkResult::advance();
      op.emitError("branches that differ in rank are not supported here; fix "
                   "the sizes that decide with --shape or --dim");
      signalPassFailure();
      return WalkResult::advance();
    });
  }
};

} // namespace
} // namespace onnxc
