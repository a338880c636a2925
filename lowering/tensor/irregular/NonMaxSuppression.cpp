// NonMaxSuppression: as often as boxes are wanted, the best one left is chosen
// and those that overlap it too much are left no more.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"
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

  Type byte() const { return builder.getI8Type(); }
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

  // Whether the intersection is more than the wanted share of the union.
  Condition overlaps(Index batch, Index a, Index b) const {
    ScalarBuilder scalars = here();
    Scalar both, left, right;
    for (int64_t dim = 0; dim < 2; ++dim) {
      Span one = span(scalars, batch, a, dim),
           two = span(scalars, batch, b, dim);
      Scalar shared =
          greatest(least(one.high, two.high) - greatest(one.low, two.low), 0);
      both = dim ? both * shared : shared;
      left = dim ? left * one.length() : one.length();
      right = dim ? right * two.length() : two.length();
    }
    Scalar whole = left + right - both;
    Scalar most = overlap.given() ? scalarAt(scalars, overlap.lowered,
                                             overlap.element, first(overlap))
                                  : onnxc::cast(Scalar(0.0), whole);
    Scalar isOver = both > 0 && left > 0 && right > 0 && whole > 0 &&
                    both / whole > onnxc::cast(most, whole);
    return {builder, isOver.value};
  }

  // 1 for every box whose score is high enough.
  Value candidates(Index batch, Index label, Value flags) const {
    auto mark = [&](ArrayRef<Index> at, Tensors carried) {
      ScalarBuilder scalars = here();
      Scalar score = scalarAt(scalars, scores.lowered, scores.element,
                              {batch, label, at[0]});
      Value flag = arith::ConstantIntOp::create(builder, 1, 8);
      if (threshold.given()) {
        Scalar lowest = scalarAt(scalars, threshold.lowered, threshold.element,
                                 first(threshold));
        Scalar high = score > onnxc::cast(lowest, score);
        flag = arith::ExtUIOp::create(builder, byte(), high.value);
      }
      return Tensors{insert(builder, flag, carried[0], at)};
    };
    return visit(builder, {count()}, {flags}, mark)[0];
  }

  Condition isLeft(Value flags, Index box) const {
    Value zero = arith::ConstantIntOp::create(builder, 0, 8);
    return {builder,
            arith::CmpIOp::create(builder, arith::CmpIPredicate::ne,
                                  extract(builder, flags, {box}), zero)};
  }

  // The first of the boxes with the highest score; -1 if none is left.
  Index best(Index batch, Index label, Value flags) const {
    auto compare = [&](ArrayRef<Index> at, Tensors carried) {
      ScalarBuilder scalars = here();
      Index chosen(builder, carried[0]);
      auto score = [&](Index box) {
        return scalarAt(scalars, scores.lowered, scores.element,
                        {batch, label, box});
      };
      Scalar higher = score(at[0]) > score(greatest(chosen, 0));
      Condition better = isLeft(flags, at[0]) &&
                         (chosen < 0 || Condition(builder, higher.value));
      return Tensors{select(better, at[0], chosen).in(builder)};
    };
    Index none = -1;
    return {builder, visit(builder, {count()}, {none.in(builder)}, compare)[0]};
  }

  Value suppressed(Index batch, Index chosen, Value flags) const {
    auto drop = [&](ArrayRef<Index> at, Tensors carried) {
      Condition gone = at[0] == chosen || overlaps(batch, chosen, at[0]);
      Value zero = arith::ConstantIntOp::create(builder, 0, 8);
      Value flag = arith::SelectOp::create(builder, gone.in(builder), zero,
                                           extract(builder, carried[0], at));
      return Tensors{insert(builder, flag, carried[0], at)};
    };
    return visit(builder, {count()}, {flags}, drop)[0];
  }

  // Carries the result, its length and the flags.
  Tensors choose(Index batch, Index label, Tensors carried) const {
    Index chosen = best(batch, label, carried[2]);
    return changeIf(builder, chosen >= 0, carried, [&](Tensors changed) {
      Index row(builder, changed[1]);
      for (auto [i, part] : llvm::enumerate(Sizes{batch, label, chosen}))
        changed[0] =
            insert(builder,
                   arith::IndexCastOp::create(builder, builder.getI64Type(),
                                              part.in(builder)),
                   changed[0], {row, int64_t(i)});
      return Tensors{changed[0], (row + 1).in(builder),
                     suppressed(batch, chosen, changed[2])};
    });
  }

  Value run() const {
    Index most = mostPerClass();
    Index all = batches() * classes() * most;
    Tensors start = {emptyOf(builder, {all, 3}, builder.getI64Type()),
                     Index(0).in(builder), emptyOf(builder, {count()}, byte())};
    auto perClass = [&](ArrayRef<Index> at, Tensors carried) {
      carried[2] = candidates(at[0], at[1], carried[2]);
      auto once = [&](ArrayRef<Index>, Tensors state) {
        return choose(at[0], at[1], state);
      };
      return visit(builder, {most}, carried, once);
    };
    Tensors found = visit(builder, {batches(), classes()}, start, perClass);
    return sliced(builder, found[0], {0, 0}, {{builder, found[1]}, 3});
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
