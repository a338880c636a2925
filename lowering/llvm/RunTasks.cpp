// A kernel that can be divided is called by way of the support library, which
// chooses: a parallel-for of the caller's runs it in tasks; without one, one
// task does all of it. Tasks share one context on the stack: how many they are,
// then those arguments of the call that the kernel uses.
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Passes.h"

using namespace mlir;

namespace onnxc {

#define GEN_PASS_DEF_RUNTASKS
#include "lowering/Passes.h.inc"

namespace {

// The arguments that a context holds, but for those that are the task's. Sizes
// and strides of buffers are constants of most kernels.
SmallVector<unsigned> argumentsOf(LLVM::LLVMFuncOp kernel) {
  SmallVector<unsigned> numbers;
  for (BlockArgument argument : kernel.getArguments().drop_back(3))
    if (!argument.use_empty())
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
    arguments[argument] = LLVM::ExtractValueOp::create(b, all, i + 1);
  Value tasks = LLVM::ExtractValueOp::create(b, all, 0);
  for (Value number : {Value(task.getArgument(2)), Value(task.getArgument(1)),
                       tasks}) // as the kernel takes them
    arguments.push_back(
        indexType == i32 ? number : LLVM::ZExtOp::create(b, indexType, number));
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
  // void onnxc_run_tasks(const onnxc_call *, task, context)
  LLVM::LLVMFuncOp library();

  LLVM::LLVMFuncOp model;
  ImplicitLocOpBuilder b;
  llvm::StringMap<LLVM::LLVMFuncOp> taskOf;
};

LLVM::LLVMFuncOp Runner::library() {
  StringRef name = "onnxc_run_tasks";
  auto module = model->getParentOfType<ModuleOp>();
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(module.getBody());
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), {ptr, ptr, ptr});
  return LLVM::LLVMFuncOp::create(b, name, type);
}

void Runner::run(LLVM::CallOp call, LLVM::LLVMFuncOp kernel) {
  b.setLoc(call.getLoc());
  b.setInsertionPoint(call);
  Type ptr = LLVM::LLVMPointerType::get(b.getContext()), i32 = b.getI32Type();
  SmallVector<unsigned> numbers = argumentsOf(kernel);
  Value tasks = call.getArgOperands().back();
  Type indexType = tasks.getType();
  if (indexType != i32)
    tasks = LLVM::TruncOp::create(b, i32, tasks);
  SmallVector<Value> shared{tasks};
  for (unsigned number : numbers)
    shared.push_back(call.getArgOperands()[number]);
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(ValueRange(shared).getTypes()));
  LLVM::LLVMFuncOp &task = taskOf[kernel.getName()];
  if (!task)
    task = emitTask(kernel, numbers, type, indexType);
  Value context;
  {
    OpBuilder::InsertionGuard guard(b); // a loop would take ever more stack
    b.setInsertionPointToStart(&model.front());
    Value one = LLVM::ConstantOp::create(b, b.getI32IntegerAttr(1));
    context = LLVM::AllocaOp::create(b, ptr, type, one);
  }
  Value all = LLVM::PoisonOp::create(b, type);
  for (auto [i, value] : llvm::enumerate(shared))
    all = LLVM::InsertValueOp::create(b, all, value, i);
  // Contexts of one call after another take the same place.
  LLVM::LifetimeStartOp::create(b, context);
  LLVM::StoreOp::create(b, all, context);
  Value address = LLVM::AddressOfOp::create(b, task);
  LLVM::CallOp::create(
      b, library(), ValueRange{model.getArguments().back(), address, context});
  LLVM::LifetimeEndOp::create(b, context);
  call.erase();
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
