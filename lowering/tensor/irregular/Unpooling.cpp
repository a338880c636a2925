// Col2Im and MaxUnpool: what a window took from an image goes back to it.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace onnxc {
namespace {

Value filledWithZeros(ImplicitLocOpBuilder &builder, ArrayRef<Index> sizes,
                      Type element) {
  return linalg::FillOp::create(builder, zeroOf(builder, storageType(element)),
                                emptyOf(builder, sizes, element))
      .getResult(0);
}

// Each element of the image is the sum over the elements of the kernel that lie
// on it: loops over the result, then over the kernel.
struct Blocks {
  const Input &input;
  Window window;
  Index elements; // of the kernel
  int64_t dims() const { return window.size(); }

  Scalar read(ScalarBuilder &scalars) const {
    ImplicitLocOpBuilder &builder = scalars;
    auto at = [&](int64_t loop) -> Index {
      return {builder, linalg::IndexOp::create(builder, loop)};
    };
    Condition inside = true;
    Sizes kernel, taps, counts, blocks;
    for (auto [i, dim] : llvm::enumerate(window)) {
      taps.push_back(at(2 + dims() + i));
      kernel.push_back(dim.kernel);
      counts.push_back(dim.result);
      Index from = at(2 + i) + dim.before - taps.back() * dim.dilation;
      Index block = from / dim.stride;
      inside =
          inside && from >= 0 && from % dim.stride == 0 && block < dim.result;
      blocks.push_back(block);
    }
    Index row = at(1) * elements + linearize(taps, kernel);
    Index column = select(inside, linearize(blocks, counts), 0);
    Scalar value =
        scalarAt(scalars, input.lowered, input.element, {at(0), row, column});
    Scalar isInside(scalars, inside.in(builder), builder.getI1Type());
    return select(isInside, value, 0);
  }
};

struct LowerCol2Im : OpConversionPattern<Col2ImOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Col2ImOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    auto shapes =
        resultSizes(cast<SizedOpInterface>(op.getOperation()), inputs);
    FailureOr<Window> window = op.window(inputs);
    if (failed(shapes) || failed(window))
      return failure();
    Blocks blocks{inputs[0], *window, 1};
    if (failed(requireBlocks(builder, op, blocks, shapes->front()[1])))
      return failure();
    Value sum = fold(builder, blocks, shapes->front());
    rewriter.replaceOp(
        op,
        castTo(builder, sum, getTypeConverter()->convertType(op.getType())));
    return success();
  }

  static LogicalResult requireBlocks(ImplicitLocOpBuilder &builder, Col2ImOp op,
                                     Blocks &blocks, Index channels) {
    Index columns = 1;
    Condition positive = true;
    for (const WindowDim &dim : blocks.window) {
      blocks.elements = blocks.elements * dim.kernel;
      columns = columns * dim.result;
      positive = positive && dim.kernel > 0 && dim.result > 0;
    }
    const Sizes &sizes = blocks.input.sizes;
    if (failed(require(builder, positive, Status::Value, op,
                       "blocks do not fit the image", "block_shape")) ||
        failed(require(builder, columns == sizes[2], Status::Shape, op,
                       "has another number of blocks", "input")))
      return failure();
    return require(builder, channels * blocks.elements == sizes[1],
                   Status::Shape, op, "is no multiple of the block", "input");
  }

  static Value fold(ImplicitLocOpBuilder &builder, const Blocks &blocks,
                    ArrayRef<Index> sizes) {
    Type element = blocks.input.element, wide = computeType(element);
    int64_t rank = sizes.size(), loops = rank + blocks.dims();
    Sizes kernel;
    SmallVector<AffineExpr> taps;
    for (auto [i, dim] : llvm::enumerate(blocks.window)) {
      kernel.push_back(dim.kernel);
      taps.push_back(builder.getAffineDimExpr(rank + i));
    }
    MLIRContext *context = builder.getContext();
    SmallVector<AffineMap> maps = {
        AffineMap::get(loops, 0, taps, context),
        AffineMap::getMultiDimIdentityMap(loops, context).getMajorSubMap(rank)};
    SmallVector<IteratorType> iterators = parallel(loops);
    std::fill(iterators.begin() + rank, iterators.end(),
              IteratorType::reduction);
    auto body = [&](ScalarBuilder &scalars, ArrayRef<Scalar> args) {
      return SmallVector<Scalar>{args[1] +
                                 onnxc::cast(blocks.read(scalars), args[1])};
    };
    // The first operand has the kernel's sizes; nobody reads its elements.
    Value sum = generic(builder, emptyOf(builder, kernel, element), element,
                        filledWithZeros(builder, sizes, wide), wide, maps,
                        iterators, body)
                    .front();
    if (wide == element)
      return sum;
    AffineMap identity = builder.getMultiDimIdentityMap(rank);
    auto narrow = [](ScalarBuilder &, ArrayRef<Scalar> args) {
      return SmallVector<Scalar>{args[0]};
    };
    return generic(builder, sum, wide, emptyOf(builder, sizes, element),
                   element, {identity, identity}, parallel(rank), narrow)
        .front();
  }
};

struct LowerMaxUnpool : OpConversionPattern<MaxUnpoolOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(MaxUnpoolOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    auto shapes =
        resultSizes(cast<SizedOpInterface>(op.getOperation()), inputs);
    if (failed(shapes))
      return failure();
    const Input &x = inputs[0], &places = inputs[1];
    MaxUnpoolOp::GenericAdaptor<ArrayRef<Input>> operands(inputs, op);
    FailureOr<Sizes> pooled =
        MaxUnpoolOp::pooledSizes(Report{op.getLoc()}, operands);
    if (failed(pooled))
      return failure();
    Index count = product(*pooled);
    auto inside = [&](Index place, ArrayRef<Index>) {
      return place >= 0 && place < count;
    };
    if (failed(requireAll(builder, places, inside, Status::Index, op,
                          "an index is outside the image", "I")))
      return failure();
    for (int64_t i = 0; i < x.rank(); ++i)
      if (failed(require(builder, places.sizes[i] == x.sizes[i], Status::Shape,
                         op, "differs from X", "I")) ||
          failed(require(builder, (*pooled)[i] <= shapes->front()[i],
                         Status::Value, op, "is smaller than the image",
                         "output_shape")))
        return failure();
    auto put = [&](ArrayRef<Index> at, Tensors carried) {
      Sizes to = delinearize(places.at(at), *pooled);
      return Tensors{
          insert(builder, extract(builder, x.lowered, at), carried[0], to)};
    };
    Value start = filledWithZeros(builder, shapes->front(), x.element);
    Value image = visit(builder, x.sizes, {start}, put)[0];
    rewriter.replaceOp(
        op,
        castTo(builder, image, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

void addUnpoolingPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerCol2Im, LowerMaxUnpool>(types, patterns.getContext());
}

} // namespace onnxc
