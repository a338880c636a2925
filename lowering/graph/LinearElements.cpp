// Source maps and scalar expressions of the records run on positions that are
// values of a scratch block, which gives an expression for an element; then
// that is read as a linear form. Nothing here knows what exporters write: an
// operator that moves or computes integers has its formula already.
#include "lowering/graph/LinearElements.h"
#include "dialects/onnx/Families.h"
#include "dialects/onnx/Sizes.h"
#include "lowering/graph/LinearReader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

namespace onnxc {

using namespace mlir;

namespace {

// Elements of a constant that are looked at.
constexpr int64_t longestConstant = int64_t(1) << 24;

class ElementWriter {
public:
  explicit ElementWriter(Value tensor)
      : outer(tensor.getContext()), builder(tensor.getLoc(), outer),
        dims(namedSizes(tensor)) {
    builder.setInsertionPointToStart(&scratch);
    for (size_t i = 0; i < dims.size(); ++i)
      argument();
  }
  ~ElementWriter() { scratch.dropAllReferences(); }

  std::optional<Linear> linear(Value tensor, std::optional<int64_t> last) {
    Sizes at;
    for (auto [i, dim] : llvm::enumerate(dims))
      at.push_back(dim.is(1) ? Index(0)
                             : Index(builder, scratch.getArgument(i)));
    if (last)
      at.back() = *last;
    Index element = elementOf(tensor, at);
    return readLinear(element.in(builder), dims, sizes);
  }

private:
  BlockArgument argument() {
    return scratch.addArgument(builder.getIndexType(), builder.getLoc());
  }
  // Equal to nothing else, whatever is computed with it.
  Index unknown() { return {builder, argument()}; }

  // A size as a value that keeps its name; what is no size is not known.
  Index valueOf(Index size) {
    if (size.number)
      return size;
    if (!size.name)
      return unknown();
    Value &value = byName[size.name];
    if (!value) {
      value = argument();
      sizes[value] = size;
    }
    Index result(builder, value);
    result.name = size.name;
    result.isSize = size.isSize;
    return result;
  }

  Sizes valuesOf(ArrayRef<Index> named) {
    return llvm::map_to_vector(named, [&](Index x) { return valueOf(x); });
  }

  Input inputOf(Value operand) {
    Input input;
    input.sizes = valuesOf(namedSizes(operand));
    input.element = getElementTypeOrSelf(operand.getType());
    input.original = operand;
    input.at = [this, operand](ArrayRef<Index> at) {
      return elementOf(operand, at);
    };
    return input;
  }
  std::vector<Input> inputsOf(Operation *op) {
    std::vector<Input> inputs;
    for (Value operand : op->getOperands())
      inputs.push_back(inputOf(operand));
    return inputs;
  }

  Index elementOf(Value tensor, ArrayRef<Index> at) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    if (!type || !type.getElementType().isSignlessInteger() || --visits < 0 ||
        depth == 0)
      return unknown();
    llvm::SaveAndRestore deeper(depth, depth - 1);
    if (std::optional<Index> known = knownElement(tensor, at))
      return *known;
    if (constantOf(tensor))
      return constantElement(tensor, at);
    Operation *op = tensor.getDefiningOp();
    if (!op)
      return unknown();
    return llvm::TypeSwitch<Operation *, Index>(op)
        .Case([&](RangeOp range) {
          auto element = [&](Value one) {
            return elementOf(one, Sizes(rankOf(one), 0));
          };
          return element(range.getStart()) + at[0] * element(range.getDelta());
        })
        .Case([&](SliceOp slice) { return slicedElement(slice, at); })
        .Case<ReshapeOp, FlattenOp, SqueezeOp, UnsqueezeOp>([&](auto) {
          return elementOf(op->getOperand(0), sameOrder(namedSizes(tensor),
                                                        op->getOperand(0), at));
        })
        .Case([&](ExpandOp expand) {
          int64_t first = rankOf(tensor) - rankOf(expand.getInput());
          return broadcastElement(expand.getInput(), first, tensor, at);
        })
        .Case([&](MovementOpInterface movement) {
          return movedElement(movement, cast<OpResult>(tensor), at);
        })
        .Case([&](ScalarOpInterface scalar) {
          return computedElement(scalar, cast<OpResult>(tensor), at);
        })
        .Default([&](Operation *) { return unknown(); });
  }

  // Of a tensor of sizes, at a position that is known.
  std::optional<Index> knownElement(Value tensor, ArrayRef<Index> at) {
    std::optional<int64_t> linear =
        linearize(at, valuesOf(namedSizes(tensor))).number;
    std::optional<Sizes> elements =
        linear && !constantOf(tensor) ? knownElements(tensor) : std::nullopt;
    if (!elements || *linear < 0 || *linear >= int64_t(elements->size()))
      return std::nullopt;
    Index element = (*elements)[*linear];
    if (!element.number && !element.name)
      return std::nullopt;
    return valueOf(element);
  }

  // From the constant itself where the part of it that is read is linear.
  Index constantElement(Value tensor, ArrayRef<Index> at) {
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<int64_t> &numbers = constants[tensor];
    if (numbers.empty() && type.getNumElements() <= longestConstant)
      numbers = constantInts(tensor).value_or(numbers);
    if (numbers.empty())
      return unknown();
    ArrayRef<int64_t> shape = type.getShape();
    int64_t stride = 1, first = 0;
    SmallVector<int64_t> strides(shape.size()), counts(shape.size(), 1),
        slopes(shape.size(), 0);
    for (int64_t i = shape.size(); i-- > 0; stride *= shape[i]) {
      strides[i] = stride;
      if (at[i].number && (*at[i].number < 0 || *at[i].number >= shape[i]))
        return unknown();
      if (at[i].number)
        first += *at[i].number * stride;
      else
        counts[i] = shape[i];
    }
    Index element = numbers[first];
    for (size_t i = 0; i < shape.size(); ++i)
      if (counts[i] > 1) {
        slopes[i] = int64_t(uint64_t(numbers[first + strides[i]]) -
                            uint64_t(numbers[first]));
        element = element + at[i] * slopes[i];
      }
    return isLinear(ArrayRef(numbers).drop_front(first), counts, strides,
                    slopes, numbers[first])
               ? element
               : unknown();
  }

  static bool isLinear(ArrayRef<int64_t> numbers, ArrayRef<int64_t> counts,
                       ArrayRef<int64_t> strides, ArrayRef<int64_t> slopes,
                       int64_t expected) {
    if (counts.empty())
      return numbers.front() == expected;
    for (int64_t i = 0; i < counts.front(); ++i) {
      if (!isLinear(numbers.drop_front(i * strides.front()),
                    counts.drop_front(), strides.drop_front(),
                    slopes.drop_front(), expected))
        return false;
      expected = int64_t(uint64_t(expected) + uint64_t(slopes.front()));
    }
    return true;
  }

  // Where there is an element, the start was not beyond the end.
  Index slicedElement(SliceOp op, ArrayRef<Index> at) {
    std::vector<Input> inputs = inputsOf(op);
    std::optional<Sizes> starts = knownElements(op.getStarts()), axes;
    if (failed(op.resultShapes(inputs)))
      return unknown();
    Sizes from = op.source(inputs, 0, at).index;
    if (op.getAxes())
      axes = knownElements(op.getAxes());
    else if (starts)
      axes = sizesOf(range(0, starts->size()));
    SliceRange slice = op.slice(inputs);
    for (size_t k = 0; starts && axes && k < starts->size(); ++k) {
      Index start = (*starts)[k], given = (*axes)[k];
      if (!given.number || !start.number || *start.number < 0)
        continue;
      int64_t axis = wrap(*given.number, at.size());
      if ((slice.steps[axis] > 0).isTrue())
        from[axis] = start + at[axis] * slice.steps[axis];
    }
    return elementOf(op.getData(), from);
  }

  // A position in a tensor of the same elements: dimension by dimension where
  // but ones come or go.
  Sizes sameOrder(ArrayRef<Index> sizes, Value from, ArrayRef<Index> at) {
    Sizes own = namedSizes(from), result(own.size(), 0);
    size_t i = 0;
    bool matches = true;
    for (auto [size, position] : llvm::zip_equal(sizes, at)) {
      if (size.is(1))
        continue;
      while (i < own.size() && own[i].is(1))
        ++i;
      matches = matches && i < own.size() && surelyEqual(own[i], size);
      if (matches)
        result[i++] = position;
    }
    if (matches)
      return result;
    return delinearize(linearize(at, valuesOf(sizes)), valuesOf(own));
  }

  // The element of a tensor that one of `result` comes from, to which it is
  // broadcast from dimension `first` on.
  Index broadcastElement(Value tensor, int64_t first, Value result,
                         ArrayRef<Index> at) {
    Sizes own = namedSizes(tensor), sizes = namedSizes(result), from;
    for (auto [i, size] : llvm::enumerate(own)) {
      if (!size.is(1) && !surelyEqual(size, sizes[first + i]))
        return unknown();
      from.push_back(size.is(1) ? Index(0) : at[first + i]);
    }
    return elementOf(tensor, from);
  }

  Index movedElement(MovementOpInterface op, OpResult result,
                     ArrayRef<Index> at) {
    std::vector<Input> inputs = inputsOf(op);
    if (failed(op.resultShapes(inputs)))
      return unknown();
    Source source = op.source(inputs, result.getResultNumber(), at);
    if (source.operand < 0 || !source.inside.isTrue())
      return unknown();
    return elementOf(op->getOperand(source.operand), source.index);
  }

  Index computedElement(ScalarOpInterface op, OpResult result,
                        ArrayRef<Index> at) {
    Type element = getElementTypeOrSelf(result.getType());
    if (!element.isInteger(64) && !element.isInteger(1))
      return unknown(); // which may wrap
    ScalarBuilder scalars(builder, builder.getLoc(),
                          getElementTypeOrSelf(op->getResult(0).getType()));
    SmallVector<Scalar> args;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      Type type = getElementTypeOrSelf(operand.getType());
      if (!type.isSignlessInteger() || !isRanked(operand))
        return unknown();
      int64_t rank = rankOf(operand),
              first = rank ? op.firstDim(i, rank, at.size()) : 0;
      Index arg = broadcastElement(operand, first, result, at);
      Value value =
          arith::IndexCastOp::create(builder, valueType(type), arg.in(builder));
      args.push_back({scalars, value, type});
    }
    Value computed = op.emitScalar(scalars, args)[result.getResultNumber()].as(
        scalars, element);
    return {builder, arith::IndexCastOp::create(builder, builder.getIndexType(),
                                                computed)};
  }

  Block scratch;
  OpBuilder outer;
  ImplicitLocOpBuilder builder;
  Sizes dims;
  DenseMap<StringAttr, Value> byName;
  DenseMap<Value, Index> sizes;
  DenseMap<Value, SmallVector<int64_t>> constants;
  int visits = 500, depth = 100;
};

} // namespace

Sizes namedSizes(Value tensor) {
  return llvm::map_to_vector(shapeOf(tensor.getType()),
                             [](Dim dim) { return Index(dim); });
}

std::optional<Linear> linearElements(Value tensor,
                                     std::optional<int64_t> last) {
  return ElementWriter(tensor).linear(tensor, last);
}

} // namespace onnxc
