// The planner gives a kernel's scratch a place in the arena. That is one
// worker's; the others have theirs before the arena, where the entry makes room
// for as many as there are (EmitModelDescriptor). So nothing grows where there
// is one worker alone.
#include "lowering/loops/WorkerScratch.h"
#include "lowering/loops/KernelWork.h"
#include "lowering/memory/ArenaFormula.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace onnxc {
namespace {

unsigned scratchCount(func::FuncOp function) {
  auto count = function->getAttrOfType<IntegerAttr>(scratchAttrName);
  return count ? count.getInt() : 0;
}

int64_t paddedBytes(Type type) {
  auto memref = cast<MemRefType>(type);
  return llvm::alignTo(memref.getNumElements() *
                           memref.getElementTypeBitWidth() / 8,
                       arenaAlignment);
}

memref::ViewOp placeOf(Value scratch) {
  while (auto cast = scratch.getDefiningOp<memref::CastOp>())
    scratch = cast.getSource();
  auto view = scratch.getDefiningOp<memref::ViewOp>();
  return view && isa<BlockArgument>(view.getSource()) ? view : memref::ViewOp();
}

} // namespace

std::optional<int64_t> scratchBytes(func::FuncOp function,
                                    ArrayRef<func::CallOp> calls) {
  unsigned count = scratchCount(function);
  int64_t bytes = 0;
  for (Type type : function.getArgumentTypes().take_back(count)) {
    if (!cast<MemRefType>(type).getLayout().isIdentity())
      return std::nullopt;
    bytes += paddedBytes(type);
  }
  for (func::CallOp call : calls)
    for (Value scratch : call.getOperands().take_back(count))
      if (!placeOf(scratch))
        return std::nullopt;
  return bytes;
}

void giveScratchToWorkers(func::FuncOp function, ArrayRef<func::CallOp> calls,
                          Value worker, int64_t workerBytes) {
  unsigned count = scratchCount(function);
  if (count == 0)
    return;
  auto b =
      ImplicitLocOpBuilder::atBlockBegin(function.getLoc(), &function.front());
  unsigned first = cast<BlockArgument>(worker).getArgNumber() - count;
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, worker, constant(0));
  Value own = arith::MulIOp::create(b, worker, constant(-workerBytes));
  auto arenaType = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  (void)function.insertArgument(first, arenaType, {}, function.getLoc());
  Value arena = function.getArgument(first);
  int64_t within = 0;
  for (unsigned i = 0; i < count; ++i) {
    BlockArgument scratch = function.getArgument(first + 1 + i);
    auto type = cast<MemRefType>(scratch.getType());
    (void)function.insertArgument(first + 1 + i, b.getIndexType(), {},
                                  function.getLoc());
    Value planned = function.getArgument(first + 1 + i);
    Value offset = arith::SelectOp::create(
        b, isFirst, planned, arith::AddIOp::create(b, own, constant(within)));
    scratch.replaceAllUsesWith(
        memref::ViewOp::create(b, type, arena, offset, ValueRange())
            .getResult());
    (void)function.eraseArgument(first + 2 + i);
    within += paddedBytes(type);
  }
  for (func::CallOp call : calls) {
    SmallVector<Value> operands(call.getOperands().take_front(first));
    ValueRange scratch = call.getOperands().slice(first, count);
    operands.push_back(placeOf(scratch.front()).getSource());
    for (Value value : scratch)
      operands.push_back(placeOf(value).getByteShift());
    llvm::append_range(operands, call.getOperands().drop_front(first + count));
    call.getOperandsMutable().assign(operands);
  }
}

} // namespace onnxc
