#include "lowering/tensor/irregular/SelectRow.h"
#include "lowering/tensor/irregular/SortOrder.h"
#include "lowering/tensor/irregular/SortRow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace onnxc {
namespace {

// Vectors that hold the best of a row: keys and positions, of so many each.
// Where rows can be sorted, less: that takes less time then.
constexpr int64_t mostVectors = 4, mostUnsorted = 2;

// Of so many vectors a first pass finds what the best are no worse than: the
// k-th of the maxima of as many parts of the row as there are lanes. Few
// elements are left then. Rows of less blocks than vectors are walked once.
constexpr int64_t mostBounded = 2;

class RowSelector {
public:
  RowSelector(ImplicitLocOpBuilder &b, const Input &x, int64_t k, int64_t lanes,
              bool largest);
  // Writes the best of the row that begins at `row` into values and positions.
  Tensors select(ArrayRef<Index> row, Tensors results);

private:
  using Vectors = SmallVector<Value>;
  // Keys, positions; at the end how many there are.
  using Best = SmallVector<Value>;

  Value spread(Value scalar) {
    auto type = VectorType::get({lanes}, scalar.getType());
    return vector::BroadcastOp::create(b, type, scalar);
  }
  Value splat(Type like, const APInt &number) {
    return order.splat(b, like, number);
  }
  Value keyOf(Value element) { return order.keyOf(b, element); }
  Value beats(Value key, Value held) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, key, held);
  }
  Value slots(int64_t first);
  Value position(Index at);
  Value worst(const Best &best);
  Value up(Value before, Value vector);
  Best insert(Value element, Index at, const Best &best);
  Best insertMarked(Value mask, Index block, const Best &best);
  Value element(Index at);
  Value keysAt(Index at);
  Value bound();
  Value kthOf(const Vectors &keys);
  Condition isFree(const Best &best);
  Best takeBlock(Index at, const Best &best);
  Best takeOne(Index at, const Best &best);
  Tensors store(const Best &best, Tensors results);

  ImplicitLocOpBuilder &b;
  const Input &x;
  int64_t k, lanes, count; // of vectors
  SortOrder order;
  Type type, positionType;
  IntegerType keyType;
  Sizes row;   // the last position is along it
  Value limit; // keys that are less need not be looked at; null where none
};

RowSelector::RowSelector(ImplicitLocOpBuilder &b, const Input &x, int64_t k,
                         int64_t lanes, bool largest)
    : b(b), x(x), k(k), lanes(lanes), count(llvm::divideCeil(k, lanes)),
      order(x, largest), type(getElementTypeOrSelf(x.lowered)),
      keyType(order.keys) {
  std::optional<int64_t> size = x.sizes.back().number;
  positionType = size && *size <= std::numeric_limits<int32_t>::max()
                     ? b.getI32Type()
                     : b.getI64Type();
}

Value RowSelector::slots(int64_t first) {
  SmallVector<Attribute> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(b.getIntegerAttr(positionType, first + lane));
  return arith::ConstantOp::create(
      b,
      DenseElementsAttr::get(VectorType::get({lanes}, positionType), numbers));
}

Value RowSelector::position(Index at) {
  return b.createOrFold<arith::IndexCastOp>(positionType, at.in(b));
}

Value RowSelector::element(Index at) {
  Sizes there = row;
  there.back() = at;
  return extract(b, x.lowered, there);
}

// The last one of the best.
Value RowSelector::worst(const Best &best) {
  return vector::ExtractOp::create(b, best[(k - 1) / lanes], (k - 1) % lanes);
}

// Every lane gets what the one before it has.
Value RowSelector::up(Value before, Value vector) {
  SmallVector<int64_t> from = {lanes - 1};
  for (int64_t lane = 1; lane < lanes; ++lane)
    from.push_back(lanes + lane - 1);
  return vector::ShuffleOp::create(b, before, vector, from);
}

// Lanes that the element beats take what is before them; the first of those
// takes the element. So do lanes that hold nothing yet; of floats they hold the
// key of none.
RowSelector::Best RowSelector::insert(Value element, Index at,
                                      const Best &best) {
  Value here = keyOf(spread(element)), place = spread(position(at));
  Value held = spread(position(Index(b, best.back())));
  auto yields = [&](Value key, int64_t first) -> Value {
    if (isa<FloatType>(type))
      return beats(here, key);
    Value isFree =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sge, slots(first), held);
    return arith::OrIOp::create(b, beats(here, key), isFree);
  };
  Best changed(best);
  for (int64_t i = 0; i < count; ++i) {
    int64_t before = std::max<int64_t>(i - 1, 0);
    Value moved = up(best[before], best[i]);
    Value isBehind = yields(moved, i * lanes - 1);
    if (i == 0) {
      SmallVector<bool> behindFirst(lanes, true);
      behindFirst[0] = false;
      isBehind = arith::AndIOp::create(
          b, isBehind,
          arith::ConstantOp::create(b, b.getBoolVectorAttr(behindFirst)));
    }
    Value moves = yields(best[i], i * lanes);
    auto choose = [&](Value moved, Value own, Value kept) -> Value {
      Value next = arith::SelectOp::create(b, isBehind, moved, own);
      return arith::SelectOp::create(b, moves, next, kept);
    };
    changed[i] = choose(moved, here, best[i]);
    changed[count + i] = choose(up(best[count + before], best[count + i]),
                                place, best[count + i]);
  }
  changed.back() = (Index(b, best.back()) + 1).in(b);
  return changed;
}

// Offers the elements of a block whose lanes are marked, in their order.
RowSelector::Best RowSelector::insertMarked(Value mask, Index block,
                                            const Best &best) {
  Type bits = b.getIntegerType(lanes);
  Value all = vector::ExtractOp::create(
      b, vector::BitCastOp::create(b, VectorType::get({1}, bits), mask),
      int64_t(0));
  Vectors start = {all};
  start.append(best);
  SmallVector<Type> types;
  for (Value value : start)
    types.push_back(value.getType());
  auto before = [&](OpBuilder &, Location, ValueRange state) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(bits));
    Value isLeft =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, state[0], zero);
    scf::ConditionOp::create(b, isLeft, state);
  };
  auto after = [&](OpBuilder &, Location, ValueRange state) {
    Value one = arith::ConstantOp::create(b, b.getIntegerAttr(bits, 1));
    Value lane = math::CountTrailingZerosOp::create(b, state[0]);
    Index at =
        block +
        Index(b, arith::IndexCastUIOp::create(b, b.getIndexType(), lane));
    Value rest = arith::AndIOp::create(b, state[0],
                                       arith::SubIOp::create(b, state[0], one));
    Vectors next = {rest};
    next.append(insert(element(at), at, Vectors(state.drop_front())));
    scf::YieldOp::create(b, next);
  };
  auto loop = scf::WhileOp::create(b, types, start, before, after);
  return Vectors(loop.getResults().drop_front());
}

Value RowSelector::keysAt(Index at) {
  SmallVector<Value> indices;
  for (Index index : ArrayRef(row).drop_back())
    indices.push_back(index.in(b));
  indices.push_back(at.in(b));
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
  return keyOf(vector::TransferReadOp::create(b, VectorType::get({lanes}, type),
                                              x.lowered, indices, zero,
                                              ArrayRef<bool>{true}));
}

// The least of those that less than k are greater than.
Value RowSelector::kthOf(const Vectors &keys) {
  APInt most = APInt::getSignedMaxValue(keyType.getWidth());
  Value kth;
  for (Value key : keys) {
    Value greater = splat(key.getType(), APInt::getZero(keyType.getWidth()));
    for (Value other : keys)
      for (int64_t turn = 0; turn < lanes; ++turn) {
        SmallVector<int64_t> from;
        for (int64_t lane = 0; lane < lanes; ++lane)
          from.push_back((lane + turn) % lanes);
        Value turned = vector::ShuffleOp::create(b, other, other, from);
        Value one =
            arith::ExtUIOp::create(b, key.getType(), beats(turned, key));
        greater = arith::AddIOp::create(b, greater, one);
      }
    Value isOne =
        beats(splat(key.getType(), APInt(keyType.getWidth(), k)), greater);
    key = arith::SelectOp::create(b, isOne, key, splat(key.getType(), most));
    kth = kth ? arith::MinSIOp::create(b, kth, key).getResult() : key;
  }
  return vector::ReductionOp::create(b, vector::CombiningKind::MINSI, kth);
}

Value RowSelector::bound() {
  Index size = x.sizes.back();
  int64_t step = count * lanes;
  if (count > mostBounded || (size.number && size.get() < count * step))
    return {};
  Vectors none(count, splat(VectorType::get({lanes}, keyType),
                            APInt::getSignedMinValue(keyType.getWidth())));
  return kthOf(
      visit(b, {size / step}, none, [&](ArrayRef<Index> at, Tensors most) {
        for (auto [i, value] : llvm::enumerate(most))
          value = arith::MaxSIOp::create(b, value,
                                         keysAt(at[0] * step + i * lanes));
        return most;
      }));
}

// Whether the last of the best is none yet; of floats its key tells.
Condition RowSelector::isFree(const Best &best) {
  return isa<FloatType>(type) ? Condition(false)
                              : Index(b, best.back()) < Index(k);
}

RowSelector::Best RowSelector::takeBlock(Index at, const Best &best) {
  Value keys = keysAt(at), mask = beats(keys, spread(worst(best)));
  if (Condition free = isFree(best); !free.isFalse())
    mask = arith::OrIOp::create(b, mask, spread(free.in(b)));
  if (limit)
    mask = arith::AndIOp::create(
        b, mask,
        arith::CmpIOp::create(b, arith::CmpIPredicate::sge, keys,
                              spread(limit)));
  return insertMarked(mask, at, best);
}

RowSelector::Best RowSelector::takeOne(Index at, const Best &best) {
  Value here = element(at);
  Condition enters =
      isFree(best) || Condition(b, beats(keyOf(here), worst(best)));
  return changeIf(b, enters, best,
                  [&](Tensors held) { return insert(here, at, held); });
}

Tensors RowSelector::store(const Best &best, Tensors results) {
  Sizes slot = row;
  for (int64_t i = 0; i < k; ++i) {
    slot.back() = i;
    Value position =
        vector::ExtractOp::create(b, best[count + i / lanes], i % lanes);
    Index at(b, arith::IndexCastOp::create(b, b.getIndexType(), position));
    results = {onnxc::insert(b, element(at), results[0], slot),
               onnxc::insert(b, asInt64(b, at), results[1], slot)};
  }
  return results;
}

Tensors RowSelector::select(ArrayRef<Index> begin, Tensors results) {
  row = Sizes(begin);
  Best best;
  Value none = splat(VectorType::get({lanes}, keyType),
                     APInt::getSignedMinValue(keyType.getWidth()));
  Value nowhere = arith::ConstantOp::create(
      b, b.getZeroAttr(VectorType::get({lanes}, positionType)));
  best.append(count, none);
  best.append(count, nowhere);
  best.push_back(Index(0).in(b));
  limit = bound();
  Index size = x.sizes.back(), blocks = size / lanes;
  best = visit(b, {blocks}, best, [&](ArrayRef<Index> at, Tensors held) {
    return takeBlock(at[0] * lanes, held);
  });
  best = visit(b, {size - blocks * lanes}, best,
               [&](ArrayRef<Index> at, Tensors held) {
                 return takeOne(blocks * lanes + at[0], held);
               });
  return store(best, results);
}

} // namespace

int64_t lanesOfSelection(TopKOp op, const Input &x, int64_t axis, Index k) {
  int64_t lanes = axis + 1 == x.rank() ? lanesOfKeys(op, x, k) : 0;
  if (!lanes)
    return 0;
  int64_t most = mostVectors;
  if (lanesOfSort(op, x, axis, k))
    most = isLongToSort(x, k.get(), lanes) ? 1 : mostUnsorted;
  return k.get() <= most * lanes ? lanes : 0;
}

Tensors selectRow(ImplicitLocOpBuilder &b, const Input &x, int64_t k,
                  int64_t lanes, bool largest, ArrayRef<Index> row,
                  Tensors results) {
  return RowSelector(b, x, k, lanes, largest).select(row, std::move(results));
}

} // namespace onnxc
