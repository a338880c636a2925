// Det: elimination with the greatest pivot of each column, in a copy of one
// matrix that all share.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace onnxc {
namespace {

struct Elimination {
  ImplicitLocOpBuilder &builder;
  const Input &x;
  Index size;
  Type wide;

  // The builder moves into the loops.
  ScalarBuilder here() const { return {builder, builder.getLoc(), wide}; }

  Value copied(ArrayRef<Index> matrix, Value work) const {
    auto copy = [&](ArrayRef<Index> at, Tensors carried) {
      ScalarBuilder inner = here();
      Sizes from(matrix);
      llvm::append_range(from, at);
      Scalar element = scalarAt(inner, x.lowered, x.element, from);
      return Tensors{insert(builder, store(inner, element, wide), carried[0],
                            at)};
    };
    return visit(builder, {size, size}, {work}, copy)[0];
  }

  // The row of the greatest element of column k, from row k on.
  Index pivotRow(Value work, Index k) const {
    ScalarBuilder outside = here();
    Value none = cast(Scalar(-1.0), Scalar(outside, {}, wide)).value;
    auto compare = [&](ArrayRef<Index> at, Tensors best) {
      ScalarBuilder inner = here();
      Scalar here = onnxc::abs(scalarAt(inner, work, wide, {at[0], k}));
      Condition better =
          at[0] >= k &&
          Condition(builder, (here > Scalar(inner, best[0], wide)).value);
      Value take = better.in(builder);
      return Tensors{
          arith::SelectOp::create(builder, take, here.value, best[0]),
          arith::SelectOp::create(builder, take, at[0].in(builder), best[1])};
    };
    return {builder,
            visit(builder, {size}, {none, k.in(builder)}, compare)[1]};
  }

  Value swapped(Value work, Index a, Index b) const {
    auto swap = [&](ArrayRef<Index> at, Tensors carried) {
      Value first = extract(builder, carried[0], {a, at[0]});
      Value second = extract(builder, carried[0], {b, at[0]});
      Value half = insert(builder, second, carried[0], {a, at[0]});
      return Tensors{insert(builder, first, half, {b, at[0]})};
    };
    return visit(builder, {size}, {work}, swap)[0];
  }

  // Takes row k off the rows below it, to the right of column k.
  Value eliminated(Value work, Index k) const {
    Index left = size - k - 1;
    auto subtract = [&](ArrayRef<Index> at, Tensors carried) {
      ScalarBuilder inner = here();
      Index row = k + 1 + at[0], column = k + 1 + at[1];
      auto element = [&](Index i, Index j) {
        return scalarAt(inner, carried[0], wide, {i, j});
      };
      Scalar pivot = element(k, k);
      Scalar share = select(pivot == 0, 0, element(row, k) / pivot);
      Scalar value = element(row, column) - share * element(k, column);
      return Tensors{insert(builder, store(inner, value, wide), carried[0],
                            {row, column})};
    };
    return visit(builder, {left, left}, {work}, subtract)[0];
  }

  // Work space and determinant after step k.
  Tensors step(Index k, Tensors carried) const {
    Index row = pivotRow(carried[0], k);
    Value work = swapped(carried[0], k, row);
    ScalarBuilder inner = here();
    Scalar pivot = scalarAt(inner, work, wide, {k, k});
    Scalar kept(inner, (row == k).in(builder), builder.getI1Type());
    Scalar product = Scalar(inner, carried[1], wide) * pivot;
    Value determinant = select(kept, product, -product).value;
    return {eliminated(work, k), determinant};
  }

  Tensors one(ArrayRef<Index> at, Tensors carried) const {
    ScalarBuilder outside = here();
    Value unit = cast(Scalar(1.0), Scalar(outside, {}, wide)).value;
    Value work = copied(at, carried[1]);
    auto each = [&](ArrayRef<Index> k, Tensors state) {
      return step(k[0], state);
    };
    Tensors state = visit(builder, {size}, {work, unit}, each);
    ScalarBuilder inner = here();
    Value element = store(inner, Scalar(inner, state[1], wide), x.element);
    return {insert(builder, element, carried[0], at), state[0]};
  }
};

struct LowerDet : OpConversionPattern<DetOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(DetOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    auto shapes = resultSizes(cast<SizedOpInterface>(op.getOperation()), inputs);
    if (failed(shapes))
      return failure();
    const Input &x = inputs[0];
    Index size = x.sizes.back();
    if (failed(require(builder, x.sizes[x.rank() - 2] == size, Status::Shape,
                       op, "is not square", "X")))
      return failure();
    Elimination elimination{builder, x, size, computeType(x.element)};
    Tensors start = {emptyOf(builder, shapes->front(), x.element),
                     emptyOf(builder, {size, size}, elimination.wide)};
    auto each = [&](ArrayRef<Index> at, Tensors carried) {
      return elimination.one(at, carried);
    };
    Value result = visit(builder, shapes->front(), start, each)[0];
    rewriter.replaceOp(op, castTo(builder, result,
                                  getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

void addDeterminantPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerDet>(types, patterns.getContext());
}

} // namespace onnxc
