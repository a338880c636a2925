// Run-time conditions end the call: each becomes a branch to a block that
// records the error and returns its status. Memory that the caller provides
// during the run fails in the same way.
#include "dialects/onnxc/Onnxc.h"
#include "lowering/PackedElement.h"
#include "lowering/Passes.h"
#include "lowering/llvm/Abi.h"
#include "lowering/llvm/Table.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "runtime/include/onnxc/model.h"

using namespace mlir;

namespace onnxc {

#define GEN_PASS_DEF_LOWERCHECKS
#include "lowering/Passes.h.inc"

namespace {

bool mayEndCall(Operation *op) {
  return isa<CheckOp, AllocateOp, ResultOp>(op);
}

// "node 'x'" from the op's location, which the importer named after the node.
std::string nodeOf(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return ("node '" + name.getName().getValue() + "'").str();
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::string node = nodeOf(part); !node.empty())
        return node;
  return {};
}

class Lowering {
public:
  Lowering(func::FuncOp func, IntegerType indexType)
      : builder(func.getLoc(), func.getContext()), func(func),
        module(func->getParentOfType<ModuleOp>()), indexType(indexType),
        call(func.getArguments().back()) {
    ptr = LLVM::LLVMPointerType::get(builder.getContext());
    i32 = builder.getI32Type();
    i64 = builder.getI64Type();
  }

  void lower(CheckOp op) {
    begin(op);
    Block *next = split(op);
    Block *failed = failBlock(op.getStatus(), op.getNode(), op.getOperand());
    branch(op.getCondition(), next, failed);
    op.erase();
  }

  void lower(AllocateOp op) {
    begin(op);
    Value bytes = arith::IndexCastOp::create(builder, i64, op.getBytes());
    Value memory =
        abi::callSupport(builder, "onnxc_allocate", ptr, {call, bytes});
    Value null = LLVM::ZeroOp::create(builder, ptr);
    Value isThere =
        LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::ne, memory, null);
    Block *next = split(op);
    branch(isThere, next,
           failBlock(ONNXC_ALLOCATOR, nodeOf(op.getLoc()), "memory"));
    builder.setInsertionPoint(op);
    op.replaceAllUsesWith(abi::bytesAt(builder, memory, indexType));
    op.erase();
  }

  LogicalResult lower(ResultOp op) {
    auto type = dyn_cast<MemRefType>(op.getValue().getType());
    if (!type || !type.isStrided())
      return op.emitOpError() << "expected a memref with strides, got "
                              << op.getValue().getType();
    begin(op);
    int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    auto view =
        memref::ExtractStridedMetadataOp::create(builder, op.getValue());
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      sizes.push_back(memref::DimOp::create(builder, op.getValue(), dim));
    Value status = abi::callSupport(
        builder, "onnxc_result", i32,
        {call, integer(i32, op.getIndex()),
         dataOf(op.getValue(), view.getOffset(), bytes), arrayOf(sizes),
         arrayOf(view.getStrides()), integer(i32, type.getRank()),
         integer(i32, bitsOf(op, bytes))});
    Value isStored = LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::eq,
                                          status, integer(i32, ONNXC_OK));
    Block *next = split(op), *failed = func.addBlock();
    branch(isStored, next, failed);
    builder.setInsertionPointToStart(failed);
    func::ReturnOp::create(builder, status);
    op.erase();
    return success();
  }

private:
  // Of an element as the caller has it: packed ones have a byte each until now.
  static int64_t bitsOf(ResultOp op, int64_t bytes) {
    Type element = packedElement(op->getDiscardableAttrDictionary());
    return element ? element.getIntOrFloatBitWidth() : bytes * 8;
  }

  void begin(Operation *op) {
    builder.setInsertionPoint(op);
    builder.setLoc(op->getLoc());
  }

  Value integer(Type type, int64_t value) {
    return LLVM::ConstantOp::create(builder,
                                    builder.getIntegerAttr(type, value));
  }

  Block *split(Operation *op) {
    Block *block = op->getBlock();
    Block *next = block->splitBlock(op);
    builder.setInsertionPointToEnd(block);
    return next;
  }

  void branch(Value condition, Block *next, Block *failed) {
    cf::CondBranchOp::create(builder, condition, next, ValueRange(), failed,
                             ValueRange());
  }

  Value text(StringRef value) {
    if (value.empty())
      return LLVM::ZeroOp::create(builder, ptr);
    return LLVM::AddressOfOp::create(builder, ptr, internText(module, value));
  }

  // Records the error and returns; at the function's end, out of the hot path.
  Block *failBlock(int64_t status, StringRef node, StringRef operand) {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = func.addBlock();
    builder.setInsertionPointToStart(block);
    Value result = abi::callSupport(
        builder, "onnxc_fail", i32,
        {call, integer(i32, status), text(node), text(operand)});
    func::ReturnOp::create(builder, result);
    return block;
  }

  // The address of the first element; `offset` counts elements.
  Value dataOf(Value memref, Value offset, int64_t elementBytes) {
    Value base =
        memref::ExtractAlignedPointerAsIndexOp::create(builder, memref);
    Value bytes = arith::MulIOp::create(
        builder, offset, arith::ConstantIndexOp::create(builder, elementBytes));
    Value address = arith::AddIOp::create(builder, base, bytes);
    Value bits = arith::IndexCastOp::create(builder, indexType, address);
    return LLVM::IntToPtrOp::create(builder, ptr, bits);
  }

  // An array on the stack; in the entry block, so that loops don't grow it.
  Value arrayOf(ValueRange numbers) {
    Value array;
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&func.getBody().front());
      int64_t count = std::max<int64_t>(numbers.size(), 1);
      array = LLVM::AllocaOp::create(builder, ptr, i64, integer(i32, count));
    }
    for (auto [i, number] : llvm::enumerate(numbers)) {
      Value wide = arith::IndexCastOp::create(builder, i64, number);
      Value place =
          LLVM::GEPOp::create(builder, ptr, i64, array,
                              ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
      LLVM::StoreOp::create(builder, wide, place);
    }
    return array;
  }

  ImplicitLocOpBuilder builder;
  func::FuncOp func;
  ModuleOp module;
  IntegerType indexType;
  Value call;
  Type ptr, i32, i64;
};

LogicalResult lowerChecks(func::FuncOp func, IntegerType indexType) {
  if (!func.walk([](Operation *op) {
             return mayEndCall(op) ? WalkResult::interrupt()
                                   : WalkResult::advance();
           })
           .wasInterrupted())
    return success();
  ArrayRef<Type> results = func.getFunctionType().getResults();
  if (func.getName() != "model" || results.size() != 1 ||
      !results[0].isInteger(32))
    return func.emitError() << "has a check, but only @model with a status as "
                               "its result can end a call";
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (mayEndCall(op))
      ops.push_back(op);
  });
  Lowering lowering(func, indexType);
  // The last one first: a split costs as much as what follows it in the block.
  for (Operation *op : llvm::reverse(ops)) {
    if (op->getParentOp() != func)
      return op->emitOpError() << "is inside a region that cannot be left";
    if (auto check = dyn_cast<CheckOp>(op))
      lowering.lower(check);
    else if (auto allocate = dyn_cast<AllocateOp>(op))
      lowering.lower(allocate);
    else if (failed(lowering.lower(cast<ResultOp>(op))))
      return failure();
  }
  return success();
}

struct LowerChecks : impl::LowerChecksBase<LowerChecks> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = module->getAttrOfType<TargetAttr>(targetAttrName);
    if (!target) {
      module.emitError() << "expected the attribute " << targetAttrName;
      return signalPassFailure();
    }
    auto indexType = IntegerType::get(&getContext(), target.getIndexBits());
    SmallVector<func::FuncOp> funcs(module.getOps<func::FuncOp>());
    for (func::FuncOp func : funcs)
      if (failed(lowerChecks(func, indexType)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace onnxc
