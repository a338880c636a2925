// A reduction becomes two loops: the first folds into accumulators that are as
// wide as they are computed, the second finishes and, with keepdims, puts the
// ones back. Axes that are known only at run time split every dimension into a
// kept and a folded one, of which one has size 1: one nest of static rank.
#include "dialects/onnxc/Onnxc.h"
#include "lowering/tensor/OnnxToLinalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
namespace {

// The first loop's iteration space: how it reads the data, where it folds to.
struct Fold {
  SmallVector<Value> inputs; // the data, then what only carries sizes
  SmallVector<AffineMap> inputMaps;
  SmallVector<IteratorType> iterators;
  SmallVector<OpFoldResult> sizes; // of the accumulators
  AffineMap map;                   // of the accumulators
  int64_t foldedDim;               // the loop that `index` counts
  Value count;                     // of the elements folded into one
};

// A sum of this many floats in their own precision has lost a third of its
// digits.
constexpr int64_t manyElements = 1 << 14;

// Positions along an axis that is known to be short fill vectors better as 32
// bits.
void narrowPositions(ReductionOpInterface op, Value data, int64_t axis,
                     SmallVector<Type> &types) {
  auto type = cast<RankedTensorType>(data.getType());
  int64_t size = type.getDimSize(axis);
  if (!ShapedType::isDynamic(size) && size <= INT32_MAX)
    types.back() = IntegerType::get(op.getContext(), 32);
}

// Long sums of floats are folded in doubles.
SmallVector<Type> accumulatorTypes(ReductionOpInterface op, Value data) {
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  SmallVector<Type> types =
      llvm::map_to_vector(op.accumulatorTypes(element), computeType);
  FailureOr<SmallVector<int64_t>> axes = op.reducedAxes();
  if (succeeded(axes) && types.size() == 2)
    narrowPositions(op, data, axes->front(), types);
  bool isSum =
      types.size() == 1 && types[0].isF32() && op.identity()[0].literal == 0.0;
  if (failed(axes) || !isSum)
    return types;
  int64_t count = 1;
  for (int64_t axis : *axes) {
    int64_t size = cast<RankedTensorType>(data.getType()).getDimSize(axis);
    if (!ShapedType::isDynamic(size) && count < manyElements)
      count *= size;
  }
  if (count >= manyElements)
    types[0] = Float64Type::get(op.getContext());
  return types;
}

Scalar number(ScalarBuilder &scalars, Value index, Type type = {}) {
  if (!type)
    type = scalars.getI64Type();
  return {scalars, arith::IndexCastOp::create(scalars, type, index), type};
}

// An accumulator's tensor, filled.
Value filled(ImplicitLocOpBuilder &builder, const Fold &fold, Scalar start,
             Type type) {
  ScalarBuilder scalars(builder, builder.getLoc(), type);
  Value element = store(scalars, start, type);
  Value empty = emptyOf(builder, fold.sizes, type);
  return linalg::FillOp::create(builder, element, empty).getResult(0);
}

// The operator's accumulators, one tensor each.
SmallVector<Value> accumulate(ImplicitLocOpBuilder &builder,
                              ReductionOpInterface op, const Fold &fold,
                              ArrayRef<Type> types) {
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  SmallVector<Value> start;
  for (auto [scalar, type] : llvm::zip(op.identity(), types))
    start.push_back(filled(builder, fold, scalar, type));
  SmallVector<AffineMap> maps = fold.inputMaps;
  maps.append(start.size(), fold.map);
  SmallVector<Type> from(fold.inputs.size(), element);
  auto combine = [&](ScalarBuilder &scalars, ArrayRef<Scalar> args) {
    Scalar index;
    if (!fold.iterators.empty())
      index = number(scalars, linalg::IndexOp::create(scalars, fold.foldedDim),
                     types.size() == 2 ? types.back() : Type());
    Scalar x = types[0].isF64() ? cast(args[0], types[0]) : args[0];
    return op.combine(args.drop_front(from.size()), x, index);
  };
  return generic(builder, fold.inputs, from, start, types, maps, fold.iterators,
                 combine);
}

// Whether vectors lie along the axis in which a position is looked for.
bool findsAlongVectors(ReductionOpInterface op, Value data, int64_t axis) {
  auto target = op->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>(
      targetAttrName);
  return target && target.getVectorBits() && op.identity().size() == 2 &&
         axis + 1 == cast<RankedTensorType>(data.getType()).getRank();
}

// The best of a row, then the first or last place of what equals it or is NaN:
// lanes fold each of them in any order, but not both at once.
SmallVector<Value> findAlongVectors(ImplicitLocOpBuilder &builder,
                                    ReductionOpInterface op, const Fold &fold,
                                    ArrayRef<Type> types) {
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  Type best = types[0], position = types[1];
  auto last = op->getAttrOfType<IntegerAttr>("select_last_index");
  bool isLast = last && !last.getValue().isZero();
  auto better = [&](ScalarBuilder &, ArrayRef<Scalar> args) {
    return SmallVector{op.combine({args[1], args[1]}, args[0], args[1])[0]};
  };
  AffineMap row = fold.inputMaps[0];
  Value found = generic(builder, fold.inputs[0], element,
                        filled(builder, fold, op.identity()[0], best), best,
                        {row, fold.map}, fold.iterators, better)[0];
  // Of 32 bits a double holds all, of 64 all that a row may have.
  Scalar nowhere = isLast ? -1.0 : position.isInteger(32) ? INT32_MAX : 0x1p62;
  auto where = [&](ScalarBuilder &scalars, ArrayRef<Scalar> args) {
    Value at = linalg::IndexOp::create(scalars, fold.foldedDim);
    Scalar x = args[0], index = number(scalars, at, position);
    Scalar place = select(x == cast(args[1], x) || x != x, index, nowhere);
    return SmallVector{isLast ? greatest(args[2], place)
                              : least(args[2], place)};
  };
  Value at = generic(builder, {fold.inputs[0], found}, {element, best},
                     filled(builder, fold, nowhere, position), position,
                     {row, fold.map, fold.map}, fold.iterators, where)[0];
  return {found, at};
}

// The second loop: accumulators to results, through `map` from the result's
// dimensions to the accumulators'.
Value finish(ImplicitLocOpBuilder &builder, ReductionOpInterface op,
             ValueRange folded, ArrayRef<Type> types, const Fold &fold,
             ArrayRef<OpFoldResult> sizes, AffineMap map) {
  Type result = getElementTypeOrSelf(op->getResult(0).getType());
  SmallVector<AffineMap> maps(folded.size(), map);
  maps.push_back(builder.getMultiDimIdentityMap(sizes.size()));
  auto body = [&](ScalarBuilder &scalars, ArrayRef<Scalar> args) {
    SmallVector<Scalar> results =
        op.finish(args.drop_back(), number(scalars, fold.count));
    if (types[0].isF64() || types.size() == 2)
      results[0] = cast(results[0], result);
    return results;
  };
  return generic(builder, folded, types, emptyOf(builder, sizes, result),
                 result, maps, parallel(sizes.size()), body)[0];
}

Value product(ImplicitLocOpBuilder &builder, Value a, OpFoldResult b) {
  return builder.createOrFold<arith::MulIOp>(a, indexValue(builder, b));
}

//===-- Axes known at compile time ----------------------------------------===//

Value reduceKnown(ImplicitLocOpBuilder &builder, ReductionOpInterface op,
                  Value data, ArrayRef<int64_t> axes, ArrayRef<Type> types) {
  int64_t rank = cast<RankedTensorType>(data.getType()).getRank();
  int64_t resultRank = shapeOf(op->getResult(0).getType()).size();
  Fold fold{{data},
            {builder.getMultiDimIdentityMap(rank)},
            {},
            {},
            {},
            axes.empty() ? 0 : axes.front(),
            arith::ConstantIndexOp::create(builder, 1)};
  SmallVector<OpFoldResult> resultSizes;
  SmallVector<AffineExpr> keptDims, resultDims;
  for (auto [i, size] : llvm::enumerate(sizesOf(builder, data))) {
    bool folded = llvm::is_contained(axes, int64_t(i));
    fold.iterators.push_back(folded ? IteratorType::reduction
                                    : IteratorType::parallel);
    if (folded) {
      fold.count = product(builder, fold.count, size);
      if (resultRank == rank)
        resultSizes.push_back(builder.getIndexAttr(1));
      continue;
    }
    keptDims.push_back(builder.getAffineDimExpr(i));
    fold.sizes.push_back(size);
    resultDims.push_back(builder.getAffineDimExpr(resultSizes.size()));
    resultSizes.push_back(size);
  }
  fold.map = AffineMap::get(rank, 0, keptDims, builder.getContext());
  SmallVector<Value> folded =
      axes.size() == 1 && findsAlongVectors(op, data, axes[0])
          ? findAlongVectors(builder, op, fold, types)
          : accumulate(builder, op, fold, types);
  return finish(
      builder, op, folded, types, fold, resultSizes,
      AffineMap::get(resultRank, 0, resultDims, builder.getContext()));
}

//===-- Axes known at run time --------------------------------------------===//

Value equals(OpBuilder &builder, Location loc, Value a, int64_t b) {
  Value other = arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(a.getType(), b));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a,
                               other);
}

// For each dimension, whether `axes` has it. No axes at all mean every one,
// unless the operator says otherwise.
SmallVector<Value> maskOf(ImplicitLocOpBuilder &builder, Operation *op,
                          Value axes, int64_t rank, bool allIfEmpty) {
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value one = arith::ConstantIndexOp::create(builder, 1);
  Value length = tensor::DimOp::create(builder, axes, 0);
  Value all = equals(builder, builder.getLoc(), length, 0);
  if (!allIfEmpty)
    all = arith::ConstantIntOp::create(builder, 0, 1);
  SmallVector<Value> start(rank, all);
  auto mark = [&](OpBuilder &inner, Location loc, Value at, ValueRange masks) {
    Value axis = tensor::ExtractOp::create(inner, loc, axes, at);
    Value known = arith::ConstantIntOp::create(inner, loc, 0, 1);
    SmallVector<Value> next;
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value here =
          arith::OrIOp::create(inner, loc, equals(inner, loc, axis, dim),
                               equals(inner, loc, axis, dim - rank));
      known = arith::OrIOp::create(inner, loc, known, here);
      next.push_back(arith::OrIOp::create(inner, loc, masks[dim], here));
    }
    ImplicitLocOpBuilder checks(loc, inner);
    check(checks, known, Status::Value, op, "axis is out of range", "axes");
    scf::YieldOp::create(inner, loc, next);
  };
  auto loop = scf::ForOp::create(builder, zero, length, one, start, mark);
  return SmallVector<Value>(loop.getResults());
}

// The tensor without the dimensions in `mask`, which have size 1.
Value dropDims(ImplicitLocOpBuilder &builder, Operation *op, Value value,
               ArrayRef<Value> mask, RankedTensorType type) {
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value one = arith::ConstantIndexOp::create(builder, 1);
  Value kept = zero;
  SmallVector<Value> sizes(type.getRank(), one);
  for (auto [dim, size] : llvm::enumerate(sizesOf(builder, value))) {
    for (auto [i, wanted] : llvm::enumerate(sizes)) {
      Value here = equals(builder, builder.getLoc(), kept, i);
      Value folded = arith::SelectOp::create(builder, here,
                                             indexValue(builder, size), wanted);
      wanted = arith::SelectOp::create(builder, mask[dim], wanted, folded);
    }
    Value more = arith::AddIOp::create(builder, kept, one);
    kept = arith::SelectOp::create(builder, mask[dim], kept, more);
  }
  Value fits = equals(builder, builder.getLoc(), kept, type.getRank());
  check(builder, fits, Status::Value, op, "an axis is repeated", "axes");
  if (type.getRank() == 0) {
    SmallVector<Value> first(mask.size(), zero);
    Value only = tensor::ExtractOp::create(builder, value, first);
    return tensor::FromElementsOp::create(
        builder, RankedTensorType::get({}, type.getElementType()), only);
  }
  auto unknown = RankedTensorType::get(
      SmallVector<int64_t>(type.getRank(), ShapedType::kDynamic),
      type.getElementType());
  Value shape = tensor::FromElementsOp::create(
      builder, RankedTensorType::get(type.getRank(), builder.getIndexType()),
      sizes);
  return tensor::ReshapeOp::create(builder, unknown, value, shape);
}

Value reduceMasked(ImplicitLocOpBuilder &builder, ReductionOpInterface op,
                   Value data, ArrayRef<Value> mask, ArrayRef<Type> types) {
  int64_t rank = mask.size();
  MLIRContext *context = builder.getContext();
  Value one = arith::ConstantIndexOp::create(builder, 1);
  Fold fold{{data}, {}, parallel(rank), {}, {}, rank, one};
  fold.iterators.append(rank, IteratorType::reduction);
  SmallVector<AffineExpr> sums, inner, outer;
  SmallVector<OpFoldResult> folded;
  for (auto [i, size] : llvm::enumerate(sizesOf(builder, data))) {
    outer.push_back(builder.getAffineDimExpr(i));
    inner.push_back(builder.getAffineDimExpr(rank + i));
    sums.push_back(outer.back() + inner.back());
    Value whole = indexValue(builder, size);
    fold.sizes.push_back(
        arith::SelectOp::create(builder, mask[i], one, whole).getResult());
    folded.push_back(
        arith::SelectOp::create(builder, mask[i], whole, one).getResult());
    fold.count = product(builder, fold.count, folded.back());
  }
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  fold.inputs.push_back(emptyOf(builder, folded, element));
  fold.inputMaps = {AffineMap::get(2 * rank, 0, sums, context),
                    AffineMap::get(2 * rank, 0, inner, context)};
  fold.map = AffineMap::get(2 * rank, 0, outer, context);
  SmallVector<Value> partial = accumulate(builder, op, fold, types);
  return finish(builder, op, partial, types, fold, fold.sizes,
                builder.getMultiDimIdentityMap(rank));
}

struct LowerReduction : OpInterfaceConversionPattern<ReductionOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;
  LogicalResult
  matchAndRewrite(ReductionOpInterface op, ArrayRef<Value> converted,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Value data = converted[0];
    SmallVector<Type> types = accumulatorTypes(op, data);
    auto type = cast<RankedTensorType>(
        getTypeConverter()->convertType(op->getResult(0).getType()));
    Value result;
    if (FailureOr<SmallVector<int64_t>> axes = op.reducedAxes();
        succeeded(axes)) {
      result = reduceKnown(builder, op, data, *axes, types);
    } else {
      int64_t rank = cast<RankedTensorType>(data.getType()).getRank();
      SmallVector<Value> mask =
          maskOf(builder, op, converted[1], rank, op.reducesAllByDefault());
      result = reduceMasked(builder, op, data, mask, types);
      if (!op.keepsDims())
        result = dropDims(builder, op, result, mask, type);
    }
    rewriter.replaceOp(op, castTo(builder, result, type));
    return success();
  }
};

} // namespace

void addReductionPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerReduction>(types, patterns.getContext());
}

} // namespace onnxc
