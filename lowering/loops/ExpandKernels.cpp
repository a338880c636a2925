// Turns kernels over buffers into functions of vector code, one per distinct
// (body, schedule, buffer types). This happens after planning: strides of views
// are known then, and equal kernels of a network (ResNet-50 has 53
// convolutions, 23 of them distinct) share their code. Winograd's kernels,
// which are long, do so also where only the strides of views set them apart.
#include "lowering/Passes.h"
#include "dialects/onnxc/KernelFunction.h"
#include "lowering/loops/EmitContraction.h"
#include "lowering/loops/EmitLines.h"
#include "lowering/loops/EmitPack.h"
#include "lowering/loops/EmitRows.h"
#include "lowering/loops/EmitStrassen.h"
#include "lowering/loops/KernelWork.h"
#include "lowering/loops/EmitWinograd.h"
#include "lowering/loops/SharedFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

// Whether there are loops over taps, rows and channels of what lies at a
// border.
bool hasBorder(KernelOp kernel) {
  return isa<ContractionAttr>(kernel.getSchedule()) &&
         !kernel.getBodyBlock()->getOps<tensor::PadOp>().empty();
}

SmallVector<StringRef> hintsFor(KernelOp kernel) {
  if (hasBorder(kernel))
    return {rolledAttrName};
  if (isa<WinogradAttr>(kernel.getSchedule()))
    return {countedAttrName};
  return {};
}

// How many of the last outputs are scratch.
int64_t scratchCount(KernelOp kernel) {
  return llvm::count_if(kernel.getDpsInitsMutable(), [&](OpOperand &output) {
    return kernel.isScratch(output);
  });
}

// One of the calls that a kernel becomes.
struct Call {
  TransformPart part;
  BlockCount blocks = BlockCount::Any;
};

// Where Winograd's or Strassen's kernel is one block, all workers do a step of
// it together before they go on to the next one.
SmallVector<Call> callsOf(KernelOp kernel, TargetAttr target) {
  using enum TransformPart;
  if (mayBeOneBlock(kernel))
    return {{Whole},
            {Inputs, BlockCount::One},
            {Products, BlockCount::One},
            {Outputs, BlockCount::One}};
  auto isDivided = [&](auto schedule) {
    return schedule && hasThreads(target) &&
           isOneBlock(*findContraction(kernel), schedule);
  };
  Attribute schedule = kernel.getSchedule();
  if (isDivided(dyn_cast<WinogradAttr>(schedule)) ||
      isDivided(dyn_cast<StrassenAttr>(schedule)))
    return {{Inputs}, {Products}, {Outputs}};
  return {{Whole}};
}

// Whether the code of a Winograd kernel may find out when it runs how far rows
// and pixels of the operand lie apart: the transforms have time to, products of
// its filter and scratch have not.
bool mayHaveAnyStrides(OpOperand &operand) {
  auto kernel = cast<KernelOp>(operand.getOwner());
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  bool isFilter =
      llvm::any_of(kernel.getBlockArgument(operand).getUsers(),
                   [](Operation *user) { return isa<WinogradFilterOp>(user); });
  bool isScratch = kernel.isDpsInit(&operand) && kernel.isScratch(operand);
  return isa<WinogradAttr>(kernel.getSchedule()) && type &&
         type.getRank() > 1 && !isFilter && !isScratch;
}

enum class Strides { Known, Told };

// The type a function takes the operand by, with strides that it knows or that
// it is told.
Type typeOf(OpOperand &operand, Strides which) {
  Type known = argumentType(operand.get().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  auto type = dyn_cast<MemRefType>(known);
  if (which == Strides::Known || !mayHaveAnyStrides(operand) ||
      failed(type.getStridesAndOffset(strides, offset)))
    return known;
  llvm::fill(MutableArrayRef(strides).drop_back(), ShapedType::kDynamic);
  return MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides),
      type.getMemorySpace());
}

SmallVector<Type> typesOf(KernelOp kernel, Strides which) {
  SmallVector<Type> types;
  for (OpOperand &operand : kernel->getOpOperands())
    types.push_back(typeOf(operand, which));
  return types;
}

// Whether another kernel differs in nothing but strides that code may be told.
bool differsInStrides(KernelOp kernel, ArrayRef<KernelOp> kernels) {
  if (!isa<WinogradAttr>(kernel.getSchedule()))
    return false;
  SmallVector<Type> known = typesOf(kernel, Strides::Known),
                    told = typesOf(kernel, Strides::Told);
  return llvm::any_of(kernels, [&](KernelOp other) {
    return other.getSchedule() == kernel.getSchedule() &&
           typesOf(other, Strides::Known) != known &&
           typesOf(other, Strides::Told) == told && isSameKernel(other, kernel);
  });
}

// The loop that makes a kernel read the same weights again and again, more of
// them than the cache keeps. Turned round at every iteration, it begins with
// those that were read last.
scf::ForOp turningLoop(KernelOp kernel, TargetAttr target) {
  return streamsPanels(kernel, target) ? kernel->getParentOfType<scf::ForOp>()
                                       : scf::ForOp();
}

struct ExpandKernels : impl::ExpandKernelsBase<ExpandKernels> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<KernelOp> kernels;
    getOperation().walk<WalkOrder::PreOrder>([&](KernelOp kernel) {
      kernels.push_back(kernel);
      return WalkResult::skip(); // a product in it is part of it
    });
    target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    for (KernelOp kernel : kernels)
      if (differsInStrides(kernel, kernels))
        toldStrides.insert(kernel);
    for (KernelOp kernel : kernels) {
      FailureOr<Functions> parts = functionsOf(kernel, symbols);
      if (failed(parts))
        return signalPassFailure();
      callInstead(kernel, *parts);
    }
    for (auto &[key, variants] : functions)
      for (auto &[kernel, parts] : variants)
        kernel.erase();
    functions.clear();
    toldStrides.clear();
  }

private:
  using Functions = SmallVector<func::FuncOp>;

  FailureOr<Functions> functionsOf(KernelOp kernel, SymbolTable &symbols) {
    if (llvm::any_of(kernel->getOperandTypes(), llvm::IsaPred<TensorType>))
      return kernel.emitOpError("works on tensors: bufferize them first");
    SmallVector<Type> types = typesOf(
        kernel, toldStrides.contains(kernel) ? Strides::Told : Strides::Known);
    if (turningLoop(kernel, target))
      types.push_back(IntegerType::get(&getContext(), 1));
    auto type = FunctionType::get(&getContext(), types, {});
    auto &variants = functions[{kernel.getSchedule(), type}];
    for (auto &[other, parts] : variants)
      if (isSameKernel(kernel, other))
        return parts;
    Functions made;
    for (Call call : callsOf(kernel, target)) {
      bool isWhole = call.part == TransformPart::Whole;
      OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
      auto function = func::FuncOp::create(
          builder, kernel.getLoc(), functionName("k_", kernel.getLoc()), type);
      function.setPrivate();
      function.setNoInline(true);
      if (SmallVector<StringRef> hints = hintsFor(kernel); !hints.empty())
        function->setAttr("passthrough", builder.getStrArrayAttr(hints));
      int64_t work = isa<LinesAttr>(kernel.getSchedule())
                         ? workOfLines(kernel, target)
                         : workOf(kernel, target) / (isWhole ? 1 : 3);
      function->setAttr(workAttrName, builder.getI64IntegerAttr(work));
      int64_t scratch = scratchCount(kernel);
      if (scratch && isWhole)
        function->setAttr(scratchAttrName, builder.getI64IntegerAttr(scratch));
      symbols.insert(function);
      if (failed(emitBody(kernel, function, call)))
        return failure();
      made.push_back(function);
    }
    variants.push_back({kernel, made});
    return made;
  }

  LogicalResult emitBody(KernelOp kernel, func::FuncOp function, Call call) {
    Block *entry = function.addEntryBlock();
    auto b = ImplicitLocOpBuilder::atBlockBegin(kernel.getLoc(), entry);
    if (failed(emitLoops(b, kernel, entry->getArguments(), call)))
      return failure();
    func::ReturnOp::create(b);
    return success();
  }

  LogicalResult emitLoops(ImplicitLocOpBuilder &b, KernelOp kernel,
                          ValueRange arguments, Call call) {
    if (isa<ContractionAttr>(kernel.getSchedule())) {
      if (!turningLoop(kernel, target))
        return emitContraction(b, kernel, arguments);
      return emitContraction(b, kernel, arguments.drop_back(), {},
                             arguments.back());
    }
    if (isa<WinogradAttr>(kernel.getSchedule()))
      return emitWinograd(b, kernel, arguments, call.part);
    if (isa<StrassenAttr>(kernel.getSchedule()))
      return emitStrassen(b, kernel, arguments, call.part, call.blocks);
    if (isa<SquaresAttr>(kernel.getSchedule()))
      return emitPack(b, kernel, arguments);
    if (isa<RowsAttr>(kernel.getSchedule()))
      return emitRows(b, kernel, arguments);
    if (isa<LinesAttr>(kernel.getSchedule()))
      return emitLines(b, kernel, arguments);
    return kernel.emitOpError("has a schedule that nothing expands: ")
           << kernel.getSchedule();
  }

  void callInstead(KernelOp kernel, Functions parts) {
    ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
    SmallVector<Value> operands(kernel->getOperands());
    if (scf::ForOp loop = turningLoop(kernel, target))
      operands.push_back(arith::TruncIOp::create(
          b, b.getI1Type(),
          arith::IndexCastOp::create(b, b.getI32Type(),
                                     loop.getInductionVar())));
    auto call = [&](ArrayRef<func::FuncOp> functions) {
      for (func::FuncOp function : functions)
        callWith(b, function, operands);
    };
    if (mayBeOneBlock(kernel)) {
      auto branch = scf::IfOp::create(b, areOneBlock(b, kernel, operands),
                                      /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      call(ArrayRef(parts).drop_front());
      b.setInsertionPointToStart(branch.elseBlock());
      call(parts.front());
    } else {
      call(parts);
    }
    // A kernel that functions were made from is kept for comparison.
    auto &variants =
        functions[{kernel.getSchedule(), parts.front().getFunctionType()}];
    if (llvm::none_of(variants,
                      [&](auto &entry) { return entry.first == kernel; }))
      kernel.erase();
  }

  TargetAttr target;
  DenseSet<Operation *> toldStrides; // kernels whose code is told them
  DenseMap<std::pair<Attribute, Type>,
           SmallVector<std::pair<KernelOp, Functions>>>
      functions;
};

} // namespace
} // namespace onnxc
