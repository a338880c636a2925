// CumSum and CumProd. The walk is row-major, so that whichever axis is meant,
// at run time perhaps, the neighbour along it has been visited. Where elements
// lie side by side behind a known axis, a row is added to the one before it.
#include "dialects/onnx/OnnxDialect.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace onnxc {
namespace {

// Elements behind the axis that fill a vector.
constexpr int64_t shortestRow = 16;

// Elements of a row of sums that stays in the cache; none without vectors.
int64_t longestRow(ScanningOpInterface op, Type element) {
  auto module = op->getParentOfType<ModuleOp>();
  auto target = module->getAttrOfType<TargetAttr>(targetAttrName);
  if (!target || target.getVectorBits() < 64)
    return 0;
  int64_t bytes = std::max(target.getL2ForBlocks() / 2, target.getL1Bytes());
  int64_t length = bytes / elementBytes(storageType(element));
  return length / shortestRow * shortestRow;
}

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
    Value sums = goesInRows(op, x, axis) ? sumRows(builder, op, x, axis.get())
                                         : sumElements(builder, op, x, axis);
    rewriter.replaceOp(
        op, castTo(builder, sums, getTypeConverter()->convertType(result)));
    return success();
  }

  static Value sumElements(ImplicitLocOpBuilder &builder,
                           ScanningOpInterface op, const Input &x, Index axis) {
    auto step = [&](ArrayRef<Index> at, Tensors carried) {
      return addOne(builder, op, x, axis, at, carried);
    };
    return visit(builder, x.sizes, {emptyOf(builder, x.sizes, x.element)},
                 step)[0];
  }

  static Tensors addOne(ImplicitLocOpBuilder &builder, ScanningOpInterface op,
                        const Input &x, Index axis, ArrayRef<Index> visited,
                        Tensors carried) {
    Sizes at, before;
    Condition isFirst = false;
    for (auto [i, position] : llvm::enumerate(visited)) {
      Condition along = axis == int64_t(i);
      auto place = [&](Index walked) {
        return op.isReversed() ? x.sizes[i] - 1 - walked : walked;
      };
      at.push_back(place(position));
      isFirst = isFirst || (along && position == 0);
      before.push_back(
          place(select(along, greatest(position - 1, 0), position)));
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

  // Vectors of elements behind the axis.
  static bool goesInRows(ScanningOpInterface op, const Input &x, Index axis) {
    if (!longestRow(op, x.element) || !axis.number || x.sizes[axis.get()].is(0))
      return false;
    Index row = product(ArrayRef(x.sizes).drop_front(axis.get() + 1));
    return !row.number || row.get() >= shortestRow;
  }

  // Columns are summed in blocks, whose last sums stay in the cache; short rows
  // of several outer elements at once, for the sums of one would wait for each
  // other.
  static Value sumRows(ImplicitLocOpBuilder &builder, ScanningOpInterface op,
                       const Input &x, int64_t axis) {
    constexpr int64_t fewElements = 128;
    ArrayRef<Index> sizes = x.sizes;
    Index row = product(sizes.drop_front(axis + 1));
    Sizes flat = {product(sizes.take_front(axis)), sizes[axis], row};
    Value from = reshaped(builder, x.lowered, x.sizes, flat);
    int64_t most = longestRow(op, x.element);
    Index blocks = ceilDiv(row, most);
    Index width =
        ceilDiv(ceilDiv(row, greatest(blocks, 1)), shortestRow) * shortestRow;
    int64_t together =
        row.number ? std::max<int64_t>(fewElements / row.get(), 1) : 1;
    if (flat[0].number)
      together = std::clamp<int64_t>(flat[0].get(), 1, together);
    bool isWhole =
        together == 1 || (flat[0].number && flat[0].get() % together == 0);
    auto block = [&](ArrayRef<Index> at, Tensors carried) {
      Index outer = at[0] * together, first = at[1] * width;
      Columns columns = {
          outer, isWhole ? Index(together) : least(together, flat[0] - outer),
          first, flat[1], blocks.is(1) ? row : least(width, row - first)};
      return Tensors{
          sumColumns(builder, op, x.element, from, carried[0], columns)};
    };
    // An axis without elements has no first row.
    Index outer =
        onnxc::select(sizes[axis] == 0, 0, ceilDiv(flat[0], together));
    Value sums = visit(builder, {outer, blocks},
                       {emptyOf(builder, flat, x.element)}, block)[0];
    return reshaped(builder, sums, flat, x.sizes);
  }

  // So many elements of the outer dimensions, and so many columns.
  struct Columns {
    Index outer, together, first, rows, count;
  };
  static Value sumColumns(ImplicitLocOpBuilder &builder, ScanningOpInterface op,
                          Type element, Value from, Value to, Columns columns) {
    auto rowAt = [&](Index at) {
      return op.isReversed() ? columns.rows - 1 - at : at;
    };
    auto row = [&](Index at, Value tensor) {
      return Row(builder, columns, at).from(builder, tensor);
    };
    // A row of sums, from what the last one was: sums of their own, written
    // beside it, took Emerald Rapids 1.5 times as long.
    auto write = [&](Index at, Value carried, ValueRange from, Body body) {
      SmallVector<AffineMap> maps(from.size() + 1,
                                  builder.getMultiDimIdentityMap(2));
      Value made = generic(builder, from, element, row(at, carried), element,
                           maps, parallel(2), body)[0];
      return Row(builder, columns, at).into(builder, carried, made);
    };
    auto begin = [&](ScalarBuilder &, ArrayRef<Scalar> args) {
      return SmallVector<Scalar>{op.isExclusive() ? op.identity() : args[0]};
    };
    auto add = [&](ScalarBuilder &, ArrayRef<Scalar> args) {
      return SmallVector<Scalar>{op.combine(args[1], args[0])};
    };
    Value started = write(rowAt(0), to, row(rowAt(0), from), begin);
    auto next = [&](ArrayRef<Index> at, Tensors carried) {
      Index before = rowAt(at[0]), here = rowAt(at[0] + 1);
      Value added = row(op.isExclusive() ? before : here, from);
      return Tensors{
          write(here, carried[0], {added, row(before, carried[0])}, add)};
    };
    return visit(builder, columns.rows - 1, {started}, next)[0];
  }

  // One row of the columns.
  struct Row {
    SmallVector<OpFoldResult> offsets, sizes, steps;
    Row(ImplicitLocOpBuilder &builder, const Columns &columns, Index at)
        : offsets(folded(builder, Sizes{columns.outer, at, columns.first})),
          sizes(folded(builder, Sizes{columns.together, 1, columns.count})),
          steps(3, builder.getIndexAttr(1)) {}
    Value from(ImplicitLocOpBuilder &builder, Value tensor) const {
      SmallVector<int64_t> shape;
      SmallVector<Value> unknown;
      dispatchIndexOpFoldResults({sizes[0], sizes[2]}, unknown, shape);
      auto type = cast<RankedTensorType>(tensor.getType()).clone(shape);
      return tensor::ExtractSliceOp::create(
          builder, cast<RankedTensorType>(type), tensor, offsets, sizes, steps);
    }
    Value into(ImplicitLocOpBuilder &builder, Value tensor, Value row) const {
      return tensor::InsertSliceOp::create(builder, row, tensor, offsets, sizes,
                                           steps);
    }
  };
};

} // namespace

void addScanPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerScan>(types, patterns.getContext());
}

} // namespace onnxc
