// Unique. Elements are sorted, digit by digit of their keys, so that equal ones
// lie together, the first one in front. A slice of several elements is compared
// with the different ones found before it; then these are counted into their
// order: no memory beyond the results, and time that grows with slices times
// different slices.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"
#include "lowering/tensor/irregular/SortOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace onnxc {
namespace {

struct Slices {
  ImplicitLocOpBuilder &builder;
  const Input &x; // flat where the operator has no axis
  int64_t axis;
  Type int64 = builder.getI64Type();
  Index count() const { return x.sizes[axis]; }

  Sizes restSizes() const {
    Sizes sizes = x.sizes;
    sizes[axis] = 1;
    return sizes;
  }
  Sizes at(ArrayRef<Index> rest, Index slice) const {
    Sizes position(rest);
    position[axis] = slice;
    return position;
  }
  Value number(Index index) const {
    return builder.createOrFold<arith::IndexCastOp>(int64, index.in(builder));
  }
  Index position(Value numbers, ArrayRef<Index> at) const {
    return {builder, arith::IndexCastOp::create(builder, builder.getIndexType(),
                                                extract(builder, numbers, at))};
  }

  // -1, 0 or 1: the first element that differs decides. NaN is equal to itself
  // and greater than every number.
  Index order(Index a, Index b) const {
    auto compare = [&](ArrayRef<Index> rest, Tensors carried) {
      ScalarBuilder scalars(builder, builder.getLoc(), x.element);
      Scalar left = scalarAt(scalars, x.lowered, x.element, at(rest, a));
      Scalar right = scalarAt(scalars, x.lowered, x.element, at(rest, b));
      Scalar less = left < right, more = right < left;
      if (isa<FloatType>(x.element)) {
        Scalar leftIsNaN = left != left, rightIsNaN = right != right;
        less = less || (rightIsNaN && left == left);
        more = more || (leftIsNaN && right == right);
      }
      Index decided(builder, carried[0]);
      Index here = select(Condition(builder, less.value), -1,
                          select(Condition(builder, more.value), 1, 0));
      return Tensors{select(decided == 0, here, decided).in(builder)};
    };
    Value equal = Index(0).in(builder);
    return {builder, visit(builder, restSizes(), {equal}, compare)[0]};
  }
};

// The first of equal slices each, how many are equal to it, and for every slice
// which it is equal to.
struct Found {
  Value firsts, counts, inverse;
  Index size;
};

// In the order of their first slices.
Found findDifferent(const Slices &slices) {
  ImplicitLocOpBuilder &builder = slices.builder;
  auto numbers = [&] {
    return emptyOf(builder, {slices.count()}, slices.int64);
  };
  auto place = [&](ArrayRef<Index> at, Tensors carried) {
    Index i = at[0], size(builder, carried[3]);
    auto look = [&](ArrayRef<Index> group, Tensors best) {
      Index first = slices.position(carried[0], group[0]);
      Index found(builder, best[0]);
      Condition equal = found < 0 && slices.order(i, first) == 0;
      return Tensors{select(equal, group[0], found).in(builder)};
    };
    Index none = -1;
    Index found(builder, visit(builder, {size}, {none.in(builder)}, look)[0]);
    Condition fresh = found < 0;
    Index group = select(fresh, size, found);
    Tensors next = changeIf(
        builder, fresh, {carried[0], carried[1]}, [&](Tensors changed) {
          return Tensors{insert(builder, slices.number(i), changed[0], {size}),
                         insert(builder, slices.number(0), changed[1], {size})};
        });
    Index count = slices.position(next[1], group) + 1;
    return Tensors{next[0],
                   insert(builder, slices.number(count), next[1], {group}),
                   insert(builder, slices.number(group), carried[2], {i}),
                   select(fresh, size + 1, size).in(builder)};
  };
  Tensors all =
      visit(builder, {slices.count()},
            {numbers(), numbers(), numbers(), Index(0).in(builder)}, place);
  return {all[0], all[1], all[2], {builder, all[3]}};
}

// Where each of them goes in the order of values.
Value placesOf(const Slices &slices, const Found &found) {
  ImplicitLocOpBuilder &builder = slices.builder;
  auto rank = [&](ArrayRef<Index> at, Tensors carried) {
    Index first = slices.position(found.firsts, at[0]);
    auto count = [&](ArrayRef<Index> other, Tensors below) {
      Index rival = slices.position(found.firsts, other[0]);
      Index less = select(slices.order(rival, first) < 0, 1, 0);
      return Tensors{(Index(builder, below[0]) + less).in(builder)};
    };
    Index place(builder,
                visit(builder, {found.size}, {Index(0).in(builder)}, count)[0]);
    return Tensors{insert(builder, slices.number(place), carried[0], at)};
  };
  Value empty = emptyOf(builder, {found.size}, slices.int64);
  return visit(builder, {found.size}, {empty}, rank)[0];
}

//===-- Elements ----------------------------------------------------------===//

class ElementSorter {
public:
  explicit ElementSorter(const Slices &slices)
      : b(slices.builder), slices(slices), order(slices.x, /*largest=*/true),
        size(slices.count()), digits(order.keys.getWidth() / digitBits) {}
  static bool fits(const Input &x) {
    Type stored = getElementTypeOrSelf(x.lowered);
    return x.rank() == 1 && stored.isIntOrFloat() &&
           stored.getIntOrFloatBitWidth() % digitBits == 0;
  }

  // In the order of values.
  Found run() {
    keys = makeKeys();
    return findRuns(sortedPositions());
  }

private:
  static constexpr int64_t digitBits = 8, buckets = 1 << digitBits;

  Value integer(Type type, int64_t number) {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, number));
  }
  Value numbers() { return emptyOf(b, {size}, slices.int64); }
  Value keyAt(Index position) { return extract(b, keys, {position}); }
  Index digitOf(Value key, int64_t digit) {
    Value shifted =
        arith::ShRUIOp::create(b, key, integer(order.keys, digit * digitBits));
    APInt mask = APInt::getLowBitsSet(order.keys.getWidth(), digitBits);
    Value low =
        arith::AndIOp::create(b, shifted, order.splat(b, order.keys, mask));
    return {b, arith::IndexCastUIOp::create(b, b.getIndexType(), low)};
  }
  Value makeKeys();
  Value countDigits();
  Value sortedPositions();
  Found findRuns(Value sorted);

  ImplicitLocOpBuilder &b;
  const Slices &slices;
  SortOrder order;
  Index size;
  int64_t digits;
  Value keys;
};

// In the order of their bits: what is less than zero is below.
Value ElementSorter::makeKeys() {
  auto make = [&](ArrayRef<Index> at, Tensors in) {
    Value key = order.keyOf(b, extract(b, slices.x.lowered, at));
    Value turned = arith::XOrIOp::create(
        b, key, order.splat(b, key.getType(), order.least()));
    return Tensors{insert(b, turned, in[0], at)};
  };
  return visit(b, {size}, {emptyOf(b, {size}, order.keys)}, make)[0];
}

// The place of the first key of each digit, in every pass.
Value ElementSorter::countDigits() {
  Value none = integer(slices.int64, 0);
  Value counts = emptyOf(b, {digits, buckets}, slices.int64);
  counts = linalg::FillOp::create(b, none, counts).getResult(0);
  auto count = [&](ArrayRef<Index> at, Tensors in) {
    Value key = keyAt(at[0]);
    for (int64_t digit = 0; digit < digits; ++digit) {
      Index bucket = digitOf(key, digit);
      Index more = slices.position(in[0], {digit, bucket}) + 1;
      in[0] = insert(b, slices.number(more), in[0], {digit, bucket});
    }
    return in;
  };
  counts = visit(b, {size}, {counts}, count)[0];
  for (int64_t digit = 0; digit < digits; ++digit) {
    auto sum = [&](ArrayRef<Index> at, Tensors in) {
      Sizes slot = {digit, at[0]};
      Value own = extract(b, in[0], slot);
      return Tensors{insert(b, in[1], in[0], slot),
                     arith::AddIOp::create(b, in[1], own)};
    };
    counts = visit(b, {buckets}, {counts, none}, sum)[0];
  }
  return counts;
}

// Every pass keeps the order of equal digits.
Value ElementSorter::sortedPositions() {
  Value counts = countDigits(), from, to = numbers();
  for (int64_t digit = 0; digit < digits; ++digit) {
    auto move = [&](ArrayRef<Index> at, Tensors in) {
      Index position = from ? slices.position(from, at) : at[0];
      Index bucket = digitOf(keyAt(position), digit);
      Index place = slices.position(in[1], {digit, bucket});
      return Tensors{
          insert(b, slices.number(position), in[0], {place}),
          insert(b, slices.number(place + 1), in[1], {digit, bucket})};
    };
    Tensors moved = visit(b, {size}, {to, counts}, move);
    to = from ? from : numbers();
    from = moved[0];
    counts = moved[1];
  }
  return from;
}

Found ElementSorter::findRuns(Value sorted) {
  auto find = [&](ArrayRef<Index> at, Tensors in) {
    Index position = slices.position(sorted, at), groups(b, in[3]);
    Value key = keyAt(position);
    Condition fresh =
        at[0] == 0 ||
        Condition(
            b, arith::CmpIOp::create(b, arith::CmpIPredicate::ne, key, in[6]));
    groups = select(fresh, groups + 1, groups);
    Index first = select(fresh, position, Index(b, in[4]));
    Index count = select(fresh, 1, Index(b, in[5]) + 1);
    Index group = groups - 1;
    return Tensors{insert(b, slices.number(first), in[0], {group}),
                   insert(b, slices.number(count), in[1], {group}),
                   insert(b, slices.number(group), in[2], {position}),
                   groups.in(b),
                   first.in(b),
                   count.in(b),
                   key};
  };
  Value zero = Index(0).in(b);
  Tensors all = visit(b, {size},
                      {numbers(), numbers(), numbers(), zero, zero, zero,
                       integer(order.keys, 0)},
                      find);
  return {all[0], all[1], all[2], {b, all[3]}};
}

// Where each of them goes in the order of first slices.
Value placesOfFirsts(const Slices &slices, const Found &found) {
  ImplicitLocOpBuilder &builder = slices.builder;
  auto place = [&](ArrayRef<Index> at, Tensors carried) {
    Index group = slices.position(found.inverse, at);
    Condition isFirst = slices.position(found.firsts, {group}) == at[0];
    return changeIf(builder, isFirst, carried, [&](Tensors changed) {
      Index next(builder, changed[1]);
      return Tensors{insert(builder, slices.number(next), changed[0], {group}),
                     (next + 1).in(builder)};
    });
  };
  Value empty = emptyOf(builder, {found.size}, slices.int64);
  return visit(builder, {slices.count()}, {empty, Index(0).in(builder)},
               place)[0];
}

//===-- All results -------------------------------------------------------===//

struct LowerUnique : OpConversionPattern<UniqueOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(UniqueOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    Input x = inputs[0];
    if (isa<StringType>(x.element))
      return op.emitError("Unique of strings is not supported");
    if (!op.getAxis()) {
      Sizes flat = {product(x.sizes)};
      x.lowered = reshaped(builder, x.lowered, x.sizes, flat);
      x.sizes = flat;
    }
    Slices slices{builder, x, wrap(op.getAxis().value_or(0), x.rank())};
    bool isSorted = ElementSorter::fits(x);
    Found found =
        isSorted ? ElementSorter(slices).run() : findDifferent(slices);
    Value places; // none where they are found in the order of the results
    if (isSorted && !op.getSorted())
      places = placesOfFirsts(slices, found);
    else if (!isSorted && op.getSorted())
      places = placesOf(slices, found);
    SmallVector<Value> results = collect(slices, found, places);
    for (auto [value, result] : llvm::zip_equal(results, op.getResults()))
      value = castTo(builder, value,
                     getTypeConverter()->convertType(result.getType()));
    rewriter.replaceOp(op, results);
    return success();
  }

  static SmallVector<Value> collect(const Slices &slices, const Found &found,
                                    Value places) {
    ImplicitLocOpBuilder &builder = slices.builder;
    auto placeOf = [&](Index group) {
      return places ? slices.position(places, group) : group;
    };
    Sizes sizes = slices.x.sizes;
    sizes[slices.axis] = found.size;
    auto put = [&](ArrayRef<Index> at, Tensors carried) {
      Index to = placeOf(at[0]), first = slices.position(found.firsts, at[0]);
      auto copy = [&](ArrayRef<Index> rest, Tensors into) {
        Value element =
            extract(builder, slices.x.lowered, slices.at(rest, first));
        return Tensors{insert(builder, element, into[0], slices.at(rest, to))};
      };
      Value count = extract(builder, found.counts, at);
      return Tensors{visit(builder, slices.restSizes(), {carried[0]}, copy)[0],
                     insert(builder, slices.number(first), carried[1], {to}),
                     insert(builder, count, carried[2], {to})};
    };
    auto numbers = [&](Index size) {
      return emptyOf(builder, {size}, slices.int64);
    };
    Tensors unique = visit(builder, {found.size},
                           {emptyOf(builder, sizes, slices.x.element),
                            numbers(found.size), numbers(found.size)},
                           put);
    auto mark = [&](ArrayRef<Index> at, Tensors carried) {
      Index group = placeOf(slices.position(found.inverse, at[0]));
      return Tensors{insert(builder, slices.number(group), carried[0], at)};
    };
    Value inverse =
        visit(builder, {slices.count()}, {numbers(slices.count())}, mark)[0];
    return {unique[0], unique[1], inverse, unique[2]};
  }
};

} // namespace

void addUniquePatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerUnique>(types, patterns.getContext());
}

} // namespace onnxc
