// Shapes and source maps of the movement family. One map serves the loops that
// copy, constant shapes and names of sizes.
#include "dialects/onnx/OnnxDialect.h"
#include "dialects/onnx/OpenEnds.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {

using Inputs = ArrayRef<Input>;
#define SHAPES(Op)                                                             \
  FailureOr<Shapes> Op::shapes(Report report, GenericAdaptor<Inputs> op)
#define SOURCE(Op)                                                             \
  Source Op::source(Inputs inputs, int64_t result, ArrayRef<Index> at)

// An attribute that counts from the end where it is negative.
static int64_t axisIn(int64_t axis, const Input &input) {
  return wrap(axis, input.rank());
}

//===-- Joining and cutting -----------------------------------------------===//

SHAPES(ConcatOp) {
  auto inputs = op.getInputs();
  if (inputs.empty())
    return report("expected an input");
  FailureOr<int64_t> axis = axisOf(report, op.getAxis(), inputs[0].rank());
  if (failed(axis))
    return failure();
  Sizes sizes = inputs[0].sizes;
  for (const Input &input : inputs.drop_front()) {
    if (input.rank() != int64_t(sizes.size()))
      return report("inputs have ranks ", sizes.size(), " and ", input.rank());
    for (int64_t i = 0; i < input.rank(); ++i) {
      bool differ = input.sizes[i].number && sizes[i].number &&
                    *input.sizes[i].number != *sizes[i].number;
      if (i == *axis)
        sizes[i] = sizes[i] + input.sizes[i];
      else if (differ)
        return report("inputs differ in dimension ", i);
      else if (input.sizes[i].number)
        sizes[i] = input.sizes[i];
    }
  }
  return Shapes{sizes};
}

SOURCE(ConcatOp) {
  int64_t axis = axisIn(getAxis(), inputs[0]);
  Sizes index(at);
  for (auto [i, input] : llvm::enumerate(inputs)) {
    Condition here = index[axis] < input.sizes[axis];
    if (here.isTrue())
      return {int64_t(i), index};
    if (!here.isFalse())
      break;
    index[axis] = index[axis] - input.sizes[axis];
  }
  return {-1, index};
}

SHAPES(SplitOp) {
  Input input = op.getInput(), split = op.getSplit();
  FailureOr<int64_t> axis = axisOf(report, op.getAxis(), input.rank());
  if (failed(axis))
    return failure();
  Sizes parts;
  Index whole = input.sizes[*axis];
  if (split.given()) {
    FailureOr<Sizes> elements = split.elements();
    if (failed(elements) && !op.getResultCount())
      return Shapes(); // of unknown rank
    parts = succeeded(elements) ? *elements : Sizes(*op.getResultCount());
    Index sum = 0;
    for (Index part : parts)
      sum = sum + part;
    if (sum.number && whole.number && *sum.number != *whole.number)
      return report("'split' adds up to ", *sum.number, " of ", *whole.number);
  } else {
    int64_t results = op.getResultCount().value_or(0);
    int64_t count = op.getNumOutputs().value_or(results);
    if (count <= 0)
      return report("nothing tells into how many parts to split");
    if (results && count != results)
      return report("'num_outputs' is ", count, ", but there are ", results,
                    " outputs");
    Index part = ceilDiv(whole, count);
    for (int64_t i = 0; i < count; ++i)
      parts.push_back(clamp(whole - part * i, 0, part));
  }
  Shapes shapes;
  for (Index part : parts) {
    shapes.push_back(input.sizes);
    shapes.back()[*axis] = part;
  }
  return shapes;
}

SOURCE(SplitOp) {
  int64_t axis = axisIn(getAxis(), inputs[0]);
  Shapes shapes = *resultShapes(inputs);
  Sizes index(at);
  for (int64_t i = 0; i < result; ++i)
    index[axis] = index[axis] + shapes[i][axis];
  return {0, index};
}

// A step that leads out of the axis at once, kept so short that no sum with it
// overflows.
static Index shortened(Index step, Index size) {
  constexpr int64_t harmless = 1 << 30;
  if (step.number && std::abs(*step.number) <= harmless)
    return step;
  return clamp(step, -1 - size, size + 1);
}

// The elements of a list of which only the run may know how many it has; pass
// fix-lengths sees to it that there are as many as `wanted`.
static FailureOr<Sizes> elementsOf(Report report, const Input &input,
                                   StringRef name, int64_t wanted) {
  if (input.rank() > 1)
    return report("'", name, "' must have one dimension");
  if (input.rank() == 0 || input.sizes[0].number)
    return input.elements();
  Sizes elements;
  for (int64_t i = 0; i < wanted; ++i)
    elements.push_back(input.at({i}));
  return elements;
}

// How many elements all of the lists have, by those that tell; nothing where
// none does.
static std::optional<int64_t> commonLength(ArrayRef<Input> lists) {
  for (const Input &list : lists)
    if (list.given() && list.rank() == 1 && list.sizes[0].number)
      return list.sizes[0].number;
  return std::nullopt;
}

static FailureOr<SliceRange> sliceRange(Report report,
                                        SliceOp::GenericAdaptor<Inputs> op) {
  Input data = op.getData();
  std::optional<int64_t> length =
      commonLength({op.getStarts(), op.getEnds(), op.getAxes(), op.getSteps()});
  if (!length) { // any of the axes
    Sizes unknown(data.rank());
    return SliceRange{unknown, unknown, unknown};
  }
  FailureOr<Sizes> starts =
      elementsOf(report, op.getStarts(), "starts", *length);
  if (failed(starts))
    return failure();
  FailureOr<Sizes> ends = elementsOf(report, op.getEnds(), "ends", *length),
                   axes, steps;
  if (failed(ends))
    return failure();
  if (starts->size() != ends->size())
    return report("'starts' and 'ends' must be of one length");
  if (op.getAxes().given())
    axes = axesOf(report, op.getAxes(), data.rank(), length);
  else
    axes = sizesOf(range(0, starts->size()));
  if (failed(axes))
    return failure();
  steps = op.getSteps().given()
              ? elementsOf(report, op.getSteps(), "steps", *length)
              : FailureOr<Sizes>(Sizes(starts->size(), 1));
  if (failed(steps) || axes->size() != starts->size() ||
      steps->size() != starts->size() || int64_t(axes->size()) > data.rank())
    return report("'axes', 'starts', 'ends' and 'steps' differ in length");
  SliceRange all = {Sizes(data.rank(), 0), Sizes(data.rank(), 1), data.sizes};
  Sizes firsts, strides, counts;
  for (auto [k, axis, given] : llvm::enumerate(*axes, *steps)) {
    if (given.is(0))
      return report("a step is 0");
    Index size = data.sizes[0]; // of this axis
    for (int64_t i = 1; i < data.rank(); ++i)
      size = select(axis == i, data.sizes[i], size);
    Index step = shortened(given, size);
    Condition forward = step > 0;
    Index last = size - 1;
    Index begin = fromEnd((*starts)[k], size), end = fromEnd((*ends)[k], size);
    if (forward.isTrue() && isOpenEnd(end))
      end = size;
    begin = select(forward, clamp(begin, 0, size), clamp(begin, 0, last));
    end = select(forward, clamp(end, 0, size), clamp(end, -1, last));
    Index up = ceilDiv(greatest(end - begin, 0), step),
          down = ceilDiv(greatest(begin - end, 0), 0 - step);
    firsts.push_back(begin);
    strides.push_back(step);
    counts.push_back(select(forward, up, down));
  }
  all.starts = alongAxes(*axes, firsts, all.starts);
  all.steps = alongAxes(*axes, strides, all.steps);
  all.sizes = alongAxes(*axes, counts, all.sizes);
  return all;
}

SHAPES(SliceOp) {
  FailureOr<SliceRange> slice = sliceRange(report, op);
  if (failed(slice))
    return failure();
  return Shapes{slice->sizes};
}

SliceRange SliceOp::slice(Inputs inputs) {
  return *sliceRange({}, GenericAdaptor<Inputs>(inputs, *this));
}

SOURCE(SliceOp) {
  SliceRange slice = this->slice(inputs);
  Sizes index;
  for (auto [start, step, position] : llvm::zip(slice.starts, slice.steps, at))
    index.push_back(start + position * step);
  return {0, index};
}

//===-- Choosing by index -------------------------------------------------===//

SHAPES(GatherOp) {
  Input data = op.getData();
  FailureOr<int64_t> axis = axisOf(report, op.getAxis(), data.rank());
  if (failed(axis))
    return failure();
  Sizes sizes(ArrayRef(data.sizes).take_front(*axis));
  llvm::append_range(sizes, op.getIndices().sizes);
  llvm::append_range(sizes, ArrayRef(data.sizes).drop_front(*axis + 1));
  return Shapes{sizes};
}

SOURCE(GatherOp) {
  const Input &data = inputs[0], &indices = inputs[1];
  int64_t axis = axisIn(getAxis(), data);
  Sizes index(at.take_front(axis));
  Index chosen = indices.at(at.slice(axis, indices.rank()));
  index.push_back(fromEnd(chosen, data.sizes[axis]));
  llvm::append_range(index, at.drop_front(axis + indices.rank()));
  return {0, index};
}

SHAPES(GatherElementsOp) {
  Input data = op.getData(), indices = op.getIndices();
  if (data.rank() != indices.rank())
    return report("ranks of data and indices differ: ", data.rank(), " and ",
                  indices.rank());
  if (failed(axisOf(report, op.getAxis(), data.rank())))
    return failure();
  return Shapes{indices.sizes};
}

SOURCE(GatherElementsOp) {
  int64_t axis = axisIn(getAxis(), inputs[0]);
  Sizes index(at);
  index[axis] = fromEnd(inputs[1].at(at), inputs[0].sizes[axis]);
  return {0, index};
}

SHAPES(GatherNDOp) {
  Input data = op.getData(), indices = op.getIndices();
  int64_t batch = op.getBatchDims();
  if (indices.rank() == 0)
    return report("'indices' has rank 0");
  if (!indices.sizes.back().number)
    return Shapes(); // of unknown rank
  int64_t depth = *indices.sizes.back().number;
  if (batch < 0 || batch >= indices.rank() || batch + depth > data.rank())
    return report(batch, " batch dimensions and indices of ", depth,
                  " do not fit rank ", data.rank());
  Sizes sizes(ArrayRef(indices.sizes).drop_back());
  llvm::append_range(sizes, ArrayRef(data.sizes).drop_front(batch + depth));
  return Shapes{sizes};
}

SOURCE(GatherNDOp) {
  const Input &data = inputs[0], &indices = inputs[1];
  int64_t batch = getBatchDims(), depth = *indices.sizes.back().number;
  Sizes index(at.take_front(batch)),
      position(at.take_front(indices.rank() - 1));
  position.push_back(0);
  for (int64_t i = 0; i < depth; ++i) {
    position.back() = i;
    index.push_back(fromEnd(indices.at(position), data.sizes[batch + i]));
  }
  llvm::append_range(index, at.drop_front(indices.rank() - 1));
  return {0, index};
}

SOURCE(ReverseSequenceOp) {
  int64_t batch = axisIn(getBatchAxis(), inputs[0]);
  int64_t time = axisIn(getTimeAxis(), inputs[0]);
  Index length = inputs[1].at({at[batch]});
  Sizes index(at);
  index[time] = select(at[time] < length, length - 1 - at[time], at[time]);
  return {0, index};
}

//===-- Repeating and padding ---------------------------------------------===//

SHAPES(ExpandOp) {
  Input input = op.getInput();
  FailureOr<Sizes> shape = op.getShape().elements();
  if (failed(shape))
    return Shapes(); // of unknown rank
  int64_t rank = std::max<int64_t>(input.rank(), shape->size());
  Sizes own(rank - input.rank(), 1), wanted(rank - shape->size(), 1), sizes;
  llvm::append_range(own, input.sizes);
  llvm::append_range(wanted, *shape);
  for (auto [a, b] : llvm::zip(own, wanted)) {
    FailureOr<Index> size = broadcast(report, a, b);
    if (failed(size))
      return failure();
    sizes.push_back(*size);
  }
  return Shapes{sizes};
}

SOURCE(ExpandOp) {
  Sizes index(at.take_back(inputs[0].rank()));
  for (auto [position, size] : llvm::zip(index, inputs[0].sizes))
    position = select(size == 1, 0, position);
  return {0, index};
}

SHAPES(TileOp) {
  Input input = op.getInput();
  FailureOr<Sizes> repeats =
      elementsOf(report, op.getRepeats(), "repeats", input.rank());
  if (failed(repeats))
    return failure();
  if (int64_t(repeats->size()) != input.rank())
    return report("'repeats' needs ", input.rank(), " elements");
  Sizes sizes;
  for (auto [size, repeat] : llvm::zip(input.sizes, *repeats))
    sizes.push_back(size * repeat);
  return Shapes{sizes};
}

SOURCE(TileOp) {
  Sizes index;
  for (auto [position, size] : llvm::zip(at, inputs[0].sizes))
    index.push_back(position % size);
  return {0, index};
}

static FailureOr<Padding> paddingOf(Report report,
                                    PadOp::GenericAdaptor<Inputs> op) {
  int64_t rank = op.getData().rank();
  std::optional<int64_t> length = commonLength(op.getAxes());
  if (auto values = commonLength(op.getPads()); values && !length)
    length = *values / 2;
  if (op.getAxes().given() && !length) { // any of the axes
    Sizes unknown(rank);
    return Padding{unknown, unknown};
  }
  FailureOr<Sizes> axes = axesOf(report, op.getAxes(), rank, length), pads;
  if (failed(axes))
    return failure();
  pads = elementsOf(report, op.getPads(), "pads", 2 * axes->size());
  if (failed(pads))
    return failure();
  if (pads->size() != 2 * axes->size())
    return report("expected ", 2 * axes->size(), " values in 'pads'");
  Sizes none(rank, 0);
  ArrayRef<Index> all = *pads;
  return Padding{alongAxes(*axes, all.take_front(axes->size()), none),
                 alongAxes(*axes, all.take_back(axes->size()), none)};
}

SHAPES(PadOp) {
  FailureOr<Padding> padding = paddingOf(report, op);
  if (failed(padding))
    return failure();
  Sizes sizes;
  for (auto [size, before, after] :
       llvm::zip(op.getData().sizes, padding->before, padding->after)) {
    for (Index pad : {before, after})
      if (op.getMode() == "reflect" && pad.number && size.number &&
          *pad.number > 0 && *pad.number >= *size.number)
        return report("cannot reflect ", *pad.number, " of ", *size.number,
                      " elements");
    sizes.push_back(size + before + after);
  }
  return Shapes{sizes};
}

Padding PadOp::padding(Inputs inputs) {
  return *paddingOf({}, GenericAdaptor<Inputs>(inputs, *this));
}

Index PadOp::repeated(Index position, Index size) {
  if (getMode() == "edge")
    return clamp(position, 0, size - 1);
  if (getMode() == "wrap")
    return (position % size + size) % size;
  Index period = greatest(2 * (size - 1), 1); // there and back again
  position = (position % period + period) % period;
  return select(size == 1, 0, least(position, period - position));
}

// What negative padding cuts is gone before the rest is repeated.
SOURCE(PadOp) {
  Padding padding = this->padding(inputs);
  Source source = {0, {}, true, getConstantValue() ? 2 : -1};
  for (auto [position, before, after, own] :
       llvm::zip(at, padding.before, padding.after, inputs[0].sizes)) {
    Index cut = greatest(0 - before, 0);
    Index size = own - cut - greatest(0 - after, 0);
    Index index = position - greatest(before, 0);
    bool padded = !before.is(0) || !after.is(0);
    if (padded && getMode() == "constant") {
      source.inside = source.inside && index >= 0 && index < size;
    } else if (padded) {
      index = repeated(index, size);
    }
    source.index.push_back(index + cut);
  }
  return source;
}

SOURCE(TriluOp) {
  Index row = at[at.size() - 2], column = at.back();
  Index diagonal = getK() ? inputs[1].at(Sizes(inputs[1].rank(), 0)) : 0;
  Index distance = column - row; // a sum with any diagonal might overflow
  Condition inside = getUpper() ? distance >= diagonal : distance <= diagonal;
  return {0, Sizes(at), inside, -1, true};
}

//===-- The same elements in another shape --------------------------------===//

SHAPES(ReshapeOp) {
  FailureOr<Sizes> wanted = op.getShape().elements();
  if (failed(wanted))
    return Shapes(); // of unknown rank
  FailureOr<Sizes> sizes = reshapedSizes(report, op.getData().sizes, *wanted,
                                         op.getAllowzero() != 0);
  if (failed(sizes))
    return failure();
  return Shapes{*sizes};
}

SHAPES(FlattenOp) {
  Input input = op.getInput();
  int64_t axis = wrap(op.getAxis(), input.rank());
  if (axis < 0 || axis > input.rank())
    return report("axis ", op.getAxis(), " is outside [", -input.rank(), ", ",
                  input.rank(), "]");
  ArrayRef<Index> sizes = input.sizes;
  return Shapes{
      {product(sizes.take_front(axis)), product(sizes.drop_front(axis))}};
}

SHAPES(SqueezeOp) {
  Input data = op.getData();
  if (!op.getAxes().given()) {
    Sizes kept;
    for (Index size : data.sizes) {
      if (!size.number)
        return Shapes(); // of unknown rank
      if (!size.is(1))
        kept.push_back(size);
    }
    return Shapes{kept};
  }
  if (!commonLength(op.getAxes()))
    return Shapes(); // of unknown rank
  FailureOr<Sizes> axes = axesOf(report, op.getAxes(), data.rank());
  if (failed(axes))
    return failure();
  if (int64_t(axes->size()) > data.rank())
    return report("expected at most ", data.rank(), " axes, got ",
                  axes->size());
  // Where axes are computed, the dimensions that stay move up at run time.
  Sizes kept(data.rank() - axes->size(), 1);
  Index place = 0;
  for (auto [i, size] : llvm::enumerate(data.sizes)) {
    Condition squeezed = false;
    for (Index axis : *axes)
      squeezed = squeezed || axis == int64_t(i);
    if (squeezed.isTrue() && size.number && *size.number != 1)
      return report("dimension ", i, " has size ", *size.number, ", not 1");
    for (auto [j, keep] : llvm::enumerate(kept))
      keep = select(!squeezed && place == int64_t(j), size, keep);
    place = place + select(squeezed, 0, 1);
  }
  return Shapes{kept};
}

SHAPES(UnsqueezeOp) {
  Input data = op.getData();
  FailureOr<Sizes> given = op.getAxes().elements();
  if (failed(given))
    return Shapes(); // of unknown rank
  int64_t rank = data.rank() + given->size();
  FailureOr<Sizes> axes = axesOf(report, op.getAxes(), rank);
  if (failed(axes))
    return failure();
  Sizes sizes(rank, 1);
  Index place = 0;
  for (int64_t i = 0; i < rank; ++i) {
    Condition fresh = false;
    for (Index axis : *axes)
      fresh = fresh || axis == i;
    for (auto [j, size] : llvm::enumerate(data.sizes))
      sizes[i] = select(!fresh && place == int64_t(j), size, sizes[i]);
    place = place + select(fresh, 0, 1);
  }
  return Shapes{sizes};
}

static Source sameOrder(SizedOpInterface op, Inputs inputs,
                        ArrayRef<Index> at) {
  FailureOr<Shapes> shapes = op.resultShapes(inputs);
  return {0, delinearize(linearize(at, shapes->front()), inputs[0].sizes)};
}
SOURCE(ReshapeOp) { return sameOrder(*this, inputs, at); }
SOURCE(FlattenOp) { return sameOrder(*this, inputs, at); }
SOURCE(SqueezeOp) { return sameOrder(*this, inputs, at); }
SOURCE(UnsqueezeOp) { return sameOrder(*this, inputs, at); }
SOURCE(IdentityOp) { return {0, Sizes(at)}; }

static FailureOr<SmallVector<int64_t>>
permutationOf(Report report, std::optional<ArrayRef<int64_t>> perm,
              int64_t rank) {
  SmallVector<int64_t> order = range(0, rank);
  if (!perm)
    return SmallVector<int64_t>(llvm::reverse(order));
  SmallVector<int64_t> given(*perm), sorted(*perm);
  for (auto [dim, same] : llvm::zip(given, sorted))
    dim = same = wrap(dim, rank);
  llvm::sort(sorted);
  if (sorted != order)
    return report("'perm' is no permutation of ", rank, " dimensions");
  return given;
}

SmallVector<int64_t> TransposeOp::permutation() {
  return *permutationOf({}, getPerm(), getData().getType().getRank());
}

SHAPES(TransposeOp) {
  Input data = op.getData();
  FailureOr<SmallVector<int64_t>> order =
      permutationOf(report, op.getPerm(), data.rank());
  if (failed(order))
    return failure();
  Sizes sizes;
  for (int64_t dim : *order)
    sizes.push_back(data.sizes[dim]);
  return Shapes{sizes};
}

SOURCE(TransposeOp) {
  Sizes index(at.size());
  for (auto [i, dim] : llvm::enumerate(permutation()))
    index[dim] = at[i];
  return {0, index};
}

//===-- Cropping and padding around the centre ----------------------------===//

SHAPES(CenterCropPadOp) {
  Input input = op.getInputData();
  SmallVector<int64_t> axes = range(0, input.rank());
  if (OptionalInts given = op.getAxes())
    axes.assign(given->begin(), given->end());
  FailureOr<Sizes> wanted =
      elementsOf(report, op.getShape(), "shape", axes.size());
  if (failed(wanted))
    return failure();
  if (wanted->size() != axes.size())
    return report("expected ", axes.size(), " values in 'shape'");
  Sizes sizes = input.sizes;
  for (auto [given, size] : llvm::zip(axes, *wanted)) {
    FailureOr<int64_t> axis = axisOf(report, given, input.rank());
    if (failed(axis))
      return failure();
    sizes[*axis] = size;
  }
  return Shapes{sizes};
}

SOURCE(CenterCropPadOp) {
  Shapes shapes = *resultShapes(inputs);
  Source source = {0, {}};
  for (auto [position, size, own] :
       llvm::zip(at, shapes.front(), inputs[0].sizes)) {
    Index index =
        surelyEqual(size, own) ? position : position - (size - own) / 2;
    if (!surelyEqual(size, own))
      source.inside = source.inside && index >= 0 && index < own;
    source.index.push_back(index);
  }
  return source;
}

} // namespace onnxc
