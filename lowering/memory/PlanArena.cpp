// Bare-metal targets have no heap, and others should not need one: every buffer
// whose size entry knows gets a place in one arena of the caller's. Buffers of
// static size get constant offsets, packed by planArena(). Buffers of symbolic
// size stack above them, each at the end of the highest one below it that lives
// at the same time: a formula of the inputs' sizes that is right for all values
// and computed once at entry. What only the run knows is asked of the caller.
#include "lowering/Passes.h"
#include "lowering/memory/ArenaFormula.h"
#include "lowering/memory/ArenaPlan.h"
#include "lowering/memory/EntryFormulas.h"
#include "lowering/memory/Lifetimes.h"
#include "lowering/memory/Signature.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace onnxc {

#define GEN_PASS_DEF_PLANARENA
#include "lowering/Passes.h.inc"

namespace {

// None where the product does not fit in 63 bits.
std::optional<uint64_t> staticBytes(MemRefType type) {
  int64_t bytes = elementBytes(type);
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(bytes, size, bytes))
      return std::nullopt;
  return bytes;
}

bool isFixed(BufferLifetime buffer) {
  return buffer.alloc.getType().hasStaticShape() && !buffer.outlivesIteration;
}

bool isSymbolic(BufferLifetime buffer) {
  return !buffer.alloc.getType().hasStaticShape() &&
         !buffer.outlivesIteration &&
         llvm::all_of(buffer.alloc.getDynamicSizes(), isKnownAtEntry);
}

void placeAt(memref::AllocOp alloc, Value memory, Value offset) {
  OpBuilder builder(alloc);
  auto view = memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(),
                                     memory, offset, alloc.getDynamicSizes());
  alloc.replaceAllUsesWith(view.getResult());
  alloc.erase();
}

// The bytes of a buffer whose sizes are values of the run; -1 where they are no
// number of bytes: the product is beyond 2^63, or a size is negative.
Value checkedBytes(ImplicitLocOpBuilder &builder, memref::AllocOp alloc) {
  Type i64 = builder.getI64Type();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, i64, value);
  };
  Value zero = number(0), bytes = number(elementBytes(alloc.getType()));
  Value overflows =
      arith::ConstantIntOp::create(builder, builder.getI1Type(), 0);
  auto notes = [&](arith::CmpIPredicate predicate, Value part) {
    Value is = arith::CmpIOp::create(builder, predicate, part, zero);
    overflows = arith::OrIOp::create(builder, overflows, is);
  };
  for (OpFoldResult size : alloc.getMixedSizes()) {
    Value factor = arith::IndexCastOp::create(
        builder, i64,
        getValueOrCreateConstantIndexOp(builder, builder.getLoc(), size));
    auto product = arith::MulUIExtendedOp::create(builder, bytes, factor);
    bytes = product.getLow();
    notes(arith::CmpIPredicate::ne, product.getHigh());
    notes(arith::CmpIPredicate::slt, bytes);
  }
  Value checked =
      arith::SelectOp::create(builder, overflows, number(-1), bytes);
  return arith::IndexCastOp::create(builder, builder.getIndexType(), checked);
}

void placeInCallersMemory(memref::AllocOp alloc) {
  ImplicitLocOpBuilder builder(alloc.getLoc(), alloc);
  auto type = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  Value memory =
      AllocateOp::create(builder, type, checkedBytes(builder, alloc));
  placeAt(alloc, memory, arith::ConstantIndexOp::create(builder, 0));
}

struct PlanArena : impl::PlanArenaBase<PlanArena> {
  using PlanArenaBase::PlanArenaBase;

  void runOnOperation() override {
    func::FuncOp model = findModel(getOperation());
    if (!model)
      return;
    FailureOr<LentMemory> lent = lentMemory(model);
    if (failed(lent))
      return signalPassFailure();
    SmallVector<BufferLifetime> fixed, symbolic, unbounded;
    for (const BufferLifetime &buffer :
         computeLifetimes(model, Positions(model)))
      (isFixed(buffer)      ? fixed
       : isSymbolic(buffer) ? symbolic
                            : unbounded)
          .push_back(buffer);
    fixedBuffers += fixed.size();
    symbolicBuffers += symbolic.size();
    unboundedBuffers += unbounded.size();
    for (BufferLifetime &buffer : unbounded)
      placeInCallersMemory(buffer.alloc);
    SmallVector<Lifetime> ends;
    FailureOr<uint64_t> bytes = placeFixed(lent->arena, fixed, ends);
    if (failed(bytes))
      return signalPassFailure();
    if (symbolic.empty())
      getOperation()->setAttr(arenaBytesAttrName,
                              Builder(&getContext()).getI64IntegerAttr(*bytes));
    placeSymbolic(model, lent->arena, ends, *bytes, symbolic);
  }

  // Returns the bytes that they take; `ends` is where each ends in the arena.
  FailureOr<uint64_t> placeFixed(Value arena, ArrayRef<BufferLifetime> buffers,
                                 SmallVectorImpl<Lifetime> &ends) {
    SmallVector<Lifetime> lifetimes;
    for (BufferLifetime buffer : buffers) {
      std::optional<uint64_t> bytes = staticBytes(buffer.alloc.getType());
      if (!bytes)
        return buffer.alloc.emitError("buffer is larger than 2^63 bytes");
      lifetimes.push_back({buffer.first, buffer.last, *bytes});
    }
    ArenaPlan plan = planArena(lifetimes, arenaAlignment);
    for (auto [lifetime, offset] : llvm::zip(lifetimes, plan.offsets))
      ends.push_back({lifetime.first, lifetime.last,
                      llvm::alignTo(offset + lifetime.bytes, arenaAlignment)});
    for (auto [buffer, offset] : llvm::zip(buffers, plan.offsets)) {
      memref::AllocOp alloc = buffer.alloc;
      OpBuilder builder(alloc);
      placeAt(alloc, arena,
              arith::ConstantIndexOp::create(builder, alloc.getLoc(), offset));
    }
    return plan.bytes;
  }

  // Stacks them above those of fixed size and emits @model_arena_bytes and
  // @model_worker_bytes.
  void placeSymbolic(func::FuncOp model, Value arena,
                     ArrayRef<Lifetime> fixedEnds, uint64_t fixedBytes,
                     ArrayRef<BufferLifetime> buffers) {
    SmallVector<Lifetime> lifetimes;
    SmallVector<memref::AllocOp> allocs;
    for (BufferLifetime buffer : buffers) {
      allocs.push_back(buffer.alloc);
      lifetimes.push_back(
          {buffer.first, buffer.last, hintBytes(buffer.alloc, symbolHint)});
    }
    StackedPlan plan = planStack(lifetimes, arenaAlignment);
    plan.leastBytes = fixedBytes;
    for (auto [floor, lifetime] : llvm::zip(plan.floors, lifetimes))
      for (const Lifetime &end : fixedEnds)
        if (end.meets(lifetime))
          floor = std::max(floor, end.bytes);
    emitArenaBytes(model, plan, allocs);
    emitWorkerBytes(model);
    SmallVector<Value> offsets = emitOffsets(model, plan, allocs);
    for (auto [alloc, offset] : llvm::zip(allocs, offsets))
      placeAt(alloc, arena, offset);
  }
};

} // namespace
} // namespace onnxc
