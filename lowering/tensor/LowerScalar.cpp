// Elementwise operators become one linalg.generic whose body is the record's
// scalar expression. Broadcasting is in the indexing maps; a dimension that
// may turn out to be 1 only at run time is repeated before the loop, so that
// everything that follows is affine.
#include "dialects/onnx/SizeExtremes.h"
#include "lowering/tensor/Inputs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
namespace {

// A tensor, the dimension of the result that its dimension 0 meets, and how
// many elements of the result share one of its own, along each dimension.
struct Operand {
  Value value;
  Shape shape;
  int64_t first;
  SmallVector<int64_t> blocks;
};

// The size of a dimension of the result. Only where no operand surely has it,
// sizes are compared at run time, or before where the inputs tell it.
OpFoldResult resultSize(ImplicitLocOpBuilder &builder, Operation *op,
                        ArrayRef<Operand> operands, int64_t dim, Dim result) {
  if (result.isStatic())
    return builder.getIndexAttr(result.size);
  Value size, one = arith::ConstantIndexOp::create(builder, 1);
  for (const Operand &operand : operands) {
    int64_t own = dim - operand.first;
    if (own < 0 || own >= int64_t(operand.shape.size()) ||
        operand.shape[own].isOne() || operand.blocks[own] != 1)
      continue;
    Value candidate = sizeOf(builder, operand.value, own).in(builder);
    if (operand.shape[own].surelyEquals(result))
      return candidate;
    Value isOne = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                        size ? size : candidate, one);
    size = size ? arith::SelectOp::create(builder, isOne, candidate, size)
                      .getResult()
                : candidate;
  }
  return sizeNamed(op, result, {}, {builder, size}).in(builder);
}

// The operand with the elements of its dimensions in `repeat` repeated: by a
// loop that layouts pass like any other one.
Value repeatElements(ImplicitLocOpBuilder &builder, Value value,
                     ArrayRef<OpFoldResult> sizes, ArrayRef<Value> repeat,
                     Value anyRepeats) {
  Type element = getElementTypeOrSelf(value.getType());
  RankedTensorType type;
  auto read = [&](OpBuilder &inner, Location loc, ValueRange) {
    SmallVector<Value> at;
    for (auto [i, repeats] : llvm::enumerate(repeat)) {
      Value position = linalg::IndexOp::create(inner, loc, i);
      Value zero = arith::ConstantIndexOp::create(inner, loc, 0);
      at.push_back(
          repeats ? arith::SelectOp::create(inner, loc, repeats, zero, position)
                        .getResult()
                  : position);
    }
    Value found = tensor::ExtractOp::create(inner, loc, value, at);
    linalg::YieldOp::create(inner, loc, found);
  };
  auto copy = [&](OpBuilder &inner, Location loc) {
    Value empty = tensor::EmptyOp::create(inner, loc, sizes, element);
    type = cast<RankedTensorType>(empty.getType());
    int64_t rank = sizes.size();
    Value all = linalg::GenericOp::create(inner, loc, type, ValueRange(), empty,
                                          inner.getMultiDimIdentityMap(rank),
                                          parallel(rank), read)
                    .getResult(0);
    scf::YieldOp::create(inner, loc, all);
  };
  auto keep = [&](OpBuilder &inner, Location loc) {
    scf::YieldOp::create(inner, loc,
                         inner.createOrFold<tensor::CastOp>(loc, type, value));
  };
  return scf::IfOp::create(builder, anyRepeats, copy, keep).getResult(0);
}

// An element for each block, of which the last may be a short one.
LogicalResult requireBlocks(ImplicitLocOpBuilder &builder, Operation *op,
                            const Operand &operand,
                            ArrayRef<OpFoldResult> resultSizes) {
  for (auto [i, block] : llvm::enumerate(operand.blocks)) {
    if (block == 1)
      continue;
    Index whole(builder, indexValue(builder, resultSizes[operand.first + i]));
    Index own = sizeOf(builder, operand.value, i);
    if (failed(require(builder, own == ceilDiv(whole, block), Status::Shape, op,
                       "an operand does not have an element for each block",
                       "block_size")))
      return failure();
  }
  return success();
}

// The first elements along each dimension. A loop that makes them for nothing
// else computes no more of them; a slice of it would keep it from being fused.
Value firstElements(ImplicitLocOpBuilder &builder, Value original, Value value,
                    ArrayRef<Index> sizes) {
  auto loop = value.getDefiningOp<linalg::GenericOp>();
  auto op = original.getDefiningOp<ScalarOpInterface>();
  auto isSimple = [](AffineMap map) {
    return map.isIdentity() || map.getNumResults() == 0;
  };
  if (!loop || !op || !original.hasOneUse() || op->getNumResults() != 1 ||
      loop.getNumDpsInputs() != op->getNumOperands() || hasZero(sizes) ||
      !llvm::all_of(loop.getIndexingMapsArray(), isSimple))
    return sliced(builder, value, Sizes(sizes.size(), 0), sizes);
  SmallVector<Value> operands;
  for (auto [input, own] :
       llvm::zip_equal(loop.getDpsInputOperands(), op->getOperands()))
    operands.push_back(loop.getMatchingIndexingMap(input).isIdentity()
                           ? firstElements(builder, own, input->get(), sizes)
                           : input->get());
  operands.push_back(
      emptyOf(builder, sizes, getElementTypeOrSelf(value.getType())));
  return clone(builder, loop, operands.back().getType(), operands)
      ->getResult(0);
}

// Dimensions that are longer than the result's only where that is empty: the
// loop reads no element then, but is as long as its operands.
void cutToResult(ImplicitLocOpBuilder &builder, Value original,
                 Operand &operand, ArrayRef<Dim> result,
                 ArrayRef<OpFoldResult> resultSizes) {
  Sizes sizes;
  bool cuts = false;
  for (auto [i, dim] : llvm::enumerate(operand.shape)) {
    Dim wanted = result[operand.first + i];
    sizes.push_back(sizeOf(builder, operand.value, i));
    if (operand.blocks[i] != 1 || dim.surelyEquals(wanted) || !dim.symbol ||
        !wanted.symbol || !isSameUnlessEmpty(dim.symbol, wanted.symbol))
      continue;
    sizes.back() = {builder,
                    indexValue(builder, resultSizes[operand.first + i])};
    dim = wanted;
    cuts = true;
  }
  if (cuts)
    operand.value = firstElements(builder, original, operand.value, sizes);
}

// A dimension of unknown size is 1 or the result's size, nobody knows which.
// It is 1 at run time rarely, so only then a copy is made.
void expandUncertain(ImplicitLocOpBuilder &builder, Operation *op,
                     Operand &operand, ArrayRef<Dim> result,
                     ArrayRef<OpFoldResult> resultSizes) {
  SmallVector<OpFoldResult> sizes = sizesOf(builder, operand.value);
  SmallVector<Value> repeat(operand.shape.size());
  Value anyRepeats, one;
  for (auto [i, dim] : llvm::enumerate(operand.shape)) {
    if (dim.isStatic() || operand.blocks[i] != 1 ||
        dim.surelyEquals(result[operand.first + i]))
      continue;
    one = one ? one : arith::ConstantIndexOp::create(builder, 1).getResult();
    auto equal = [&](Value a, Value b) -> Value {
      return arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, a, b);
    };
    Value own = sizeOf(builder, operand.value, i).in(builder);
    sizes[i] = resultSizes[operand.first + i];
    Value wanted = indexValue(builder, sizes[i]);
    bool neverRepeats = isNeverOne(Index(dim));
    Value fits = equal(own, wanted);
    if (!neverRepeats)
      fits = arith::OrIOp::create(builder, equal(own, one), fits);
    check(builder, fits, Status::Shape, op, "shapes do not broadcast", "");
    operand.shape[i] = result[operand.first + i];
    if (neverRepeats)
      continue;
    repeat[i] =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, own, wanted);
    anyRepeats =
        anyRepeats
            ? arith::OrIOp::create(builder, anyRepeats, repeat[i]).getResult()
            : repeat[i];
  }
  if (anyRepeats)
    operand.value =
        repeatElements(builder, operand.value, sizes, repeat, anyRepeats);
}

AffineMap mapOf(Builder &builder, const Operand &operand,
                ArrayRef<Dim> result) {
  SmallVector<AffineExpr> dims;
  for (auto [i, dim] : llvm::enumerate(operand.shape)) {
    bool repeated = dim.isOne() && !result[operand.first + i].isOne();
    AffineExpr index = builder.getAffineDimExpr(operand.first + i);
    dims.push_back(repeated ? builder.getAffineConstantExpr(0)
                            : index.floorDiv(operand.blocks[i]));
  }
  return AffineMap::get(result.size(), 0, dims, builder.getContext());
}

Operand operandOf(ScalarOpInterface op, int64_t number, Value value,
                  int64_t rank) {
  // The original type has the names.
  Shape shape = shapeOf(op->getOperand(number).getType());
  int64_t own = shape.size();
  SmallVector<int64_t> blocks;
  for (int64_t dim = 0; dim < own; ++dim)
    blocks.push_back(op.block(number, dim, own));
  int64_t first = own ? op.firstDim(number, own, rank) : 0;
  first = std::min(first, rank - own); // where one element does not fit
  return {value, shape, first, blocks};
}

struct LowerScalar : OpInterfaceConversionPattern<ScalarOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;
  LogicalResult
  matchAndRewrite(ScalarOpInterface op, ArrayRef<Value> converted,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Shape result = shapeOf(op->getResult(0).getType());
    SmallVector<Operand> operands;
    for (auto [i, value] : llvm::enumerate(converted))
      operands.push_back(operandOf(op, i, value, result.size()));
    SmallVector<OpFoldResult> sizes;
    for (auto [i, dim] : llvm::enumerate(result))
      sizes.push_back(resultSize(builder, op, operands, i, dim));
    SmallVector<AffineMap> maps;
    SmallVector<Value> inputs, outputs;
    for (auto [operand, original] :
         llvm::zip_equal(operands, op->getOperands())) {
      if (failed(requireBlocks(builder, op, operand, sizes)))
        return failure();
      cutToResult(builder, original, operand, result, sizes);
      expandUncertain(builder, op, operand, result, sizes);
      inputs.push_back(operand.value);
      maps.push_back(mapOf(builder, operand, result));
    }
    SmallVector<Type> from = elementTypes(op->getOperands());
    SmallVector<Type> to = elementTypes(op->getResults());
    for (Type type : to) {
      outputs.push_back(emptyOf(builder, sizes, type));
      maps.push_back(builder.getMultiDimIdentityMap(result.size()));
    }
    auto body = [&](ScalarBuilder &scalars, ArrayRef<Scalar> args) {
      return op.emitScalar(scalars, args.take_front(from.size()));
    };
    rewriter.replaceOp(op, generic(builder, inputs, from, outputs, to, maps,
                                   parallel(result.size()), body));
    return success();
  }
};

} // namespace

void addScalarPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerScalar>(types, patterns.getContext());
}

} // namespace onnxc
