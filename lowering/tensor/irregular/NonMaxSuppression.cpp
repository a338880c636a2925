// NonMaxSuppression: the candidates of a class, best first, of which those that
// overlap none chosen before are chosen until there are enough.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"
#include "lowering/tensor/irregular/SortOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace onnxc {
namespace {

// Borders along one dimension.
struct Span {
  Scalar low, high;
  Scalar length() const { return high - low; }
};

struct Suppression {
  ImplicitLocOpBuilder &builder;
  mutable NonMaxSuppressionOp op; // getters are not const
  const Input &boxes, &scores;
  Input limit, overlap, threshold; // perhaps absent

  Index batches() const { return scores.sizes[0]; }
  Index classes() const { return scores.sizes[1]; }
  Index count() const { return scores.sizes[2]; }
  ScalarBuilder here() const {
    return {builder, builder.getLoc(), boxes.element};
  }
  Sizes first(const Input &x) const { return Sizes(x.rank(), 0); }

  // How many boxes one class may have.
  Index mostPerClass() const {
    if (!limit.given())
      return 0;
    return clamp(limit.at(first(limit)), 0, count());
  }

  Span span(ScalarBuilder &scalars, Index batch, Index box, int64_t dim) const {
    auto at = [&](int64_t i) {
      return scalarAt(scalars, boxes.lowered, boxes.element, {batch, box, i});
    };
    if (op.getCenterPointBox()) { // x, y, width, height
      Scalar middle = at(1 - dim), half = at(3 - dim) / 2;
      return {middle - half, middle + half};
    }
    Scalar a = at(dim), b = at(dim + 2); // y, x of two corners
    return {least(a, b), greatest(a, b)};
  }

  // Of a box: both spans and the area.
  enum { low0, high0, low1, high1, area, measures };

  Tensors measure(Index batch, Index box) const {
    ScalarBuilder scalars = here();
    Span one = span(scalars, batch, box, 0), two = span(scalars, batch, box, 1);
    return {one.low.value, one.high.value, two.low.value, two.high.value,
            (one.length() * two.length()).value};
  }

  // Whether the intersection is more than the wanted share of the union.
  static Scalar overlaps(ArrayRef<Scalar> a, ArrayRef<Scalar> b, Scalar most) {
    auto shared = [&](unsigned low, unsigned high) {
      return greatest(least(a[high], b[high]) - greatest(a[low], b[low]), 0);
    };
    Scalar both = shared(low0, high0) * shared(low1, high1);
    Scalar whole = a[area] + b[area] - both;
    return both > 0 && a[area] > 0 && b[area] > 0 && whole > 0 &&
           both / whole > most;
  }

  // What the intersection is of the sum of the areas where it is that share of
  // the union, less what roundings may take away.
  static Scalar shareOfSum(Scalar share) {
    constexpr double roundings = 2e-6;
    Scalar positive = select(share > 0, share, 0.0);
    return positive / (positive + 1) * (1 - roundings);
  }

  // The same without a quotient, which takes longer than all the rest: holds
  // for all that do overlap, and for few others. One negative length is enough
  // not to be clamped: the product is no more than zero.
  static Scalar mayOverlap(ArrayRef<Scalar> a, ArrayRef<Scalar> b,
                           Scalar most) {
    auto lower = [](Scalar x, Scalar y) { return select(x < y, x, y); };
    auto higher = [](Scalar x, Scalar y) { return select(x > y, x, y); };
    auto shared = [&](unsigned low, unsigned high) {
      return lower(a[high], b[high]) - higher(a[low], b[low]);
    };
    return higher(shared(low0, high0), 0) * shared(low1, high1) >
           most * (a[area] + b[area]);
  }

  // Whether the test holds for the box and one of those that were chosen.
  using Test = llvm::function_ref<Scalar(ArrayRef<Scalar>, ArrayRef<Scalar>)>;
  Condition holdsForAny(ArrayRef<Value> box, ValueRange chosen,
                        Test test) const {
    auto count = [&](ScalarBuilder &body, ArrayRef<Scalar> args) {
      SmallVector<Scalar> own;
      for (Value x : box)
        own.emplace_back(body, x, boxes.element);
      Scalar holds = test(own, args.take_front(measures));
      return SmallVector{args.back() + select(holds, 1.0, 0.0)};
    };
    Type element = boxes.element;
    Value none = tensor::FromElementsOp::create(
        builder, RankedTensorType::get({}, element), zeroOf(builder, element));
    SmallVector<AffineMap> maps(measures, builder.getMultiDimIdentityMap(1));
    maps.push_back(AffineMap::get(1, 0, builder.getContext()));
    Value sum = generic(builder, chosen, SmallVector<Type>(measures, element),
                        none, element, maps, IteratorType::reduction, count)[0];
    ScalarBuilder scalars = here();
    return {builder, (scalarAt(scalars, sum, element, {}) > 0).value};
  }

  // Whether one of the first `count` chosen boxes overlaps.
  Condition overlapsAny(ArrayRef<Value> box, ArrayRef<Value> chosen,
                        Index count) const {
    ScalarBuilder scalars = here();
    Scalar most =
        overlap.given()
            ? onnxc::cast(scalarAt(scalars, overlap.lowered, overlap.element,
                                   first(overlap)),
                          boxes.element)
            : Scalar(scalars, zeroOf(builder, boxes.element), boxes.element);
    Tensors those;
    for (Value tensor : chosen)
      those.push_back(sliced(builder, tensor, {0}, {count}));
    auto with = [](auto compare, Scalar share) {
      return [=](ArrayRef<Scalar> a, ArrayRef<Scalar> b) {
        return compare(a, b, Scalar(*b[0].builder, share.value, share.type));
      };
    };
    Condition may = holdsForAny(box, those, with(mayOverlap, shareOfSum(most)));
    Value no = arith::ConstantIntOp::create(builder, 0, 1);
    Tensors is = changeIf(builder, may, {no}, [&](Tensors) {
      return Tensors{holdsForAny(box, those, with(overlaps, most)).in(builder)};
    });
    return {builder, is[0]};
  }

  //===-- A heap of the candidates ----------------------------------------===//

  // Of two entries the greater one comes first: that of the higher score, or of
  // the earlier box.
  Value entryOf(Value score, Index box) const {
    Type word = builder.getI64Type();
    Value key = SortOrder(scores, /*largest=*/true).keyOf(builder, score);
    Value high = arith::ShLIOp::create(
        builder, arith::ExtSIOp::create(builder, word, key), bits(32));
    return arith::OrIOp::create(builder, high,
                                arith::SubIOp::create(builder, bits(UINT32_MAX),
                                                      asInt64(builder, box)));
  }
  Index boxOf(Value entry) const {
    Value low = arith::AndIOp::create(builder, entry, bits(UINT32_MAX));
    return {builder,
            arith::IndexCastOp::create(
                builder, builder.getIndexType(),
                arith::SubIOp::create(builder, bits(UINT32_MAX), low))};
  }
  Value bits(int64_t number) const {
    return arith::ConstantIntOp::create(builder, number, 64);
  }
  Value isGreater(Value a, Value b) const {
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::sgt, a, b);
  }

  // Puts the entry at `top` or below, where the heap of `size` begins.
  Value sink(Value heap, Index top, Index size, Value entry) const {
    auto isMoving = [&](ArrayRef<Value> state) {
      return Condition(builder, state[2]);
    };
    auto move = [&](Tensors state) {
      Index at(builder, state[1]), left = at * 2 + 1, right = left + 1;
      auto entryAt = [&](Index child) {
        return extract(builder, state[0], {least(child, size - 1)});
      };
      Value first = entryAt(left), second = entryAt(right);
      Value isSecond = isGreater(second, first);
      Value child = arith::MaxSIOp::create(builder, first, second);
      Condition goesOn =
          left < size && Condition(builder, isGreater(child, entry));
      Value next =
          arith::SelectOp::create(builder, goesOn.in(builder), child, entry);
      Index below = select(Condition(builder, isSecond), right, left);
      return Tensors{insert(builder, next, state[0], {at}),
                     select(goesOn, below, at).in(builder), goesOn.in(builder)};
    };
    Value yes = arith::ConstantIntOp::create(builder, 1, 1);
    return repeatWhile(builder, {heap, top.in(builder), yes}, isMoving,
                       move)[0];
  }

  // The heap of the boxes whose score is high enough, and their number.
  Tensors candidates(Index batch, Index label, Value heap) const {
    auto collect = [&](ArrayRef<Index> at, Tensors carried) {
      Value score = extract(builder, scores.lowered, {batch, label, at[0]});
      Condition isHigh = true;
      if (threshold.given()) {
        ScalarBuilder scalars = here();
        Scalar lowest = scalarAt(scalars, threshold.lowered, threshold.element,
                                 first(threshold));
        Scalar high = load(scalars, score, scores.element) >
                      onnxc::cast(lowest, scores.element);
        isHigh = {builder, high.value};
      }
      return changeIf(builder, isHigh, carried, [&](Tensors more) {
        Index end(builder, more[1]);
        return Tensors{insert(builder, entryOf(score, at[0]), more[0], {end}),
                       (end + 1).in(builder)};
      });
    };
    Tensors found =
        visit(builder, {count()}, {heap, Index(0).in(builder)}, collect);
    Index size(builder, found[1]), parents = size / 2;
    auto order = [&](ArrayRef<Index> step, Tensors carried) {
      Index top = parents - 1 - step[0];
      return Tensors{
          sink(carried[0], top, size, extract(builder, carried[0], {top}))};
    };
    return {visit(builder, {parents}, {found[0]}, order)[0], found[1]};
  }

  // What goes from one candidate of a class to the next.
  enum { result, rows, heap, left, kept, chosen };

  // Takes the best candidate that is left.
  Tensors choose(Index batch, Index label, Tensors state) const {
    Value best = extract(builder, state[heap], {0});
    Index size = Index(builder, state[left]) - 1;
    state[left] = size.in(builder);
    state[heap] =
        changeIf(builder, size > 0, {state[heap]}, [&](Tensors those) {
          return Tensors{
              sink(those[0], 0, size, extract(builder, those[0], {size}))};
        })[0];
    Index box = boxOf(best);
    Tensors own = measure(batch, box);
    Index count(builder, state[kept]);
    Condition isOver =
        overlapsAny(own, ArrayRef(state).drop_front(chosen), count);
    return changeIf(builder, !isOver, state, [&](Tensors changed) {
      Index row(builder, changed[rows]);
      for (auto [i, part] : llvm::enumerate(Sizes{batch, label, box}))
        changed[result] = insert(builder, asInt64(builder, part),
                                 changed[result], {row, int64_t(i)});
      changed[rows] = (row + 1).in(builder);
      changed[kept] = (count + 1).in(builder);
      for (auto [tensor, number] :
           llvm::zip(MutableArrayRef(changed).drop_front(chosen), own))
        tensor = insert(builder, number, tensor, {count});
      return changed;
    });
  }

  Value run() const {
    Index most = mostPerClass();
    Index all = batches() * classes() * most;
    Type word = builder.getI64Type();
    Tensors start = {emptyOf(builder, {all, 3}, word), Index(0).in(builder),
                     emptyOf(builder, {count()}, word)};
    for (int i = 0; i < measures; ++i)
      start.push_back(emptyOf(builder, {most}, boxes.element));
    auto perClass = [&](ArrayRef<Index> at, Tensors carried) {
      Tensors found = candidates(at[0], at[1], carried[heap]);
      Tensors state = {carried[result], carried[rows], found[0], found[1],
                       Index(0).in(builder)};
      llvm::append_range(state, ArrayRef(carried).drop_front(left));
      auto isMore = [&](ArrayRef<Value> now) {
        return Index(builder, now[left]) > 0 &&
               Index(builder, now[kept]) < most;
      };
      state = repeatWhile(builder, state, isMore, [&](Tensors now) {
        return choose(at[0], at[1], now);
      });
      state.erase(state.begin() + left, state.begin() + chosen);
      return state;
    };
    Tensors found = visit(builder, {batches(), classes()}, start, perClass);
    return sliced(builder, found[result], {0, 0}, {{builder, found[rows]}, 3});
  }
};

struct LowerNonMaxSuppression : OpConversionPattern<NonMaxSuppressionOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(NonMaxSuppressionOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    NonMaxSuppressionOp::GenericAdaptor<ArrayRef<Input>> operands(inputs, op);
    const Input &boxes = inputs[0], &scores = inputs[1];
    if (failed(require(builder,
                       boxes.sizes[0] == scores.sizes[0] &&
                           boxes.sizes[1] == scores.sizes[2],
                       Status::Shape, op, "does not fit the boxes",
                       "scores")) ||
        failed(require(builder, boxes.sizes[2] == 4, Status::Shape, op,
                       "needs 4 numbers for each box", "boxes")))
      return failure();
    Suppression suppression{builder,
                            op,
                            boxes,
                            scores,
                            operands.getMaxOutputBoxesPerClass(),
                            operands.getIouThreshold(),
                            operands.getScoreThreshold()};
    rewriter.replaceOp(op,
                       castTo(builder, suppression.run(),
                              getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

void addSuppressionPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerNonMaxSuppression>(types, patterns.getContext());
}

} // namespace onnxc
