// Turns kernels over buffers into functions of vector code, one per distinct
// (body, schedule, buffer types). This happens after planning: strides of views
// are known then, and equal kernels of a network (ResNet-50 has 53
// convolutions, 23 of them distinct) share their code.
#include "lowering/Passes.h"
#include "lowering/loops/EmitContraction.h"
#include "lowering/loops/EmitRows.h"
#include "lowering/loops/EmitWinograd.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_EXPANDKERNELS
#include "lowering/Passes.h.inc"

namespace {

// The type a function takes a buffer by: views that differ only in where they
// begin are the same to it.
Type argumentType(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return type;
  auto layout = dyn_cast<StridedLayoutAttr>(memref.getLayout());
  if (!layout)
    return type;
  return MemRefType::get(memref.getShape(), memref.getElementType(),
                         StridedLayoutAttr::get(type.getContext(),
                                                ShapedType::kDynamic,
                                                layout.getStrides()),
                         memref.getMemorySpace());
}

bool isSameKernel(KernelOp lhs, KernelOp rhs) {
  return OperationEquivalence::isRegionEquivalentTo(
      &lhs.getBody(), &rhs.getBody(), OperationEquivalence::IgnoreLocations);
}

// The first node's name as a symbol, so that a profiler shows it.
std::string symbolName(Location location) {
  std::string name = "kernel";
  location->walk([&](Location inner) {
    auto named = dyn_cast<NameLoc>(inner);
    if (!named)
      return WalkResult::advance();
    name = named.getName().str();
    return WalkResult::interrupt();
  });
  for (char &c : name)
    if (!llvm::isAlnum(c))
      c = '_';
  return "k_" + name;
}

struct ExpandKernels : impl::ExpandKernelsBase<ExpandKernels> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<KernelOp> kernels;
    getOperation().walk([&](KernelOp kernel) { kernels.push_back(kernel); });
    for (KernelOp kernel : kernels) {
      FailureOr<func::FuncOp> function = functionOf(kernel, symbols);
      if (failed(function))
        return signalPassFailure();
      callInstead(kernel, *function);
    }
    for (auto &[key, variants] : functions)
      for (auto &[kernel, function] : variants)
        kernel.erase();
    functions.clear();
  }

private:
  FailureOr<func::FuncOp> functionOf(KernelOp kernel, SymbolTable &symbols) {
    SmallVector<Type> types;
    for (Type type : kernel->getOperandTypes())
      types.push_back(argumentType(type));
    auto type = FunctionType::get(&getContext(), types, {});
    auto &variants = functions[{kernel.getSchedule(), type}];
    for (auto &[other, function] : variants)
      if (isSameKernel(kernel, other))
        return function;
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    auto function = func::FuncOp::create(builder, kernel.getLoc(),
                                         symbolName(kernel.getLoc()), type);
    function.setPrivate();
    function.setNoInline(true);
    symbols.insert(function);
    if (failed(emitBody(kernel, function)))
      return failure();
    variants.push_back({kernel, function});
    return function;
  }

  LogicalResult emitBody(KernelOp kernel, func::FuncOp function) {
    Block *entry = function.addEntryBlock();
    auto b = ImplicitLocOpBuilder::atBlockBegin(kernel.getLoc(), entry);
    if (failed(emitLoops(b, kernel, entry->getArguments())))
      return failure();
    func::ReturnOp::create(b);
    return success();
  }

  LogicalResult emitLoops(ImplicitLocOpBuilder &b, KernelOp kernel,
                          ValueRange arguments) {
    if (isa<ContractionAttr>(kernel.getSchedule()))
      return emitContraction(b, kernel, arguments);
    if (isa<WinogradAttr>(kernel.getSchedule()))
      return emitWinograd(b, kernel, arguments);
    if (rowsOf(kernel))
      return emitRows(b, kernel, arguments);
    return kernel.emitOpError("has a schedule that nothing expands: ")
           << kernel.getSchedule();
  }

  void callInstead(KernelOp kernel, func::FuncOp function) {
    ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
    SmallVector<Value> operands;
    for (auto [operand, type] :
         llvm::zip(kernel->getOperands(), function.getArgumentTypes()))
      operands.push_back(operand.getType() == type
                             ? operand
                             : memref::CastOp::create(b, type, operand));
    func::CallOp::create(b, function, operands);
    // A kernel that a function was made from is kept for comparison.
    auto &variants =
        functions[{kernel.getSchedule(), function.getFunctionType()}];
    if (llvm::none_of(variants,
                      [&](auto &entry) { return entry.first == kernel; }))
      kernel.erase();
  }

  DenseMap<std::pair<Attribute, Type>,
           SmallVector<std::pair<KernelOp, func::FuncOp>>>
      functions;
};

} // namespace
} // namespace onnxc
