// An entry is a key, turned so that the best is least, and below it the
// position. Those of equal keys are made in the order of positions and every
// pass keeps the order of equal digits: positions need no comparison there.
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
enum { values, positions, keys, most, entries, turned, counts };

// Into how many parts a row is divided to look for the best of each, a multiple
// of the lanes: half of them hold one of the best, of which a row that is long
// has few more than it asks for.
int64_t partsOf(int64_t k, int64_t lanes) {
  return llvm::alignTo(2 * k, lanes);
}
constexpr int64_t leastPerPart = 4;

// So few entries are compared with each other, which takes less time than
// counting their digits.
constexpr int64_t mostRanked = 128;

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
    if (k <= mostRanked)
      collected = changeIf(
          b, found <= mostRanked, std::move(collected),
          [&](Tensors few) { return sortByRank(found, std::move(few)); });
    collected = changeIf(
        b, k > mostRanked || found > mostRanked, std::move(collected),
        [&](Tensors many) { return sortByDigits(found, std::move(many)); });
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
  Value write(Value vector, Value into, Index at) {
    return vector::TransferWriteOp::create(
               b, vector, into, ValueRange{at.in(b)}, ArrayRef<bool>{true})
        .getResult();
  }
  Value vectorAt(Value from, ArrayRef<Index> at, VectorType type) {
    SmallVector<Value> indices;
    for (Index index : at)
      indices.push_back(index.in(b));
    Value padding =
        arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
    return vector::TransferReadOp::create(b, type, from, indices, padding,
                                          ArrayRef<bool>{true});
  }
  Value vectorAt(Value from, ArrayRef<Index> at, Type type) {
    return vectorAt(from, at, VectorType::get({lanes}, type));
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
  Tensors collectMarked(Value marked, Index block, Tensors collected);
  Value keepKeys(Value into);
  Value mostOfParts(Value kept, Value into);
  Value boundOf(Value kept);
  Value countFrom(Value kept, Value bound);
  Tensors collect(Tensors tensors, function_ref<Value(Value, Index)> marks);
  Tensors sortByRank(Index found, Tensors tensors);
  Tensors sortByDigits(Index found, Tensors tensors);
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
    return Tensors{write(order.keyOf(b, block), in[0], from.back())};
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

// The best key of each part, whose elements lie one round of parts apart. What
// no whole round is left for has no part.
Value RowSorter::mostOfParts(Value kept, Value into) {
  int64_t parts = partsOf(k, lanes);
  into =
      linalg::FillOp::create(b, order.splat(b, order.keys, order.least()), into)
          .getResult(0);
  return visit(b, {size / parts, parts / lanes}, {into},
               [&](ArrayRef<Index> at, Tensors in) {
                 Index part = at[1] * lanes;
                 Value here =
                     vectorAt(kept, {at[0] * parts + part}, order.keys);
                 Value best = arith::MaxSIOp::create(
                     b, vectorAt(in[0], {part}, order.keys), here);
                 return Tensors{write(best, in[0], part)};
               })[0];
}

// How many keys are no less.
Value RowSorter::countFrom(Value kept, Value bound) {
  Value bounds = spread(bound);
  Value none = arith::ConstantOp::create(b, b.getZeroAttr(bounds.getType()));
  int64_t count = cast<ShapedType>(kept.getType()).getNumElements();
  Value each =
      visit(b, {count / lanes}, {none}, [&](ArrayRef<Index> at, Tensors sums) {
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

// Entries of a block's lanes whose bits are set.
Tensors RowSorter::collectMarked(Value marked, Index block, Tensors collected) {
  Type bits = marked.getType();
  Tensors start = {marked};
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

// Entries of the keys that `marks` tells, a vector's after the other.
Tensors RowSorter::collect(Tensors tensors,
                           function_ref<Value(Value, Index)> marks) {
  return visit(b, {llvm::divideCeil(size, lanes)}, tensors,
               [&](ArrayRef<Index> at, Tensors held) {
                 Index block = at[0] * lanes;
                 Value here = vectorAt(held[keys], {block}, order.keys);
                 Value marked = marks(here, {b, held.back()});
                 return collectMarked(marked, block, std::move(held));
               });
}

// At least k are no less than the k-th best of the parts. Of those that are
// equal to it, as zeros often are, only as many as are missing.
Tensors RowSorter::collectBest(Tensors tensors) {
  tensors[keys] = keepKeys(tensors[keys]);
  bool isLong = isLongToSort(x, k, lanes);
  if (isLong)
    tensors[most] = mostOfParts(tensors[keys], tensors[most]);
  Value bounds = spread(boundOf(tensors[isLong ? most : keys]));
  tensors.push_back(Index(0).in(b));
  Type bits = b.getIntegerType(lanes);
  auto bitsOf = [&](arith::CmpIPredicate predicate, Value here) -> Value {
    Value mask = arith::CmpIOp::create(b, predicate, here, bounds);
    return vector::ExtractOp::create(
        b, vector::BitCastOp::create(b, VectorType::get({1}, bits), mask),
        int64_t(0));
  };
  tensors = collect(std::move(tensors), [&](Value here, Index) {
    return bitsOf(arith::CmpIPredicate::sgt, here);
  });
  return collect(std::move(tensors), [&](Value here, Index found) -> Value {
    return arith::SelectOp::create(b, (found < k).in(b),
                                   bitsOf(arith::CmpIPredicate::eq, here),
                                   integer(bits, 0));
  });
}

// An entry's place is how many are less. Behind the entries lie some that are
// greater than all, which fill the last vector.
Tensors RowSorter::sortByRank(Index found, Tensors tensors) {
  int64_t width = lanes / 2;
  auto type = VectorType::get({width}, word());
  auto all = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, APInt(64, number, true)));
  };
  Value list = write(all(-1), tensors[entries], found);
  auto place = [&](ArrayRef<Index> at, Tensors in) {
    Value own = vectorAt(list, {at[0] * width}, type);
    Value ranks =
        visit(b, {found}, {all(0)}, [&](ArrayRef<Index> other, Tensors sums) {
          Value entry =
              vector::BroadcastOp::create(b, type, extract(b, list, other));
          Value isLess =
              arith::CmpIOp::create(b, arith::CmpIPredicate::ult, entry, own);
          Value one = arith::ExtUIOp::create(b, type, isLess);
          return Tensors{arith::AddIOp::create(b, sums[0], one).getResult()};
        })[0];
    for (int64_t lane = 0; lane < width; ++lane) {
      Value rank = vector::ExtractOp::create(b, ranks, lane);
      Index there(b, arith::IndexCastOp::create(b, b.getIndexType(), rank));
      in[0] =
          insert(b, vector::ExtractOp::create(b, own, lane), in[0], {there});
    }
    return in;
  };
  tensors[turned] =
      visit(b, {ceilDiv(found, width)}, {tensors[turned]}, place)[0];
  tensors[entries] = visit(b, {k}, {list}, [&](ArrayRef<Index> at, Tensors in) {
    return Tensors{insert(b, extract(b, tensors[turned], at), in[0], at)};
  })[0];
  return tensors;
}

Tensors RowSorter::sortByDigits(Index found, Tensors tensors) {
  tensors = countDigits(found, std::move(tensors));
  for (int64_t digit = 0; digit < digits; ++digit)
    tensors = moveByDigit(digit, found, std::move(tensors));
  return tensors;
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

bool isLongToSort(const Input &x, int64_t k, int64_t lanes) {
  return x.sizes.back().get() >= leastPerPart * partsOf(k, lanes);
}

Tensors memoryOfSort(ImplicitLocOpBuilder &b, const Input &x, int64_t k,
                     int64_t lanes) {
  int64_t size = llvm::alignTo(x.sizes.back().get(), lanes);
  Type key = b.getIntegerType(keyBits), entry = b.getI64Type();
  return {emptyOf(b, {size}, key), emptyOf(b, {partsOf(k, lanes)}, key),
          emptyOf(b, {size + lanes}, entry), emptyOf(b, {size + lanes}, entry),
          emptyOf(b, {digits, buckets}, entry)};
}

Tensors sortRow(ImplicitLocOpBuilder &b, const Input &x, int64_t k,
                int64_t lanes, bool largest, ArrayRef<Index> row,
                Tensors tensors) {
  return RowSorter(b, x, k, lanes, largest, row).sort(std::move(tensors));
}

} // namespace onnxc
