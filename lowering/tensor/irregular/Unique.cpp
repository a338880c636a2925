// Unique: every slice is compared with the different ones found before it; then
// these are counted into their order. No memory beyond the results, and time
// that grows with slices times different slices.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

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
  Index position(Value numbers, Index i) const {
    return {builder,
            arith::IndexCastOp::create(builder, builder.getIndexType(),
                                       extract(builder, numbers, {i}))};
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

// In the order of their first slices: those, how many are equal to each, and
// for every slice which it is equal to.
struct Found {
  Value firsts, counts, inverse;
  Index size;
};

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
    Found found = findDifferent(slices);
    Value places = op.getSorted() ? placesOf(slices, found) : Value();
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
