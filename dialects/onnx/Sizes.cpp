// Sizes travel through chains like Shape, Gather, Concat, Reshape: the source
// map of a movement tells which element a size is copied from.
#include "dialects/onnx/Sizes.h"
#include "dialects/onnx/OnnxDialect.h"
#include "dialects/onnx/SizeArithmetic.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {

// A tensor with more elements is no shape.
constexpr int64_t mostElements = 256;
// Nor is a list with more entries one of axes, sizes or parts.
constexpr int64_t longestList = 4096;
namespace {
// What may be looked through for one tensor. A chain that shares its parts
// would be walked exponentially often, and a long one from each of its ends.
struct Search {
  int visits = 500, depth = 100;
};
} // namespace

static Sizes namedSizes(Type type) {
  return llvm::map_to_vector(shapeOf(type), [](Dim dim) { return Index(dim); });
}

static std::optional<int64_t> linearNumber(ArrayRef<Index> at,
                                           ArrayRef<Index> sizes) {
  return linearize(at, sizes).number;
}

static std::optional<Sizes> elementsOf(Value value, Search &search);

// The elements are searched for when the first one is asked for.
static Input inputOf(Value value,
                     std::function<std::optional<Sizes>()> search) {
  Input input;
  auto type = cast<RankedTensorType>(value.getType());
  input.sizes = namedSizes(type);
  input.element = type.getElementType();
  input.original = value;
  auto found = std::make_shared<std::optional<std::optional<Sizes>>>();
  input.at = [=, sizes = input.sizes](ArrayRef<Index> at) {
    if (!*found)
      *found = search();
    const std::optional<Sizes> &elements = **found;
    std::optional<int64_t> linear = linearNumber(at, sizes);
    bool known = elements && linear && *linear >= 0 &&
                 *linear < int64_t(elements->size());
    return known ? (*elements)[*linear] : Index();
  };
  return input;
}

static Index elementOf(MovementOpInterface op, ArrayRef<Input> inputs,
                       int64_t result, ArrayRef<Index> at) {
  Source source = op.source(inputs, result, at);
  if (source.operand < 0 || !source.inside.known)
    return {};
  if (*source.inside.known)
    return inputs[source.operand].at(source.index);
  return source.otherwise < 0 ? Index(0) : inputs[source.otherwise].at({});
}

static std::optional<Sizes> copiedElements(MovementOpInterface op,
                                           OpResult result, Search &search) {
  std::vector<Input> inputs;
  for (Value operand : op->getOperands())
    inputs.push_back(
        inputOf(operand, [=, &search] { return elementsOf(operand, search); }));
  Sizes elements, sizes = namedSizes(result.getType());
  int64_t count = *product(sizes).number;
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(
        elementOf(op, inputs, result.getResultNumber(), delinearize(i, sizes)));
  return elements;
}

//===-- Arithmetic on sizes -----------------------------------------------===//

using Fractions = SmallVector<Fraction>;

static std::optional<Fractions> fractionsOf(Value value, Search &search);

// The element of an operand that an element of the result is computed from.
static Fraction broadcastElement(ArrayRef<Fraction> elements,
                                 ArrayRef<Index> sizes, ArrayRef<Index> at,
                                 int64_t first) {
  Sizes own;
  for (auto [i, size] : llvm::enumerate(sizes))
    own.push_back(size.is(1) ? Index(0) : at[first + i]);
  std::optional<int64_t> linear = linearNumber(own, sizes);
  bool known = linear && *linear >= 0 && *linear < int64_t(elements.size());
  return known ? elements[*linear] : Fraction();
}

static std::optional<Fractions>
computedElements(ScalarOpInterface op, OpResult result, Search &search) {
  SmallVector<Fractions> inputs;
  SmallVector<Sizes> shapes;
  for (Value operand : op->getOperands()) {
    std::optional<Fractions> elements = fractionsOf(operand, search);
    if (!elements)
      return std::nullopt;
    inputs.push_back(*elements);
    shapes.push_back(namedSizes(operand.getType()));
  }
  Block scratch;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToStart(&scratch);
  ScalarBuilder scalars(builder, op.getLoc(),
                        getElementTypeOrSelf(op->getResult(0).getType()));
  SmallVector<Scalar> args;
  for (Value operand : op->getOperands()) {
    Type element = getElementTypeOrSelf(operand.getType());
    args.push_back({scalars,
                    scratch.addArgument(valueType(element), op.getLoc()),
                    element});
  }
  Value computed = op.emitScalar(scalars, args)[result.getResultNumber()].as(
      scalars, getElementTypeOrSelf(result.getType()));
  Fractions elements;
  Sizes sizes = namedSizes(result.getType());
  int64_t count = *product(sizes).number, rank = sizes.size();
  for (int64_t i = 0; i < count; ++i) {
    Sizes at = delinearize(i, sizes);
    Fractions arguments;
    for (auto [k, input, shape] : llvm::enumerate(inputs, shapes)) {
      int64_t own = shape.size();
      arguments.push_back(broadcastElement(
          input, shape, at, own ? op.firstDim(k, own, rank) : 0));
    }
    elements.push_back(computeSize(scratch, arguments, computed));
  }
  scratch.dropAllReferences();
  return elements;
}

// What all elements of a list are folded to: exporters multiply sizes so.
static std::optional<Sizes> foldedElement(ReductionOpInterface op,
                                          OpResult result, Search &search) {
  Value data = op->getOperand(0);
  auto type = cast<RankedTensorType>(result.getType());
  FailureOr<SmallVector<int64_t>> axes = op.reducedAxes();
  if (failed(axes) || axes->empty() || type.getNumElements() != 1 ||
      op.identity().size() != 1)
    return std::nullopt;
  std::optional<Sizes> elements = elementsOf(data, search);
  if (!elements || elements->empty())
    return std::nullopt;
  Block scratch;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToStart(&scratch);
  Type element = getElementTypeOrSelf(data.getType());
  ScalarBuilder scalars(builder, op.getLoc(), element);
  SmallVector<Scalar> partial = op.identity();
  Fractions arguments;
  for (auto [i, size] : llvm::enumerate(*elements)) {
    Value argument = scratch.addArgument(valueType(element), op.getLoc());
    partial = op.combine(partial, Scalar(scalars, argument, element), i);
    arguments.push_back({size});
  }
  Value folded = op.finish(partial, elements->size())[0].as(
      scalars, getElementTypeOrSelf(type));
  Index size = computeSize(scratch, arguments, folded).over;
  scratch.dropAllReferences();
  return Sizes{size};
}

// Of a tensor that is small enough to hold sizes, of any type that exporters
// compute them in.
static std::optional<Fractions> fractionsOf(Value value, Search &search) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() > mostElements)
    return std::nullopt;
  if (type.getElementType().isInteger()) {
    std::optional<Sizes> elements = elementsOf(value, search);
    if (!elements)
      return std::nullopt;
    return llvm::map_to_vector(*elements, [](Index x) { return Fraction{x}; });
  }
  if (!isa<Float32Type, Float64Type>(type.getElementType()) ||
      --search.visits < 0 || search.depth == 0)
    return std::nullopt;
  llvm::SaveAndRestore deeper(search.depth, search.depth - 1);
  if (std::optional<SmallVector<double>> numbers = constantFloats(value))
    return llvm::map_to_vector(*numbers, fractionOf);
  if (auto scalar = value.getDefiningOp<ScalarOpInterface>())
    return computedElements(scalar, cast<OpResult>(value), search);
  return std::nullopt;
}

static std::optional<Sizes> elementsOf(Value value, Search &search) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isInteger() ||
      type.getNumElements() > mostElements || --search.visits < 0 ||
      search.depth == 0)
    return std::nullopt;
  llvm::SaveAndRestore deeper(search.depth, search.depth - 1);
  if (std::optional<SmallVector<int64_t>> numbers = constantInts(value))
    return sizesOf(*numbers);
  Operation *op = value.getDefiningOp();
  if (auto shape = dyn_cast_or_null<ShapeOp>(op))
    return shape.elements(namedSizes(shape.getData().getType()));
  if (auto size = dyn_cast_or_null<SizeOp>(op))
    return Sizes{product(namedSizes(size.getData().getType()))};
  if (auto movement = dyn_cast_or_null<MovementOpInterface>(op))
    return copiedElements(movement, cast<OpResult>(value), search);
  if (auto scalar = dyn_cast_or_null<ScalarOpInterface>(op))
    if (auto computed = computedElements(scalar, cast<OpResult>(value), search))
      return llvm::map_to_vector(*computed, [](Fraction x) { return x.over; });
  if (auto reduction = dyn_cast_or_null<ReductionOpInterface>(op))
    return foldedElement(reduction, cast<OpResult>(value), search);
  return std::nullopt;
}

std::optional<Sizes> knownElements(Value value) {
  Search search;
  return elementsOf(value, search);
}

FailureOr<Sizes> Input::elements() const {
  if (rank() > 1 ||
      (rank() == 1 && (!sizes[0].number || sizes[0].get() > longestList)))
    return failure();
  if (rank() == 0)
    return Sizes{at({})};
  Sizes all;
  for (int64_t i = 0; i < sizes[0].get(); ++i)
    all.push_back(at({i}));
  return all;
}

LogicalResult inferSizes(std::optional<Location> loc, ValueRange values,
                         ShapeFormula formula, ArrayRef<Type> elements,
                         size_t results, SmallVectorImpl<Type> &types) {
  std::vector<Input> inputs;
  SmallVector<Type> all(elements);
  all.resize(std::max(results, elements.size()), elements.back());
  if (!llvm::all_of(values, isRanked))
    return unknownRank(all, types);
  for (Value value : values)
    inputs.push_back(inputOf(value, [value] { return knownElements(value); }));
  FailureOr<Shapes> shapes = formula(Report{loc}, inputs);
  if (failed(shapes))
    return failure();
  if (shapes->empty())
    return unknownRank(all, types);
  for (auto [i, shape] : llvm::enumerate(*shapes)) {
    Shape dims;
    for (Index size : shape) {
      if (size.number && *size.number < 0)
        return emitOptionalError(loc, "result ", i, " has a negative size ",
                                 *size.number);
      dims.push_back(size.dim());
    }
    types.push_back(tensorOf(dims, all[std::min(i, all.size() - 1)]));
  }
  return success();
}

FailureOr<int64_t> axisOf(Report report, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return report("axis ", axis, " is outside [", -rank, ", ", rank, ")");
  return wrap(axis, rank);
}

FailureOr<Index> broadcast(Report report, Index a, Index b) {
  if (a.is(1) || surelyEqual(a, b))
    return b;
  if (b.is(1))
    return a;
  if (a.number && b.number)
    return report("cannot broadcast ", *a.number, " to ", *b.number);
  if (a.number || b.number) // the other one is the same or 1
    return a.number ? a : b;
  if (a.value || b.value) // one gives way at run time
    return select(a == 1, b, a);
  Dim joined = joinedDim(a.dim(), b.dim());
  return Index(joined);
}

FailureOr<Sizes> axesOf(Report report, const Input &axes, int64_t rank,
                        std::optional<int64_t> length) {
  if (!axes.given())
    return sizesOf(range(0, rank));
  bool isOpen = axes.rank() == 1 && !axes.sizes[0].number;
  FailureOr<Sizes> elements =
      isOpen && length ? Sizes(*length) : axes.elements();
  if (failed(elements))
    return report("'axes' must have a known number of elements, another one is "
                  "not supported");
  llvm::SmallDenseSet<int64_t> seen;
  for (Index &axis : *elements) {
    if (axis.number && (*axis.number < -rank || *axis.number >= rank))
      return report("axis ", *axis.number, " is outside [", -rank, ", ", rank,
                    ")");
    axis = fromEnd(axis, rank);
    if (axis.number && !seen.insert(*axis.number).second)
      return report("axis ", *axis.number, " is given twice");
  }
  return elements;
}

Sizes alongAxes(ArrayRef<Index> axes, ArrayRef<Index> elements,
                ArrayRef<Index> otherwise) {
  Sizes all(otherwise);
  for (auto [i, result] : llvm::enumerate(all))
    for (auto [axis, element] : llvm::zip(axes, elements))
      result = select(axis == int64_t(i), element, result);
  return all;
}

// By factors, where all that is left over is sizes of its own.
static std::optional<Index> quotientOfFactors(ArrayRef<Index> whole,
                                              ArrayRef<Index> parts) {
  auto isOpen = [](Index size) {
    return !size.number && !size.name && !size.value;
  };
  if (llvm::any_of(whole, isOpen) || llvm::any_of(parts, isOpen))
    return std::nullopt;
  Factors all = factorsOf(whole), divisor = factorsOf(parts);
  if (divisor.number == 0 || all.number % divisor.number != 0 ||
      !std::includes(all.names.begin(), all.names.end(), divisor.names.begin(),
                     divisor.names.end()))
    return std::nullopt;
  SmallVector<std::string> left;
  std::set_difference(all.names.begin(), all.names.end(), divisor.names.begin(),
                      divisor.names.end(), std::back_inserter(left));
  Index result = 1;
  for (Index size : whole) {
    Factors own = factorsOf(size);
    auto *one = own.names.size() == 1 && own.number == 1
                    ? llvm::find(left, own.names.front())
                    : left.end();
    if (one == left.end())
      continue;
    left.erase(one);
    result = result * size;
  }
  return left.empty() ? std::optional(result * (all.number / divisor.number))
                      : std::nullopt;
}

// What is left of `whole` for one dimension when the others take `parts`. Equal
// unknown sizes cancel out.
static Index quotient(Sizes whole, ArrayRef<Index> parts) {
  if (std::optional<Index> exact = quotientOfFactors(whole, parts))
    return *exact;
  Index divisor = 1;
  for (Index part : parts) {
    auto *same = llvm::find_if(whole, [&](Index size) {
      return !size.number && surelyEqual(size, part);
    });
    if (same != whole.end())
      whole.erase(same);
    else
      divisor = divisor * part;
  }
  Index numbers = 1, others = 1;
  for (Index size : whole)
    (size.number ? numbers : others) = (size.number ? numbers : others) * size;
  bool divides = divisor.number && *divisor.number != 0 && numbers.number &&
                 *numbers.number % *divisor.number == 0;
  return divides ? others * (numbers / divisor) : others * numbers / divisor;
}

FailureOr<Sizes> reshapedSizes(Report report, ArrayRef<Index> from,
                               ArrayRef<Index> wanted, bool zeroIsZero) {
  Sizes to, parts;
  int rest = 0;
  for (auto [i, size] : llvm::enumerate(wanted)) {
    if (size.is(0) && !zeroIsZero && i >= from.size())
      return report("shape has 0 at ", i, ", beyond the rank of the input");
    if (size.number && *size.number < -1)
      return report("shape has ", *size.number, " at ", i);
    // A size that is computed is what it is: where it is 0, nothing is copied.
    bool copies = !zeroIsZero && i < from.size() && !isNamedSize(size);
    to.push_back(copies ? select(size == 0, from[i], size) : size);
    rest += to[i].is(-1);
    bool given = copies && size.is(0); // surely no -1
    if (!to[i].is(-1))
      parts.push_back(given ? to[i] : select(to[i] == -1, 1, to[i]));
  }
  if (rest > 1)
    return report("shape has more than one -1");
  Index left = quotient(Sizes(from), parts);
  for (auto [size, asked] : llvm::zip(to, wanted))
    size = asked.is(0) ? size : select(size == -1, left, size);
  Index before = product(from), after = product(to);
  if (before.number && after.number && *before.number != *after.number)
    return report("cannot reshape ", *before.number, " elements to ",
                  *after.number);
  return to;
}

} // namespace onnxc
