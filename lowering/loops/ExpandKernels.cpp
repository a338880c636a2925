// Turns kernels over buffers into functions of vector code, one per distinct
// (body, schedule, buffer types). This happens after planning: strides of views
// are known then, and equal kernels of a network (ResNet-50 has 53
// convolutions, 23 of them distinct) share their code.
#include "lowering/Passes.h"
#include "lowering/loops/EmitContraction.h"
#include "lowering/loops/EmitPack.h"
#include "lowering/loops/EmitRows.h"
#include "lowering/loops/KernelWork.h"
#include "lowering/loops/EmitWinograd.h"
#include "lowering/loops/SharedFunctions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_EXPANDKERNELS
#include "lowering/Passes.h.inc"

namespace {

bool isSameKernel(KernelOp lhs, KernelOp rhs) {
  return OperationEquivalence::isRegionEquivalentTo(
      &lhs.getBody(), &rhs.getBody(), OperationEquivalence::IgnoreLocations);
}

struct ExpandKernels : impl::ExpandKernelsBase<ExpandKernels> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<KernelOp> kernels;
    getOperation().walk<WalkOrder::PreOrder>([&](KernelOp kernel) {
      kernels.push_back(kernel);
      return WalkResult::skip(); // a product in it is part of it
    });
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
                                         functionName("k_", kernel.getLoc()), type);
    function.setPrivate();
    function.setNoInline(true);
    // The steps of a Winograd kernel share their scratch.
    if (!isa<WinogradAttr>(kernel.getSchedule()))
      function->setAttr(workAttrName,
                        builder.getI64IntegerAttr(workOf(kernel)));
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
    if (isa<SquaresAttr>(kernel.getSchedule()))
      return emitPack(b, kernel, arguments);
    if (isa<RowsAttr>(kernel.getSchedule()))
      return emitRows(b, kernel, arguments);
    return kernel.emitOpError("has a schedule that nothing expands: ")
           << kernel.getSchedule();
  }

  void callInstead(KernelOp kernel, func::FuncOp function) {
    ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
    callWith(b, function, kernel->getOperands());
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
