// The planner gives a kernel's scratch a place in the arena. That is one
// worker's; the others have theirs before the arena, where the entry makes room
// for as many as there are (EmitModelDescriptor). So nothing grows where there
// is one worker alone.
#include "lowering/loops/WorkerScratch.h"
#include "lowering/loops/IndexMath.h"
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

bool isOfAnySize(Type type) { return !cast<MemRefType>(type).hasStaticShape(); }

int64_t fixedBytes(Type type) {
  auto memref = cast<MemRefType>(type);
  return isOfAnySize(type)
             ? 0
             : llvm::alignTo(memref.getNumElements() *
                                 memref.getElementTypeBitWidth() / 8,
                             arenaAlignment);
}

memref::ViewOp placeOf(Value scratch) {
  while (auto cast = scratch.getDefiningOp<memref::CastOp>())
    scratch = cast.getSource();
  auto view = scratch.getDefiningOp<memref::ViewOp>();
  return view && isa<BlockArgument>(view.getSource()) ? view : memref::ViewOp();
}

// Of one scratch argument: what the function gets in its place.
struct Place {
  BlockArgument scratch;
  MemRefType type;
  Value planned;           // offset of the first worker's
  SmallVector<Value> size; // where only the run knows it
  OpFoldResult within;     // offset in a worker's own memory

  OpFoldResult paddedBytes(ImplicitLocOpBuilder &b) const {
    if (size.empty())
      return number(b, fixedBytes(type));
    OpFoldResult line = number(b, arenaAlignment);
    return multiply(b, ceilDivide(b, size.front(), line), line);
  }
};

void passPlaces(func::CallOp call, unsigned first, unsigned count) {
  SmallVector<Value> operands(call.getOperands().take_front(first));
  ValueRange scratch = call.getOperands().slice(first, count);
  operands.push_back(placeOf(scratch.front()).getSource());
  for (Value value : scratch) {
    operands.push_back(placeOf(value).getByteShift());
    llvm::append_range(operands, placeOf(value).getSizes());
  }
  llvm::append_range(operands, call.getOperands().drop_front(first + count));
  call.getOperandsMutable().assign(operands);
}

} // namespace

std::optional<int64_t> scratchBytes(func::FuncOp function,
                                    ArrayRef<func::CallOp> calls) {
  unsigned count = scratchCount(function);
  int64_t bytes = 0;
  for (Type type : function.getArgumentTypes().take_back(count)) {
    auto memref = cast<MemRefType>(type);
    bool isBytes =
        memref.getRank() == 1 && memref.getElementType().isInteger(8);
    if (!memref.getLayout().isIdentity() || (isOfAnySize(type) && !isBytes))
      return std::nullopt;
    bytes += fixedBytes(type);
  }
  for (func::CallOp call : calls)
    for (Value scratch : call.getOperands().take_back(count))
      if (!placeOf(scratch))
        return std::nullopt;
  return bytes;
}

bool hasScratchOfAnySize(func::FuncOp function) {
  return llvm::any_of(
      function.getArgumentTypes().take_back(scratchCount(function)),
      isOfAnySize);
}

void giveScratchToWorkers(func::FuncOp function, ArrayRef<func::CallOp> calls,
                          Value worker) {
  unsigned count = scratchCount(function);
  if (count == 0)
    return;
  unsigned first = cast<BlockArgument>(worker).getArgNumber() - count;
  for (func::CallOp call : calls)
    passPlaces(call, first, count);
  auto b =
      ImplicitLocOpBuilder::atBlockBegin(function.getLoc(), &function.front());
  unsigned next = first;
  auto addArgument = [&](Type type) -> Value {
    (void)function.insertArgument(next, type, {}, function.getLoc());
    return function.getArgument(next++);
  };
  Value arena =
      addArgument(MemRefType::get({ShapedType::kDynamic}, b.getI8Type()));
  SmallVector<Place> places(count);
  OpFoldResult end = number(b, 0);
  for (Place &place : places) {
    place.type = cast<MemRefType>(function.getArgument(next).getType());
    place.planned = addArgument(b.getIndexType());
    if (isOfAnySize(place.type))
      place.size.push_back(addArgument(b.getIndexType()));
    place.scratch = function.getArgument(next++);
    place.within = end;
    end = add(b, end, place.paddedBytes(b));
  }
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, worker,
                                        asValue(b, number(b, 0)));
  OpFoldResult own = multiply(b, worker, subtract(b, number(b, 0), end));
  for (Place &place : places) {
    Value offset = arith::SelectOp::create(
        b, isFirst, place.planned, asValue(b, add(b, own, place.within)));
    Value memory =
        memref::ViewOp::create(b, place.type, arena, offset, place.size);
    place.scratch.replaceAllUsesWith(memory);
    (void)function.eraseArgument(place.scratch.getArgNumber());
  }
}

} // namespace onnxc
