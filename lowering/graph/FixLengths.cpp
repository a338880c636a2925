// Axes, starts, pads and their like are lists, and a model may leave it to the
// run how long one is. Ranks are known here, and mostly they say how long it
// has to be: the run checks it, and the list has that length from now on. Where
// a list may have any length, since it names some of the axes, its elements are
// put where they belong among those of all axes.
#include "dialects/onnx/Composite.h"
#include "dialects/onnx/Families.h"
#include "lowering/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace onnxc {
#define GEN_PASS_DEF_FIXLENGTHS
#include "lowering/Passes.h.inc"

using namespace mlir;

namespace {

// One operand of an operation, perhaps absent.
struct List {
  Value value;
  StringRef name;
};

bool isOpen(Value list) {
  return list && !cast<RankedTensorType>(list.getType()).hasStaticShape();
}

// The list's length, where that is known.
std::optional<int64_t> lengthOf(Value list) {
  if (!list || isOpen(list))
    return std::nullopt;
  return cast<RankedTensorType>(list.getType()).getNumElements();
}

struct ListFixer {
  explicit ListFixer(Operation *op)
      : op(op), builder(op), graph(builder, op->getLoc()) {}

  // Whether the list has that length, or will have had it after the run's
  // check.
  LogicalResult fix(List list, int64_t length) {
    if (std::optional<int64_t> known = lengthOf(list.value);
        known && known != length)
      return op->emitError() << "expected " << length
                             << (length == 1 ? " value in '" : " values in '")
                             << list.name << "', got " << *known;
    if (!isOpen(list.value))
      return success();
    Node node(graph, list.value);
    op->replaceUsesOfWith(list.value, ofLength(node, length, list.name).value);
    return success();
  }
  LogicalResult fix(ArrayRef<List> lists, int64_t length) {
    return success(llvm::all_of(
        lists, [&](List list) { return succeeded(fix(list, length)); }));
  }

  // Axes of a tensor of that rank, counted from either end, none of them twice.
  Node checkedAxes(Node axes, int64_t rank) {
    Node wide = cast(axes, dataNumber(builder.getI64Type()));
    Fault outside = {Status::Index, "axes", "an axis is outside the rank"};
    wide = require(wide, wide >= -rank && wide < rank, outside);
    Node times = scattered(wide, expand(graph.ints(1), shapeOf(wide)),
                           SmallVector<int64_t>(rank, 0), "add");
    return require(wide, times <= 1,
                   {Status::Index, "axes", "an axis is given twice"});
  }

  // An element for each dimension, from those for some.
  Node scattered(Node axes, Node elements, ArrayRef<int64_t> otherwise,
                 StringRef reduction = "none") {
    return onnxc::op<ScatterElementsOp>({graph.ints(otherwise), axes, elements},
                                        {{"reduction", reduction}});
  }

  Node as64(Value list) {
    return cast(Node(graph, list), dataNumber(builder.getI64Type()));
  }

  Operation *op;
  OpBuilder builder;
  Graph graph;
};

LogicalResult fixLengths(SliceOp op) {
  List lists[] = {{op.getStarts(), "starts"},
                  {op.getEnds(), "ends"},
                  {op.getAxes(), "axes"},
                  {op.getSteps(), "steps"}};
  ListFixer fixer(op);
  for (List list : lists)
    if (std::optional<int64_t> length = lengthOf(list.value))
      return fixer.fix(lists, *length);
  int64_t rank = rankOf(op.getData());
  Graph &graph = fixer.graph;
  Node starts = fixer.as64(op.getStarts()), count = onnxc::op<SizeOp>(starts);
  auto given = [&](List list) {
    Node node = fixer.as64(list.value);
    return require(node, onnxc::op<SizeOp>(node) == count,
                   {Status::Shape, list.name, "is not as long as 'starts'"});
  };
  Node ends = given(lists[1]);
  Node axes = op.getAxes() ? given(lists[2]) : range(0, count, 1);
  axes = fixer.checkedAxes(axes, rank);
  Node steps =
      op.getSteps() ? given(lists[3]) : expand(graph.ints(1), shapeOf(starts));
  op.getStartsMutable().set(
      fixer.scattered(axes, starts, SmallVector<int64_t>(rank, 0)).value);
  op.getEndsMutable().set(
      fixer.scattered(axes, ends, SmallVector<int64_t>(rank, INT64_MAX)).value);
  op.getAxesMutable().assign(graph.ints(range(0, rank)).value);
  op.getStepsMutable().assign(
      fixer.scattered(axes, steps, SmallVector<int64_t>(rank, 1)).value);
  return success(!graph.failed);
}

LogicalResult fixLengths(PadOp op) {
  ListFixer fixer(op);
  if (op.getConstantValue() &&
      failed(fixer.fix({op.getConstantValue(), "constant_value"}, 1)))
    return failure();
  int64_t rank = rankOf(op.getData());
  List pads = {op.getPads(), "pads"}, axes = {op.getAxes(), "axes"};
  if (!op.getAxes() || lengthOf(op.getAxes()))
    return fixer.fix(pads, 2 * lengthOf(op.getAxes()).value_or(rank));
  if (std::optional<int64_t> length = lengthOf(op.getPads()))
    return fixer.fix(axes, *length / 2);
  Node all = fixer.as64(op.getPads()),
       named = fixer.checkedAxes(Node(fixer.graph, op.getAxes()), rank);
  Node count = sizeOf(named, 0);
  all = require(
      all, sizeOf(all, 0) == count * 2,
      {Status::Shape, "pads", "does not have two values for each axis"});
  SmallVector<int64_t> none(rank, 0);
  Node before =
      fixer.scattered(named, slice(all, 0, fixer.graph.ints(0), count), none);
  Node after = fixer.scattered(named, slice(all, 0, count, count * 2), none);
  op.getPadsMutable().set(concat({before, after}, 0).value);
  op.getAxesMutable().clear();
  return success(!fixer.graph.failed);
}

LogicalResult fixLengths(Col2ImOp op) {
  List image = {op.getImageShape(), "image_shape"},
       block = {op.getBlockShape(), "block_shape"};
  return ListFixer(op).fix({image, block}, rankOf(op.getResult()) - 2);
}

LogicalResult fixLengths(ResizeOp op) {
  int64_t axes = op.getAxes() ? op.getAxes()->size() : rankOf(op.getX());
  ListFixer fixer(op);
  std::optional<int64_t> sizes = lengthOf(op.getSizes());
  if (op.getRoi() &&
      op.getCoordinateTransformationMode() == "tf_crop_and_resize" &&
      failed(fixer.fix({op.getRoi(), "roi"}, 2 * axes)))
    return failure();
  // An empty list stands for none.
  if (op.getSizes() && sizes != 0)
    return fixer.fix({op.getSizes(), "sizes"}, axes);
  return fixer.fix({op.getScales(), "scales"}, axes);
}

LogicalResult fixLengths(Operation *op) {
  auto of = [&](List list, int64_t length) {
    return ListFixer(op).fix(list, length);
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<SliceOp, PadOp, Col2ImOp, ResizeOp>(
          [](auto op) { return fixLengths(op); })
      .Case([&](TileOp op) {
        return of({op.getRepeats(), "repeats"}, rankOf(op.getInput()));
      })
      .Case([&](CenterCropPadOp op) {
        return of({op.getShape(), "shape"}, op.getAxes()
                                                ? op.getAxes()->size()
                                                : rankOf(op.getInputData()));
      })
      .Case([&](SplitOp op) {
        return of({op.getSplit(), "split"}, op.getNumResults());
      })
      .Case([&](MaxUnpoolOp op) {
        return of({op.getOutputShape(), "output_shape"}, rankOf(op.getX()));
      })
      .Case([&](TopKOp op) { return of({op.getK(), "K"}, 1); })
      .Case([&](TriluOp op) { return of({op.getK(), "k"}, 1); })
      .Case<CumSumOp, CumProdOp>(
          [&](auto op) { return of({op.getAxis(), "axis"}, 1); })
      .Case([&](DropoutOp op) {
        return ListFixer(op).fix(
            {{op.getRatio(), "ratio"}, {op.getTrainingMode(), "training_mode"}},
            1);
      })
      .Case([&](NonMaxSuppressionOp op) {
        return ListFixer(op).fix(
            {{op.getMaxOutputBoxesPerClass(), "max_output_boxes_per_class"},
             {op.getIouThreshold(), "iou_threshold"},
             {op.getScoreThreshold(), "score_threshold"}},
            1);
      })
      .Default([](Operation *) { return success(); });
}

struct FixLengths : impl::FixLengthsBase<FixLengths> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (llvm::all_of(op->getOperands(), isRanked) && failed(fixLengths(op)))
        signalPassFailure();
    });
  }
};

} // namespace
} // namespace onnxc
