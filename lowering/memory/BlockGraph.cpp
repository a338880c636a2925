// Which tensors share memory is bufferization's to decide, later and at length.
// Here, its rules are asked what it would like to do: views are where the
// viewed is, what has one user is overwritten by it, and parts of a
// concatenation lie in it.
#include "lowering/memory/BlockGraph.h"
#include "lowering/Estimate.h"
#include "lowering/memory/ArenaFormula.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/SubsetOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/SetOperations.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using bufferization::AnalysisState;
using bufferization::BufferizationOptions;

namespace onnxc {
namespace {

bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

//===-- Memory ------------------------------------------------------------===//

// The buffers that the tensors of a block will lie in.
class TensorMemory {
public:
  TensorMemory(Block &block, int64_t hint);

  // Buffer 0 is all memory from elsewhere.
  unsigned bufferOf(Value tensor) const { return buffers[numberOf(tensor)]; }
  std::vector<uint64_t> bytes; // of each buffer

  // Whether the operation is to overwrite the operand.
  bool isWritten(OpOperand &operand) const {
    return state.bufferizesToMemoryWrite(operand);
  }
  bool isView(Value tensor) const { return viewed.contains(tensor); }
  // The tensor that this one is a view of, by way of other views.
  Value rootOf(Value tensor) const;
  // The same, as long as views are of all elements.
  Value wholeOf(Value tensor) const;

private:
  void number(Block &block);
  void joinWithOperands(Operation *op);
  void placeInDestination(Operation *op);
  void countBytes(Block &block);
  void lendResults(Block &block);

  unsigned numberOf(Value tensor) const { return numbers.lookup(tensor); }
  uint64_t bytesOf(Value tensor);
  int64_t sizeOf(Value size);

  int64_t hint;
  BufferizationOptions options;
  AnalysisState state;
  llvm::DenseMap<Value, unsigned> numbers;
  llvm::IntEqClasses buffers;
  llvm::DenseMap<Value, Value> viewed;
  llvm::DenseSet<Value> overwriting; // what has its memory from an operand
  llvm::DenseSet<Value> placed;      // what lies in a destination
  llvm::DenseMap<Value, int64_t> sizes;
};

TensorMemory::TensorMemory(Block &block, int64_t hint)
    : hint(hint), state(options) {
  number(block);
  for (Operation &op : block.without_terminator()) {
    joinWithOperands(&op);
    placeInDestination(&op);
  }
  buffers.compress();
  countBytes(block);
  lendResults(block);
}

// Constants lie elsewhere, and so does what is to become one buffer for each of
// its users.
void TensorMemory::number(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (matchPattern(&op, m_Constant()) ||
        (isa<tensor::EmptyOp>(op) && !op.hasOneUse()))
      continue;
    for (Value result : op.getResults())
      if (isTensor(result))
        numbers.try_emplace(result, numbers.size() + 1);
  }
  buffers.grow(numbers.size() + 1);
}

void TensorMemory::joinWithOperands(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Value tensor = operand.get();
    if (!isTensor(tensor))
      continue;
    bool overwrites = isWritten(operand);
    if (overwrites && (!numbers.contains(tensor) || !tensor.hasOneUse()))
      continue;
    for (bufferization::AliasingValue alias :
         state.getAliasingValues(operand)) {
      buffers.join(numberOf(tensor), numberOf(alias.value));
      if (overwrites)
        overwriting.insert(alias.value);
      else
        viewed[alias.value] = tensor;
    }
  }
}

void TensorMemory::placeInDestination(Operation *op) {
  auto insertion = dyn_cast<SubsetInsertionOpInterface>(op);
  if (!insertion || !isTensor(insertion.getSourceOperand().get()))
    return;
  Value whole = wholeOf(insertion.getSourceOperand().get());
  if (numbers.contains(whole) && !isView(whole) && placed.insert(whole).second)
    buffers.join(numberOf(whole), numberOf(insertion.getUpdatedDestination()));
}

void TensorMemory::countBytes(Block &block) {
  bytes.resize(buffers.getNumClasses());
  for (Operation &op : block.without_terminator())
    for (Value result : op.getResults())
      if (unsigned buffer = numberOf(result) ? bufferOf(result) : 0;
          buffer && !isView(result) && !overwriting.contains(result))
        bytes[buffer] = std::max(bytes[buffer], bytesOf(result));
}

// What a function returns lies in memory of its caller, but for what loops and
// choices yield: that is often copied there.
void TensorMemory::lendResults(Block &block) {
  Operation *end = block.getTerminator();
  if (!isa<FunctionOpInterface>(end->getParentOp()))
    return;
  for (Value result : end->getOperands())
    if (Value whole = wholeOf(result);
        numbers.contains(whole) && !isView(whole) &&
        !isa<RegionBranchOpInterface>(whole.getDefiningOp()) &&
        bytes[bufferOf(whole)] <= bytesOf(whole))
      bytes[bufferOf(whole)] = 0;
}

Value TensorMemory::rootOf(Value tensor) const {
  while (Value next = viewed.lookup(tensor))
    tensor = next;
  return tensor;
}

Value TensorMemory::wholeOf(Value tensor) const {
  while (Value next = viewed.lookup(tensor)) {
    if (isa<SubsetExtractionOpInterface>(tensor.getDefiningOp()))
      break;
    tensor = next;
  }
  return tensor;
}

uint64_t TensorMemory::bytesOf(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (auto dps = tensor.getDefiningOp<DestinationStyleOpInterface>();
      dps && !type.hasStaticShape())
    return bytesOf(dps.getTiedOpOperand(cast<OpResult>(tensor))->get());
  auto empty = tensor.getDefiningOp<tensor::EmptyOp>();
  uint64_t bytes = elementBytes(MemRefType::get({}, type.getElementType()));
  unsigned dynamic = 0;
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size))
      size = empty ? sizeOf(empty.getDynamicSizes()[dynamic++]) : hint;
    bytes =
        llvm::SaturatingMultiply(bytes, uint64_t(std::max<int64_t>(0, size)));
  }
  return std::min(bytes, uint64_t(1) << 40);
}

int64_t TensorMemory::sizeOf(Value size) {
  auto [place, isNew] = sizes.try_emplace(size);
  if (isNew)
    place->second = estimate(size, hint);
  return place->second;
}

//===-- Steps -------------------------------------------------------------===//

class Builder {
public:
  Builder(Block &block, int64_t hint) : block(block), memory(block, hint) {}

  BlockGraph build(const llvm::DenseMap<Operation *, uint64_t> &inside);

private:
  void makeSteps();
  bool isSoon(Operation *op);
  void connect(Operation *op, unsigned index);
  void follow(OpOperand &operand, Operation *op, unsigned index);
  void keepTurns(SubsetInsertionOpInterface insertion);
  void end();

  Block &block;
  TensorMemory memory;
  BlockGraph result;
  llvm::DenseMap<Operation *, unsigned> stepOf;
  // Steps that read a tensor or a view of it and do not overwrite it.
  llvm::DenseMap<Value, SmallVector<unsigned>> readers;
  std::optional<unsigned> barrier; // the last step with an effect
};

// The one operation of the block that uses what this one makes.
Operation *onlyUser(Operation *op) {
  Operation *only = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *inBlock = op->getBlock()->findAncestorOpInBlock(*user);
    if (only && only != inBlock)
      return nullptr;
    only = inBlock;
  }
  return only;
}

void sortOnce(SmallVectorImpl<unsigned> &numbers) {
  llvm::sort(numbers);
  numbers.erase(llvm::unique(numbers), numbers.end());
}

BlockGraph Builder::build(const llvm::DenseMap<Operation *, uint64_t> &inside) {
  makeSteps();
  for (auto [index, operations] : llvm::enumerate(result.operations)) {
    result.graph.steps[index].bytes = inside.lookup(operations.back());
    for (Operation *op : operations)
      connect(op, index);
  }
  end();
  result.graph.bufferBytes = std::move(memory.bytes);
  return std::move(result);
}

void Builder::makeSteps() {
  llvm::DenseMap<Operation *, Operation *> leaders;
  for (Operation &op : llvm::reverse(block)) {
    Operation *user =
        isa<tensor::EmptyOp, linalg::FillOp>(op) ? onlyUser(&op) : nullptr;
    leaders[&op] = user ? leaders.lookup(user) : &op;
  }
  unsigned steps = 0;
  for (Operation &op : block)
    if (leaders.lookup(&op) == &op)
      stepOf[&op] = steps++;
  result.operations.resize(steps);
  result.graph.steps.resize(steps);
  for (Operation &op : block) {
    stepOf[&op] = stepOf.lookup(leaders.lookup(&op));
    result.operations[stepOf.lookup(&op)].push_back(&op);
  }
}

// Whether it leaves all bytes as and where they are.
bool Builder::isSoon(Operation *op) {
  if (auto insertion = dyn_cast<SubsetInsertionOpInterface>(op))
    return memory.bufferOf(insertion.getSourceOperand().get()) ==
           memory.bufferOf(insertion.getUpdatedDestination());
  return op->getNumRegions() == 0 &&
         llvm::all_of(op->getResults(), [&](Value value) {
           return !isTensor(value) || memory.isView(value) ||
                  !memory.bufferOf(value);
         });
}

void Builder::connect(Operation *op, unsigned index) {
  Step &step = result.graph.steps[index];
  for (OpOperand &operand : op->getOpOperands())
    follow(operand, op, index);
  if (!op->hasTrait<OpTrait::IsIsolatedFromAbove>())
    visitUsedValuesDefinedAbove(op->getRegions(), [&](OpOperand *operand) {
      follow(*operand, op, index);
    });
  for (Value value : op->getResults())
    if (isTensor(value) && memory.bufferOf(value))
      (memory.isView(value) ? step.reads : step.writes)
          .push_back(memory.bufferOf(value));
  if (op != result.operations[index].back())
    return;
  if (barrier)
    step.after.push_back(*barrier);
  if (!isMemoryEffectFree(op))
    barrier = index;
  step.isSoon = isSoon(op);
  if (auto insertion = dyn_cast<SubsetInsertionOpInterface>(op))
    keepTurns(insertion);
}

// A reader that came after the operation that overwrites what it reads would
// need a copy.
void Builder::follow(OpOperand &operand, Operation *op, unsigned index) {
  Step &step = result.graph.steps[index];
  Value value = operand.get();
  if (Operation *source = value.getDefiningOp();
      source && source->getBlock() == &block)
    step.after.push_back(stepOf.lookup(source));
  if (!isTensor(value))
    return;
  if (unsigned buffer = memory.bufferOf(value))
    step.reads.push_back(buffer);
  SmallVector<unsigned> &before = readers[memory.rootOf(value)];
  bool isInside = operand.getOwner() != op;
  bool isWritten = isInside || memory.isWritten(operand);
  if (isWritten)
    step.after.append(before);
  if (isInside || !isWritten)
    before.push_back(index);
}

// The next part of a concatenation is made behind the one before: which place
// a loop writes to, elide-copies does not see, and would leave a copy.
void Builder::keepTurns(SubsetInsertionOpInterface insertion) {
  auto before = insertion.getDestinationOperand()
                    .get()
                    .getDefiningOp<SubsetInsertionOpInterface>();
  if (!before)
    return;
  auto makerOf = [&](SubsetInsertionOpInterface op) {
    return memory.wholeOf(op.getSourceOperand().get()).getDefiningOp();
  };
  Operation *one = makerOf(before), *other = makerOf(insertion);
  if (!stepOf.contains(one) || !stepOf.contains(other))
    return;
  auto [first, second] = std::minmax(stepOf.lookup(one), stepOf.lookup(other));
  result.graph.steps[second].after.push_back(first);
}

void Builder::end() {
  std::vector<Step> &steps = result.graph.steps;
  for (auto [index, step] : llvm::enumerate(steps)) {
    sortOnce(step.after);
    llvm::erase(step.after, index);
    sortOnce(step.writes);
    sortOnce(step.reads);
    llvm::erase_if(step.reads, [&](unsigned buffer) {
      return llvm::is_contained(step.writes, buffer);
    });
  }
  // The terminator is behind everything.
  std::vector<bool> isFollowed(steps.size());
  for (const Step &step : steps)
    for (unsigned earlier : step.after)
      isFollowed[earlier] = true;
  for (unsigned index : llvm::seq<unsigned>(0, steps.size() - 1))
    if (!isFollowed[index])
      steps.back().after.push_back(index);
  steps.back().isSoon = false;
}

} // namespace

BlockGraph graphOf(Block &block, int64_t hint,
                   const llvm::DenseMap<Operation *, uint64_t> &inside) {
  return Builder(block, hint).build(inside);
}

} // namespace onnxc
