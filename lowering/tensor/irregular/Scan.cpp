// CumSum and CumProd. The walk is row-major, so that whichever axis is meant,
// at run time perhaps, the neighbour along it has been visited.
#include "dialects/onnx/OnnxDialect.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace onnxc {
namespace {

struct LowerScan : OpInterfaceConversionPattern<ScanningOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;
  LogicalResult
  matchAndRewrite(ScanningOpInterface op, ArrayRef<Value> lowered,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, lowered);
    const Input &x = inputs[0];
    Type result = op->getResult(0).getType();
    if (!isa<RankedTensorType>(result))
      return op->emitError("the rank of a result is not known");
    auto inside = [&](Index axis, ArrayRef<Index>) {
      return axis >= -x.rank() && axis < x.rank();
    };
    if (failed(requireAll(builder, inputs[1], inside, Status::Value, op,
                          "is outside the rank", "axis")))
      return failure();
    Index axis = fromEnd(inputs[1].at(Sizes(inputs[1].rank(), 0)), x.rank());
    auto step = [&](ArrayRef<Index> at, Tensors carried) {
      return addOne(builder, op, x, axis, at, carried);
    };
    Value sums = visit(builder, x.sizes, {emptyOf(builder, x.sizes, x.element)},
                       step)[0];
    rewriter.replaceOp(
        op, castTo(builder, sums, getTypeConverter()->convertType(result)));
    return success();
  }

  static Tensors addOne(ImplicitLocOpBuilder &builder, ScanningOpInterface op,
                        const Input &x, Index axis, ArrayRef<Index> visited,
                        Tensors carried) {
    Sizes at, before;
    Condition isFirst = false;
    for (auto [i, position] : llvm::enumerate(visited)) {
      Condition along = axis == int64_t(i);
      bool reversed = op.isReversed();
      at.push_back(reversed ? x.sizes[i] - 1 - position : position);
      isFirst = isFirst || (along && position == 0);
      Index neighbour = reversed ? least(at.back() + 1, x.sizes[i] - 1)
                                 : greatest(at.back() - 1, 0);
      before.push_back(select(along, neighbour, at.back()));
    }
    ScalarBuilder scalars(builder, builder.getLoc(), x.element);
    Scalar sum = scalarAt(scalars, carried[0], x.element, before);
    Scalar element =
        scalarAt(scalars, x.lowered, x.element, op.isExclusive() ? before : at);
    Scalar first(scalars, isFirst.in(builder), builder.getI1Type());
    Scalar value = op.isExclusive()
                       ? select(first, op.identity(), op.combine(sum, element))
                       : select(first, element, op.combine(sum, element));
    return {insert(builder, store(scalars, value, x.element), carried[0], at)};
  }
};

} // namespace

void addScanPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerScan>(types, patterns.getContext());
}

} // namespace onnxc
