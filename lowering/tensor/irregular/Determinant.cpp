// Det and Inverse: elimination with the greatest pivot of each column, in a
// copy of one matrix that all share.
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
  Index size, width; // of the copy, which may have columns of its own behind
  Type wide;

  // The builder moves into the loops.
  ScalarBuilder here() const { return {builder, builder.getLoc(), wide}; }

  Value copied(ArrayRef<Index> matrix, Value work) const {
    auto copy = [&](ArrayRef<Index> at, Tensors carried) {
      ScalarBuilder inner = here();
      Sizes from(matrix);
      llvm::append_range(from, at);
      Scalar element = scalarAt(inner, x.lowered, x.element, from);
      return Tensors{
          insert(builder, store(inner, element, wide), carried[0], at)};
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
    return {builder, visit(builder, {size}, {none, k.in(builder)}, compare)[1]};
  }

  Value swapped(Value work, Index a, Index b) const {
    auto swap = [&](ArrayRef<Index> at, Tensors carried) {
      Value first = extract(builder, carried[0], {a, at[0]});
      Value second = extract(builder, carried[0], {b, at[0]});
      Value half = insert(builder, second, carried[0], {a, at[0]});
      return Tensors{insert(builder, first, half, {b, at[0]})};
    };
    return visit(builder, {width}, {work}, swap)[0];
  }

  // Takes row k off the rows below it, to the right of column k.
  Value eliminated(Value work, Index k) const {
    Index left = width - k - 1;
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
    return visit(builder, {size - k - 1, left}, {work}, subtract)[0];
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

// Behind the matrix stands the identity, which becomes the inverse.
struct Inversion : Elimination {
  Value withIdentity(Value work) const {
    auto set = [&](ArrayRef<Index> at, Tensors carried) {
      ScalarBuilder inner = here();
      Scalar same(inner, (at[0] == at[1]).in(builder), builder.getI1Type());
      Scalar one = cast(Scalar(1.0), Scalar(inner, {}, wide));
      Value element = select(same, one, cast(Scalar(0.0), one)).value;
      return Tensors{
          insert(builder, element, carried[0], {at[0], size + at[1]})};
    };
    return visit(builder, {size, size}, {work}, set)[0];
  }

  // Divides row k by its pivot, to the right of column k.
  Value divided(Value work, Index k) const {
    auto divide = [&](ArrayRef<Index> at, Tensors carried) {
      ScalarBuilder inner = here();
      Index column = k + 1 + at[0];
      Scalar value = scalarAt(inner, carried[0], wide, {k, column}) /
                     scalarAt(inner, carried[0], wide, {k, k});
      return Tensors{insert(builder, value.value, carried[0], {k, column})};
    };
    return visit(builder, {width - k - 1}, {work}, divide)[0];
  }

  // Takes row k off all others, to the right of column k.
  Value cleared(Value work, Index k) const {
    auto subtract = [&](ArrayRef<Index> at, Tensors carried) {
      ScalarBuilder inner = here();
      Index column = k + 1 + at[1];
      auto element = [&](Index i, Index j) {
        return scalarAt(inner, carried[0], wide, {i, j});
      };
      Scalar own(inner, (at[0] == k).in(builder), builder.getI1Type());
      Scalar old = element(at[0], column);
      Scalar value =
          select(own, old, old - element(at[0], k) * element(k, column));
      return Tensors{insert(builder, value.value, carried[0], {at[0], column})};
    };
    return visit(builder, {size, width - k - 1}, {work}, subtract)[0];
  }

  Tensors one(ArrayRef<Index> at, Tensors carried) const {
    Value work = withIdentity(copied(at, carried[1]));
    auto each = [&](ArrayRef<Index> k, Tensors state) {
      Value sorted = swapped(state[0], k[0], pivotRow(state[0], k[0]));
      return Tensors{cleared(divided(sorted, k[0]), k[0])};
    };
    work = visit(builder, {size}, {work}, each)[0];
    auto copy = [&](ArrayRef<Index> position, Tensors results) {
      ScalarBuilder inner = here();
      Scalar element =
          scalarAt(inner, work, wide, {position[0], size + position[1]});
      Sizes to(at);
      llvm::append_range(to, position);
      return Tensors{
          insert(builder, store(inner, element, x.element), results[0], to)};
    };
    return {visit(builder, {size, size}, {carried[0]}, copy)[0], work};
  }
};

// Both visit every matrix with a result and a copy to work in.
template <typename Op, typename Method>
struct LowerMatrix : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    auto shapes =
        resultSizes(cast<SizedOpInterface>(op.getOperation()), inputs);
    if (failed(shapes))
      return failure();
    const Input &x = inputs[0];
    if (x.rank() < 2)
      return op.emitError()
             << "expected matrices, got a tensor of rank " << x.rank();
    Index size = x.sizes.back();
    if (failed(require(builder, x.sizes[x.rank() - 2] == size, Status::Shape,
                       op, "is not square", "X")))
      return failure();
    constexpr bool inverts = std::is_same_v<Method, Inversion>;
    Index width = inverts ? size * 2 : size;
    Method method{Elimination{builder, x, size, width, computeType(x.element)}};
    Tensors start = {emptyOf(builder, shapes->front(), x.element),
                     emptyOf(builder, {size, width}, method.wide)};
    auto each = [&](ArrayRef<Index> at, Tensors carried) {
      return method.one(at, carried);
    };
    Sizes matrices(ArrayRef(x.sizes).drop_back(2));
    Value result = visit(builder, matrices, start, each)[0];
    rewriter.replaceOp(
        op, castTo(builder, result,
                   this->getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

void addDeterminantPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerMatrix<DetOp, Elimination>,
               LowerMatrix<MsInverseOp, Inversion>>(types,
                                                    patterns.getContext());
}

} // namespace onnxc
