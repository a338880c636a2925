// A call of a kernel that can be divided becomes a choice: with a parallel-for
// of the caller's it runs there, in tasks; without one it is a plain call of
// all of it. Tasks share one context on the stack, those arguments of the call
// that the kernel uses.
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Passes.h"
#include "lowering/llvm/Abi.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace onnxc {

#define GEN_PASS_DEF_RUNTASKS
#include "lowering/Passes.h.inc"

namespace {

// Whether anybody uses the field at `position` of the aggregate.
bool isExtracted(Value aggregate, ArrayRef<int64_t> position) {
  return llvm::any_of(aggregate.getUsers(), [&](Operation *user) {
    if (auto extract = dyn_cast<LLVM::ExtractValueOp>(user))
      return !extract->use_empty() &&
             position.take_front(extract.getPosition().size()) ==
                 extract.getPosition();
    auto insert = dyn_cast<LLVM::InsertValueOp>(user);
    return !insert || insert.getValue() == aggregate ||
           (insert.getPosition() != position &&
            isExtracted(insert.getResult(), position));
  });
}

// Sizes and strides of buffers are constants of most kernels.
bool isUsed(BlockArgument argument) {
  return llvm::any_of(argument.getUsers(), [&](Operation *user) {
    auto insert = dyn_cast<LLVM::InsertValueOp>(user);
    return !insert || insert.getContainer() == argument ||
           isExtracted(insert.getResult(), insert.getPosition());
  });
}

// The arguments that a context holds, but for those that are the task's.
SmallVector<unsigned> argumentsOf(LLVM::LLVMFuncOp kernel) {
  SmallVector<unsigned> numbers;
  for (BlockArgument argument : kernel.getArguments().drop_back(3))
    if (isUsed(argument))
      numbers.push_back(argument.getArgNumber());
  return numbers;
}

// void task(void *context, uint32_t index, uint32_t worker)
LLVM::LLVMFuncOp emitTask(LLVM::LLVMFuncOp kernel, ArrayRef<unsigned> numbers,
                          LLVM::LLVMStructType context, Type indexType) {
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
  Type ptr = LLVM::LLVMPointerType::get(b.getContext()), i32 = b.getI32Type();
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), {ptr, i32, i32});
  auto task = LLVM::LLVMFuncOp::create(b, (kernel.getName() + "_task").str(),
                                       type, LLVM::Linkage::Internal);
  task.setDsoLocal(true);
  b.setInsertionPointToStart(task.addEntryBlock(b));
  Value all = LLVM::LoadOp::create(b, context, task.getArgument(0));
  SmallVector<Value> arguments;
  for (Type type : kernel.getArgumentTypes().drop_back(3))
    arguments.push_back(LLVM::PoisonOp::create(b, type));
  for (auto [i, argument] : llvm::enumerate(numbers))
    arguments[argument] = LLVM::ExtractValueOp::create(b, all, i);
  auto number = [&](unsigned argument) -> Value {
    Value value = task.getArgument(argument);
    return indexType == i32 ? value : LLVM::ZExtOp::create(b, indexType, value);
  };
  arguments.push_back(number(2));
  arguments.push_back(number(1));
  arguments.push_back(LLVM::ExtractValueOp::create(b, all, numbers.size()));
  LLVM::CallOp::create(b, kernel, arguments);
  LLVM::ReturnOp::create(b, ValueRange());
  return task;
}

class Runner {
public:
  explicit Runner(LLVM::LLVMFuncOp model)
      : model(model), b(model.getLoc(), model.getContext()) {}

  void run(LLVM::CallOp call, LLVM::LLVMFuncOp kernel);

private:
  Value field(LLVM::LLVMStructType type, Value base, int32_t number) {
    Type ptr = LLVM::LLVMPointerType::get(b.getContext());
    Value at = LLVM::GEPOp::create(b, ptr, type, base,
                                   ArrayRef<LLVM::GEPArg>{0, number});
    return LLVM::LoadOp::create(b, ptr, at);
  }
  Value constant(Type type, int64_t value) {
    return LLVM::ConstantOp::create(b, b.getIntegerAttr(type, value));
  }
  void handOut(LLVM::CallOp call, LLVM::LLVMFuncOp kernel, Value parallel);

  LLVM::LLVMFuncOp model;
  ImplicitLocOpBuilder b;
  llvm::StringMap<LLVM::LLVMFuncOp> taskOf;
};

void Runner::handOut(LLVM::CallOp call, LLVM::LLVMFuncOp kernel,
                     Value parallel) {
  MLIRContext *mlir = b.getContext();
  Type ptr = LLVM::LLVMPointerType::get(mlir), i32 = b.getI32Type();
  SmallVector<unsigned> numbers = argumentsOf(kernel);
  SmallVector<Value> shared;
  for (unsigned number : numbers)
    shared.push_back(call.getArgOperands()[number]);
  Value tasks = call.getArgOperands().back();
  shared.push_back(tasks);
  SmallVector<Type> types(ValueRange(shared).getTypes());
  auto type = LLVM::LLVMStructType::getLiteral(mlir, types);
  LLVM::LLVMFuncOp &task = taskOf[kernel.getName()];
  if (!task)
    task = emitTask(kernel, numbers, type, tasks.getType());
  Value context;
  {
    OpBuilder::InsertionGuard guard(b); // a loop would take ever more stack
    b.setInsertionPointToStart(&model.front());
    context = LLVM::AllocaOp::create(b, ptr, type, constant(i32, 1));
  }
  Value all = LLVM::PoisonOp::create(b, type);
  for (auto [i, value] : llvm::enumerate(shared))
    all = LLVM::InsertValueOp::create(b, all, value, i);
  LLVM::StoreOp::create(b, all, context);
  if (tasks.getType() != i32)
    tasks = LLVM::TruncOp::create(b, i32, tasks);
  Value run = field(abi::parallelStruct(mlir), parallel, abi::parallelRun);
  auto signature = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(mlir),
                                               {ptr, ptr, ptr, i32});
  Value address = LLVM::AddressOfOp::create(b, task);
  LLVM::CallOp::create(b, signature,
                       ValueRange{run, parallel, address, context, tasks});
}

void Runner::run(LLVM::CallOp call, LLVM::LLVMFuncOp kernel) {
  Block *before = call->getBlock();
  Block *after = before->splitBlock(std::next(call->getIterator()));
  Block *alone = before->splitBlock(call);
  Block *shared = b.createBlock(alone);
  b.setLoc(call.getLoc());
  b.setInsertionPointToEnd(before);
  Value parallel = field(abi::callStruct(b.getContext()),
                         model.getArguments().back(), abi::callParallel);
  Value none =
      LLVM::ZeroOp::create(b, LLVM::LLVMPointerType::get(b.getContext()));
  Value isThere =
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, parallel, none);
  // Too little for two where the run decides.
  Value tasks = call.getArgOperands().back();
  if (!matchPattern(tasks, m_Constant())) {
    Value one = constant(tasks.getType(), 1);
    Value areMany =
        LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ugt, tasks, one);
    isThere = LLVM::AndOp::create(b, isThere, areMany);
  }
  LLVM::CondBrOp::create(b, isThere, shared, alone);
  b.setInsertionPointToStart(shared);
  handOut(call, kernel, parallel);
  LLVM::BrOp::create(b, after);
  b.setInsertionPoint(call);
  Value one = constant(call.getArgOperands().back().getType(), 1);
  call->setOperand(call->getNumOperands() - 1, one);
  b.setInsertionPointToEnd(alone);
  LLVM::BrOp::create(b, after);
}

struct RunTasks : impl::RunTasksBase<RunTasks> {
  void runOnOperation() override {
    auto model = getOperation().lookupSymbol<LLVM::LLVMFuncOp>("model");
    if (!model)
      return;
    SmallVector<LLVM::CallOp> calls;
    model.walk([&](LLVM::CallOp call) { calls.push_back(call); });
    Runner runner(model);
    for (LLVM::CallOp call : calls) {
      auto kernel =
          call.getCallee()
              ? getOperation().lookupSymbol<LLVM::LLVMFuncOp>(*call.getCallee())
              : LLVM::LLVMFuncOp();
      if (kernel && kernel->hasAttr(tasksAttrName))
        runner.run(call, kernel);
    }
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      function->removeAttr(tasksAttrName);
  }
};

} // namespace
} // namespace onnxc
