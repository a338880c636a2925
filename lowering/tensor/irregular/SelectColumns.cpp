#include "lowering/tensor/irregular/SelectColumns.h"
#include "lowering/tensor/irregular/SortOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace onnxc {
namespace {

// Keys, elements and positions of so many of the best fit into registers.
constexpr int64_t mostBest = 8;

class ColumnSelector {
public:
  ColumnSelector(ImplicitLocOpBuilder &b, const Input &x, int64_t axis,
                 int64_t k, int64_t lanes, bool largest)
      : b(b), x(x), order(x, largest), axis(axis), k(k), lanes(lanes) {}

  // The best of the rows that begin at `begin` and beside it.
  Tensors select(ArrayRef<Index> begin, Tensors results) {
    Tensors best;
    best.append(k, order.splat(b, vectorOf(order.keys), order.least()));
    for (Type type : {order.stored, Type(b.getI64Type())})
      best.append(k,
                  arith::ConstantOp::create(b, b.getZeroAttr(vectorOf(type))));
    best =
        visit(b, {x.sizes[axis]}, best, [&](ArrayRef<Index> at, Tensors held) {
          Sizes here(begin);
          here[axis] = at[0];
          return offer(here, std::move(held));
        });
    for (int64_t slot = 0; slot < k; ++slot) {
      Sizes there(begin);
      there[axis] = slot;
      for (int64_t i : {0, 1})
        results[i] = vector::TransferWriteOp::create(
                         b, best[(1 + i) * k + slot], results[i],
                         valuesOf(there), ArrayRef<bool>{true})
                         .getResult();
    }
    return results;
  }

private:
  VectorType vectorOf(Type type) { return VectorType::get({lanes}, type); }
  SmallVector<Value> valuesOf(ArrayRef<Index> at) {
    return llvm::map_to_vector(at, [&](Index index) { return index.in(b); });
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }

  // Lanes that an element beats, or that hold nothing yet.
  Value yields(Value key, Value held, int64_t slot, Index seen) {
    Value beats =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, key, held);
    if (isa<FloatType>(order.stored))
      return beats;
    Value isFree = vector::BroadcastOp::create(b, vectorOf(b.getI1Type()),
                                               (seen <= Index(slot)).in(b));
    return arith::OrIOp::create(b, beats, isFree);
  }

  Tensors offer(ArrayRef<Index> at, Tensors best) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(order.stored));
    Value element = vector::TransferReadOp::create(b, vectorOf(order.stored),
                                                   x.lowered, valuesOf(at),
                                                   zero, ArrayRef<bool>{true});
    Value key = order.keyOf(b, element);
    Value enters = yields(key, best[k - 1], k - 1, at[axis]);
    Value any =
        vector::ReductionOp::create(b, vector::CombiningKind::OR, enters);
    return changeIf(b, {b, any}, std::move(best), [&](Tensors held) {
      Value place = vector::BroadcastOp::create(b, vectorOf(b.getI64Type()),
                                                asInt64(b, at[axis]));
      return insertAll({key, element, place}, at[axis], std::move(held));
    });
  }

  // From the last slot on, each takes what is before it where that yields too.
  Tensors insertAll(ArrayRef<Value> what, Index seen, Tensors best) {
    for (int64_t slot = k - 1; slot >= 0; --slot) {
      Value moves = yields(what[0], best[slot], slot, seen);
      Value isBehind;
      if (slot)
        isBehind = yields(what[0], best[slot - 1], slot - 1, seen);
      for (auto [i, own] : llvm::enumerate(what)) {
        Value &held = best[i * k + slot];
        Value next = slot ? select(isBehind, best[i * k + slot - 1], own) : own;
        held = select(moves, next, held);
      }
    }
    return best;
  }

  ImplicitLocOpBuilder &b;
  const Input &x;
  SortOrder order;
  int64_t axis, k, lanes;
};

} // namespace

int64_t lanesOfColumns(TopKOp op, const Input &x, int64_t axis, Index k) {
  int64_t lanes = axis + 1 < x.rank() ? lanesOfKeys(op, x, k) : 0;
  const Index &columns = x.sizes.back();
  bool mayFill = !columns.number || columns.get() >= lanes;
  return lanes && k.get() <= mostBest && mayFill ? lanes : 0;
}

// The last vector of columns begins where it still fits; of fewer columns than
// that nothing is taken.
Tensors selectColumns(ImplicitLocOpBuilder &b, const Input &x, int64_t axis,
                      int64_t k, int64_t lanes, bool largest, Tensors results) {
  ColumnSelector selector(b, x, axis, k, lanes, largest);
  Sizes blocks = x.sizes;
  Index columns = blocks.back();
  blocks[axis] = 1;
  blocks.back() = onnxc::select(columns >= lanes, ceilDiv(columns, lanes), 0);
  return visit(b, blocks, std::move(results),
               [&](ArrayRef<Index> at, Tensors into) {
                 Sizes begin(at);
                 begin.back() = least(at.back() * lanes, columns - lanes);
                 return selector.select(begin, std::move(into));
               });
}

} // namespace onnxc
