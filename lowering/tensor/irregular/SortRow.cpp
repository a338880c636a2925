// An entry is a key, turned so that the best is least, and below it the
// position. Entries are made in the order of positions and every pass keeps the
// order of equal digits: equal keys need no comparison of positions.
#include "lowering/tensor/irregular/SortRow.h"
#include "lowering/tensor/irregular/SortOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace onnxc {
namespace {

constexpr int64_t keyBits = 32, digitBits = 8, digits = keyBits / digitBits,
                  buckets = 1 << digitBits;

// Where the tensors of a row are in the list that its loop carries.
enum { values, positions, keys, entries, turned, counts };

class RowSorter {
public:
  RowSorter(ImplicitLocOpBuilder &b, const Input &x, int64_t k, int64_t lanes,
            bool largest, ArrayRef<Index> row)
      : b(b), x(x), order(x, largest), k(k), lanes(lanes),
        size(x.sizes.back().get()), row(row) {}

  Tensors sort(Tensors tensors) {
    Tensors collected = k == size ? collectAll(tensors) : collectBest(tensors);
    Index found(b, collected.back());
    collected.pop_back();
    collected = countDigits(found, std::move(collected));
    for (int64_t digit = 0; digit < digits; ++digit)
      collected = moveByDigit(digit, found, std::move(collected));
    return store(std::move(collected));
  }

private:
  Value integer(Type type, int64_t number) {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, number));
  }
  Type word() { return b.getI64Type(); }
  Value element(Index at) {
    Sizes there(row);
    there.back() = at;
    return extract(b, x.lowered, there);
  }
  Value vectorAt(Value from, ArrayRef<Index> at, Type type) {
    SmallVector<Value> indices;
    for (Index index : at)
      indices.push_back(index.in(b));
    Value padding = arith::ConstantOp::create(b, b.getZeroAttr(type));
    return vector::TransferReadOp::create(b, VectorType::get({lanes}, type),
                                          from, indices, padding,
                                          ArrayRef<bool>{true});
  }
  Value spread(Value key) {
    auto type = VectorType::get({lanes}, order.keys);
    return vector::BroadcastOp::create(b, type, key);
  }
  // Of an entry, as a position among the counts.
  Index digitOf(Value entry, int64_t digit) {
    Value shift = integer(word(), keyBits + digit * digitBits);
    Value shifted = arith::ShRUIOp::create(b, entry, shift);
    return {b, arith::IndexCastUIOp::create(
                   b, b.getIndexType(),
                   arith::AndIOp::create(b, shifted,
                                         integer(word(), buckets - 1)))};
  }
  Value entryOf(Value key, Index at);
  Tensors append(Value entry, Tensors collected);
  Tensors collectAll(Tensors tensors);
  Tensors collectBest(Tensors tensors);
  Tensors collectMarked(Value mask, Index block, Tensors collected);
  Value keepKeys(Value into);
  Value boundOf(Value kept);
  Value countFrom(Value kept, Value bound);
  Tensors countDigits(Index found, Tensors tensors);
  Tensors moveByDigit(int64_t digit, Index found, Tensors tensors);
  Tensors store(Tensors tensors);

  ImplicitLocOpBuilder &b;
  const Input &x;
  SortOrder order;
  int64_t k, lanes, size;
  ArrayRef<Index> row; // the last position is along it
};

Value RowSorter::entryOf(Value key, Index at) {
  Value inverse = arith::XOrIOp::create(
      b, key, order.splat(b, order.keys, APInt::getSignedMaxValue(keyBits)));
  Value wide = arith::ExtUIOp::create(b, word(), inverse);
  return arith::OrIOp::create(
      b, arith::ShLIOp::create(b, wide, integer(word(), keyBits)),
      asInt64(b, at));
}

// At the end of what is carried is how many entries there are.
Tensors RowSorter::append(Value entry, Tensors collected) {
  Index end(b, collected.back());
  collected[entries] = insert(b, entry, collected[entries], {end});
  collected.back() = (end + 1).in(b);
  return collected;
}

Tensors RowSorter::collectAll(Tensors tensors) {
  tensors[entries] =
      visit(b, {size}, {tensors[entries]}, [&](ArrayRef<Index> at, Tensors in) {
        Value entry = entryOf(order.keyOf(b, element(at[0])), at[0]);
        return Tensors{insert(b, entry, in[0], at)};
      })[0];
  tensors.push_back(Index(size).in(b));
  return tensors;
}

// Those behind the end of the row are no better than any in it.
Value RowSorter::keepKeys(Value into) {
  int64_t whole = size / lanes * lanes;
  into = visit(b, {size / lanes}, {into}, [&](ArrayRef<Index> at, Tensors in) {
    Sizes from(row);
    from.back() = at[0] * lanes;
    Value block = vectorAt(x.lowered, from, order.stored);
    return Tensors{vector::TransferWriteOp::create(
                       b, order.keyOf(b, block), in[0],
                       ValueRange{from.back().in(b)}, ArrayRef<bool>{true})
                       .getResult()};
  })[0];
  into = visit(b, {size - whole}, {into}, [&](ArrayRef<Index> at, Tensors in) {
    Index there = at[0] + whole;
    return Tensors{insert(b, order.keyOf(b, element(there)), in[0], {there})};
  })[0];
  int64_t padding = llvm::alignTo(size, lanes) - size;
  return visit(b, {padding}, {into}, [&](ArrayRef<Index> at, Tensors in) {
    return Tensors{insert(b, order.splat(b, order.keys, order.least()), in[0],
                          {at[0] + size})};
  })[0];
}

// How many keys are no less.
Value RowSorter::countFrom(Value kept, Value bound) {
  Value bounds = spread(bound);
  Value none = arith::ConstantOp::create(b, b.getZeroAttr(bounds.getType()));
  Value each = visit(
      b, {llvm::divideCeil(size, lanes)}, {none},
      [&](ArrayRef<Index> at, Tensors sums) {
        Value here = vectorAt(kept, {at[0] * lanes}, order.keys);
        Value isOne =
            arith::CmpIOp::create(b, arith::CmpIPredicate::sge, here, bounds);
        Value one = arith::ExtUIOp::create(b, bounds.getType(), isOne);
        return Tensors{arith::AddIOp::create(b, sums[0], one).getResult()};
      })[0];
  return vector::ReductionOp::create(b, vector::CombiningKind::ADD, each);
}

// The k-th best key, bit by bit: each stays if k keys are no less.
Value RowSorter::boundOf(Value kept) {
  APInt top = order.least(); // where unsigned bits become signed keys
  Value start = order.splat(b, order.keys, APInt::getZero(keyBits));
  Value bits =
      visit(b, {keyBits}, {start}, [&](ArrayRef<Index> at, Tensors in) {
        Value place = arith::IndexCastOp::create(b, order.keys, at[0].in(b));
        Value bit =
            arith::ShRUIOp::create(b, order.splat(b, order.keys, top), place);
        Value tried = arith::OrIOp::create(b, in[0], bit);
        Value key =
            arith::XOrIOp::create(b, tried, order.splat(b, order.keys, top));
        Value isEnough =
            arith::CmpIOp::create(b, arith::CmpIPredicate::sge,
                                  countFrom(kept, key), integer(order.keys, k));
        return Tensors{arith::SelectOp::create(b, isEnough, tried, in[0])};
      })[0];
  return arith::XOrIOp::create(b, bits, order.splat(b, order.keys, top));
}

Tensors RowSorter::collectMarked(Value mask, Index block, Tensors collected) {
  Type bits = b.getIntegerType(lanes);
  Tensors start = {vector::ExtractOp::create(
      b, vector::BitCastOp::create(b, VectorType::get({1}, bits), mask),
      int64_t(0))};
  start.append(collected);
  auto before = [&](OpBuilder &, Location, ValueRange state) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(bits));
    Value isLeft =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, state[0], zero);
    scf::ConditionOp::create(b, isLeft, state);
  };
  auto after = [&](OpBuilder &, Location, ValueRange state) {
    Value lane = math::CountTrailingZerosOp::create(b, state[0]);
    Index at =
        block +
        Index(b, arith::IndexCastUIOp::create(b, b.getIndexType(), lane));
    Value less = arith::SubIOp::create(b, state[0], integer(bits, 1));
    Tensors next = {arith::AndIOp::create(b, state[0], less)};
    Value key = extract(b, state[1 + keys], {at});
    next.append(append(entryOf(key, at), Tensors(state.drop_front())));
    scf::YieldOp::create(b, next);
  };
  auto loop = scf::WhileOp::create(b, ValueRange(start).getTypes(), start,
                                   before, after);
  return Tensors(loop.getResults().drop_front());
}

Tensors RowSorter::collectBest(Tensors tensors) {
  tensors[keys] = keepKeys(tensors[keys]);
  Value bounds = spread(boundOf(tensors[keys]));
  tensors.push_back(Index(0).in(b));
  return visit(b, {llvm::divideCeil(size, lanes)}, tensors,
               [&](ArrayRef<Index> at, Tensors held) {
                 Index block = at[0] * lanes;
                 Value here = vectorAt(held[keys], {block}, order.keys);
                 Value mask = arith::CmpIOp::create(
                     b, arith::CmpIPredicate::sge, here, bounds);
                 return collectMarked(mask, block, std::move(held));
               });
}

// The place of the first entry of each digit, in every pass.
Tensors RowSorter::countDigits(Index found, Tensors tensors) {
  Value none = integer(word(), 0), one = integer(word(), 1);
  Value start = linalg::FillOp::create(b, none, tensors[counts]).getResult(0);
  Value count = visit(b, {found}, {start}, [&](ArrayRef<Index> at, Tensors in) {
    Value entry = extract(b, tensors[entries], at);
    for (int64_t digit = 0; digit < digits; ++digit) {
      Index bucket = digitOf(entry, digit);
      Value more =
          arith::AddIOp::create(b, extract(b, in[0], {digit, bucket}), one);
      in[0] = insert(b, more, in[0], {digit, bucket});
    }
    return in;
  })[0];
  for (int64_t digit = 0; digit < digits; ++digit)
    count =
        visit(b, {buckets}, {count, none}, [&](ArrayRef<Index> at, Tensors in) {
          Value own = extract(b, in[0], {digit, at[0]});
          return Tensors{insert(b, in[1], in[0], {digit, at[0]}),
                         arith::AddIOp::create(b, in[1], own)};
        })[0];
  tensors[counts] = count;
  return tensors;
}

Tensors RowSorter::moveByDigit(int64_t digit, Index found, Tensors tensors) {
  int from = digit % 2 ? turned : entries, to = digit % 2 ? entries : turned;
  Tensors moved = visit(
      b, {found}, {tensors[to], tensors[counts]},
      [&](ArrayRef<Index> at, Tensors in) {
        Value entry = extract(b, tensors[from], at);
        Index bucket = digitOf(entry, digit);
        Value place = extract(b, in[1], {digit, bucket});
        Index there(b, arith::IndexCastOp::create(b, b.getIndexType(), place));
        return Tensors{
            insert(b, entry, in[0], {there}),
            insert(b, asInt64(b, there + 1), in[1], {digit, bucket})};
      });
  tensors[to] = moved[0];
  tensors[counts] = moved[1];
  return tensors;
}

Tensors RowSorter::store(Tensors tensors) {
  static_assert(digits % 2 == 0, "the last pass writes the entries");
  Value low = integer(word(), (int64_t(1) << keyBits) - 1);
  Tensors stored = visit(
      b, {k}, {tensors[values], tensors[positions]},
      [&](ArrayRef<Index> at, Tensors in) {
        Value position =
            arith::AndIOp::create(b, extract(b, tensors[entries], at), low);
        Index there(b,
                    arith::IndexCastOp::create(b, b.getIndexType(), position));
        Sizes slot(row);
        slot.back() = at[0];
        return Tensors{insert(b, element(there), in[0], slot),
                       insert(b, position, in[1], slot)};
      });
  tensors[values] = stored[0];
  tensors[positions] = stored[1];
  return tensors;
}

} // namespace

int64_t lanesOfSort(TopKOp op, const Input &x, int64_t axis, Index k) {
  if (axis + 1 != x.rank() || !x.sizes.back().number ||
      x.sizes.back().get() > std::numeric_limits<int32_t>::max() ||
      getElementTypeOrSelf(x.lowered).getIntOrFloatBitWidth() != keyBits)
    return 0;
  return lanesOfKeys(op, x, k);
}

Tensors memoryOfSort(ImplicitLocOpBuilder &b, const Input &x, int64_t lanes) {
  int64_t most = llvm::alignTo(x.sizes.back().get(), lanes);
  return {emptyOf(b, {most}, b.getIntegerType(keyBits)),
          emptyOf(b, {most}, b.getI64Type()),
          emptyOf(b, {most}, b.getI64Type()),
          emptyOf(b, {digits, buckets}, b.getI64Type())};
}

Tensors sortRow(ImplicitLocOpBuilder &b, const Input &x, int64_t k,
                int64_t lanes, bool largest, ArrayRef<Index> row,
                Tensors tensors) {
  return RowSorter(b, x, k, lanes, largest, row).sort(std::move(tensors));
}

} // namespace onnxc
