// Shapes of the operators that fit no family.
#include "dialects/onnx/OnnxDialect.h"
#include "dialects/onnx/Recurrent.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {

using Inputs = ArrayRef<Input>;
#define SHAPES(Op)                                                             \
  FailureOr<Shapes> Op::shapes(Report report, GenericAdaptor<Inputs> op)

SHAPES(ConstantOfShapeOp) {
  FailureOr<Sizes> sizes = op.getInput().elements();
  if (failed(sizes))
    return Shapes(); // of unknown rank
  return Shapes{*sizes};
}

static ArrayRef<Index> dimsOf(ArrayRef<Index> sizes, int64_t start,
                              std::optional<int64_t> end) {
  int64_t rank = sizes.size();
  auto inside = [&](int64_t dim) {
    return std::clamp<int64_t>(wrap(dim, rank), 0, rank);
  };
  int64_t first = inside(start), last = inside(end.value_or(rank));
  return sizes.slice(first, std::max<int64_t>(last - first, 0));
}

Sizes ShapeOp::elements(ArrayRef<Index> sizes) {
  return Sizes(dimsOf(sizes, getStart(), getEnd()));
}

SHAPES(ShapeOp) {
  auto dims = dimsOf(op.getData().sizes, op.getStart(), op.getEnd());
  return Shapes{{dims.size()}};
}

SHAPES(CompressOp) {
  Input input = op.getInput();
  if (op.getCondition().rank() != 1)
    return report("the condition has rank ", op.getCondition().rank());
  if (!op.getAxis())
    return Shapes{{Index()}};
  FailureOr<int64_t> axis = axisOf(report, *op.getAxis(), input.rank());
  if (failed(axis))
    return failure();
  Sizes sizes = input.sizes;
  sizes[*axis] = Index();
  return Shapes{sizes};
}

SHAPES(ScatterElementsOp) {
  Input data = op.getData();
  if (op.getIndices().rank() != data.rank() ||
      op.getUpdates().rank() != data.rank())
    return report("data, indices and updates differ in rank");
  if (failed(axisOf(report, op.getAxis(), data.rank())))
    return failure();
  return Shapes{data.sizes};
}

// How many dimensions an index takes, by the ranks.
int64_t ScatterNDOp::depth(Inputs inputs) {
  return inputs[1].rank() - 1 + inputs[0].rank() - inputs[2].rank();
}

SHAPES(ScatterNDOp) {
  Input data = op.getData(), indices = op.getIndices();
  if (indices.rank() == 0)
    return report("'indices' has rank 0");
  int64_t depth = ScatterNDOp::depth({data, indices, op.getUpdates()});
  Index last = indices.sizes.back();
  if (depth < 0 || depth > data.rank() || (last.number && !last.is(depth)))
    return report("indices of ", last.number.value_or(depth),
                  " and updates of rank ", op.getUpdates().rank(),
                  " do not fit rank ", data.rank());
  return Shapes{data.sizes};
}

SHAPES(TensorScatterOp) {
  Input past = op.getPastCache();
  FailureOr<int64_t> axis = axisOf(report, op.getAxis(), past.rank());
  if (failed(axis))
    return failure();
  if (op.getUpdate().rank() != past.rank() || *axis == 0)
    return report("the update does not fit the cache");
  return Shapes{past.sizes};
}

SHAPES(TopKOp) {
  Input x = op.getX();
  FailureOr<int64_t> axis = axisOf(report, op.getAxis(), x.rank());
  if (failed(axis))
    return failure();
  Index length = product(op.getK().sizes);
  if (op.getK().rank() > 1 || (length.number && !length.is(1)))
    return report("'K' needs one element");
  FailureOr<Sizes> k = length.number ? op.getK().elements() : Sizes(1);
  Sizes sizes = x.sizes;
  if (k->front().number && sizes[*axis].number &&
      (*k->front().number < 0 || *k->front().number > *sizes[*axis].number))
    return report("'K' is ", *k->front().number, " of ", *sizes[*axis].number);
  sizes[*axis] = k->front();
  return Shapes{sizes, sizes};
}

// The size by a scale, of a size that may be known by name only.
static Index scaled(Index size, double scale) {
  if (size.number)
    return int64_t(std::floor(double(*size.number) * scale));
  return scale == std::floor(scale) ? size * int64_t(scale) : Index();
}

SHAPES(ResizeOp) {
  Input x = op.getX(), wanted = op.getSizes(), scales = op.getScales();
  SmallVector<int64_t> axes = range(0, x.rank());
  if (OptionalInts given = op.getAxes())
    axes.assign(given->begin(), given->end());
  Sizes sizes = x.sizes;
  bool bySizes = wanted.given() && !wanted.sizes[0].is(0);
  if (!bySizes && !scales.given())
    return report("neither 'scales' nor 'sizes' are given");
  const Input &operand = bySizes ? wanted : scales;
  if (operand.rank() != 1 || (operand.sizes[0].number &&
                              *operand.sizes[0].number != int64_t(axes.size())))
    return report("expected ", axes.size(), " scales or sizes");
  auto factors = bySizes ? std::nullopt : constantFloats(scales.original);
  bool stretches = op.getKeepAspectRatioPolicy() == "stretch";
  for (auto [i, given] : llvm::enumerate(axes)) {
    FailureOr<int64_t> axis = axisOf(report, given, x.rank());
    if (failed(axis))
      return failure();
    if (bySizes)
      sizes[*axis] = stretches ? wanted.at({int64_t(i)}) : Index();
    else if (factors && !((*factors)[i] > 0 && (*factors)[i] < 1e9))
      return report("a scale is ", (*factors)[i]);
    else
      sizes[*axis] = factors ? scaled(sizes[*axis], (*factors)[i]) : Index();
  }
  return Shapes{sizes};
}

FailureOr<Window> Col2ImOp::window(Inputs inputs) {
  return windowOf({}, {inputs, *this});
}
FailureOr<Window> Col2ImOp::windowOf(Report report, GenericAdaptor<Inputs> op) {
  FailureOr<Sizes> image = op.getImageShape().elements(),
                   block = op.getBlockShape().elements();
  if (failed(image) && failed(block))
    return report("the rank of the image is not known");
  if (failed(image))
    image = Sizes(block->size());
  if (failed(block))
    block = Sizes(image->size());
  if (image->size() != block->size())
    return report("image and block must have the same rank");
  return slidingWindow(
      report, *image, *block,
      {"NOTSET", op.getDilations(), op.getPads(), op.getStrides()});
}

SHAPES(Col2ImOp) {
  Input input = op.getInput();
  if (input.rank() != 3)
    return report("expected a tensor of rank 3, got ", input.rank());
  if (failed(op.getImageShape().elements()) &&
      failed(op.getBlockShape().elements()))
    return Shapes(); // of unknown rank
  FailureOr<Window> window = windowOf(report, op);
  if (failed(window))
    return failure();
  Index elements = 1;
  Sizes sizes = {input.sizes[0], Index()};
  for (const WindowDim &dim : *window) {
    elements = elements * dim.kernel;
    sizes.push_back(dim.image);
  }
  if (elements.number && *elements.number > 0)
    sizes[1] = input.sizes[1] / elements;
  else if (elements.value)
    sizes[1] = input.sizes[1] / elements;
  return Shapes{sizes};
}

SHAPES(DetOp) {
  Input x = op.getX();
  if (x.rank() < 2)
    return report("expected matrices, got a tensor of rank ", x.rank());
  Index rows = x.sizes[x.rank() - 2], columns = x.sizes.back();
  if (rows.number && columns.number && *rows.number != *columns.number)
    return report("a matrix of ", *rows.number, " rows and ", *columns.number,
                  " columns has no determinant");
  return Shapes{Sizes(ArrayRef(x.sizes).drop_back(2))};
}

FailureOr<Sizes> MaxUnpoolOp::pooledSizes(Report report,
                                          GenericAdaptor<Inputs> op) {
  Input x = op.getX();
  int64_t dims = x.rank() - 2;
  ArrayRef<int64_t> kernel = op.getKernelShape();
  auto numbers = [&](OptionalInts given, int64_t count, int64_t otherwise) {
    SmallVector<int64_t> all(count, otherwise);
    if (given)
      all.assign(given->begin(), given->end());
    return all;
  };
  auto strides = numbers(op.getStrides(), dims, 1),
       pads = numbers(op.getPads(), 2 * dims, 0);
  if (dims < 1 || int64_t(kernel.size()) != dims ||
      int64_t(strides.size()) != dims || int64_t(pads.size()) != 2 * dims ||
      op.getI().rank() != x.rank())
    return report("'kernel_shape', 'strides', 'pads' and 'I' do not fit rank ",
                  x.rank());
  Sizes sizes(ArrayRef(x.sizes).take_front(2));
  for (int64_t i = 0; i < dims; ++i)
    sizes.push_back((x.sizes[2 + i] - 1) * strides[i] + kernel[i] - pads[i] -
                    pads[dims + i]);
  return sizes;
}

SHAPES(MaxUnpoolOp) {
  FailureOr<Sizes> sizes = pooledSizes(report, op);
  if (failed(sizes) || !op.getOutputShape().given())
    return failed(sizes) ? FailureOr<Shapes>() : Shapes{*sizes};
  FailureOr<Sizes> wanted = op.getOutputShape().elements();
  if (failed(wanted))
    return Shapes{Sizes(sizes->size())};
  if (wanted->size() != sizes->size())
    return report("'output_shape' must have ", sizes->size(), " elements");
  return Shapes{*wanted};
}

SHAPES(UniqueOp) {
  Input x = op.getX();
  Sizes all = {product(x.sizes)}, unique = {Index()};
  if (op.getAxis()) {
    FailureOr<int64_t> axis = axisOf(report, *op.getAxis(), x.rank());
    if (failed(axis))
      return failure();
    all = {x.sizes[*axis]};
    unique = x.sizes;
    unique[*axis] = Index();
  }
  return Shapes{unique, {Index()}, all, {Index()}};
}

SHAPES(NonMaxSuppressionOp) {
  if (op.getBoxes().rank() != 3 || op.getScores().rank() != 3)
    return report("expected boxes and scores of rank 3, got ",
                  op.getBoxes().rank(), " and ", op.getScores().rank());
  return Shapes{{Index(), 3}};
}

static FailureOr<Shapes> regionShapes(Report report, const Input &x,
                                      const Input &rois,
                                      ArrayRef<int64_t> pooled) {
  if (x.rank() != 4 || rois.rank() != 2 || pooled.size() != 2)
    return report("expected an image of rank 4 and regions of rank 2, got ",
                  x.rank(), " and ", rois.rank());
  if (pooled[0] < 1 || pooled[1] < 1)
    return report("cannot pool to ", pooled[0], " x ", pooled[1]);
  return Shapes{{rois.sizes[0], x.sizes[1], pooled[0], pooled[1]}};
}

SHAPES(MaxRoiPoolOp) {
  return regionShapes(report, op.getX(), op.getRois(), op.getPooledShape());
}

SHAPES(RoiAlignOp) {
  if (op.getBatchIndices().rank() != 1)
    return report("'batch_indices' must have one dimension");
  return regionShapes(report, op.getX(), op.getRois(),
                      {op.getOutputHeight(), op.getOutputWidth()});
}

// That an operand, where it is given, has these sizes.
static LogicalResult checkSizes(Report report, const ExpectedSizes &expected) {
  const Input &input = expected.operand;
  if (!input.given())
    return success();
  if (input.rank() != int64_t(expected.sizes.size()))
    return report("expected '", expected.name, "' of rank ",
                  expected.sizes.size(), ", got ", input.rank());
  for (auto [i, size] : llvm::enumerate(expected.sizes))
    if (size.number && input.sizes[i].number &&
        *size.number != *input.sizes[i].number)
      return report("expected dimension ", i, " of '", expected.name,
                    "' to be ", *size.number, ", got ", *input.sizes[i].number);
  return success();
}

// The first of them that is a number, or the first of them.
static Index firstNumber(ArrayRef<Index> sizes) {
  const Index *known =
      llvm::find_if(sizes, [](Index size) { return size.number.has_value(); });
  return known == sizes.end() ? sizes.front() : *known;
}

SmallVector<ExpectedSizes> expectedSizes(const RecurrentOperands &net) {
  auto size = [](const Input &input, int64_t dim) {
    return dim < input.rank() ? input.sizes[dim] : Index();
  };
  int64_t batchDim = net.layout ? 0 : 1;
  Index directions = net.direction == "bidirectional" ? 2 : 1;
  Index hidden = firstNumber({size(net.r, 2), size(net.initialH, 2),
                              net.hidden ? Index(*net.hidden) : Index()});
  Index batch =
      firstNumber({size(net.x, batchDim), size(net.lengths, 0),
                   size(net.initialH, batchDim), size(net.initialC, batchDim)});
  Index features = firstNumber({size(net.x, 2), size(net.w, 2)});
  Index time = size(net.x, 1 - batchDim), rows = hidden * net.gates;
  Sizes x = {time, batch, features}, state = {directions, batch, hidden};
  if (net.layout) {
    std::swap(x[0], x[1]);
    std::swap(state[0], state[1]);
  }
  return {{"X", net.x, x},
          {"W", net.w, {directions, rows, features}},
          {"R", net.r, {directions, rows, hidden}},
          {"B", net.b, {directions, rows * 2}},
          {"sequence_lens", net.lengths, {batch}},
          {"initial_h", net.initialH, state},
          {"initial_c", net.initialC, state},
          {"P", net.peephole, {directions, hidden * 3}}};
}

FailureOr<Shapes> recurrentShapes(Report report, const RecurrentOperands &net,
                                  int64_t results) {
  if (net.activations)
    for (auto name : net.activations->getAsRange<StringAttr>())
      if (!findActivation(name.getValue()))
        return report("activation '", name.getValue(), "' is unknown");
  SmallVector<ExpectedSizes> expected = expectedSizes(net);
  for (const ExpectedSizes &operand : expected)
    if (failed(checkSizes(report, operand)))
      return failure();
  const Sizes &x = expected[0].sizes, &last = expected[5].sizes;
  Sizes all = last;
  all.insert(all.begin() + (net.layout ? 1 : 0), x[net.layout ? 1 : 0]);
  Shapes shapes(results, last);
  shapes[0] = all;
  return shapes;
}

RecurrentOperands
MsDynamicQuantizeLSTMOp::operandsOf(GenericAdaptor<Inputs> op) {
  Input w = op.getW(), r = op.getR();
  for (Input *weights : {&w, &r}) {
    if (weights->rank() == 3)
      std::swap(weights->sizes[1], weights->sizes[2]);
    weights->lowered = {}; // no value has these sizes
  }
  return {op.getX(),
          w,
          r,
          op.getB(),
          op.getSequenceLens(),
          op.getInitialH(),
          op.getInitialC(),
          op.getP(),
          /*gates=*/4,
          /*layout=*/0,
          op.getDirection(),
          op.getActivations(),
          op.getHiddenSize()};
}

SHAPES(MsDynamicQuantizeLSTMOp) {
  return recurrentShapes(report, operandsOf(op), 3);
}

SHAPES(GridSampleOp) {
  Input x = op.getX(), grid = op.getGrid();
  if (x.rank() < 3 || grid.rank() != x.rank() ||
      (grid.sizes.back().number && *grid.sizes.back().number != x.rank() - 2))
    return report("image and grid of ranks ", x.rank(), " and ", grid.rank(),
                  " do not fit");
  Sizes sizes = {x.sizes[0], x.sizes[1]};
  llvm::append_range(sizes, ArrayRef(grid.sizes).drop_front().drop_back());
  return Shapes{sizes};
}

} // namespace onnxc
