// Values for formulas, and the checks that guard what they compute.
#include "lowering/tensor/Inputs.h"
#include "dialects/onnxc/Onnxc.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {

// What gives `tensor` the size of a dimension: the tensor it is written over,
// before casts. Passes may tell the type of what they find in between by that
// of a reader, and its size would be what the reader's check expects.
static Value originOf(Value tensor, int64_t dim) {
  while (Operation *op = tensor.getDefiningOp()) {
    Value before;
    if (auto destinations = dyn_cast<DestinationStyleOpInterface>(op))
      before = destinations.getTiedOpOperand(cast<OpResult>(tensor))->get();
    else if (auto conversion = dyn_cast<tensor::CastOp>(op))
      before = conversion.getSource();
    auto type = before ? dyn_cast<RankedTensorType>(before.getType())
                       : RankedTensorType();
    if (!type || !type.isDynamicDim(dim))
      return tensor;
    tensor = before;
  }
  return tensor;
}

Index sizeOf(ImplicitLocOpBuilder &builder, Value tensor, int64_t dim) {
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(size))
    return size;
  tensor = originOf(tensor, dim);
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
    return {builder, empty.getDynamicSize(dim)};
  return {builder, builder.createOrFold<tensor::DimOp>(tensor, dim)};
}

Value extract(ImplicitLocOpBuilder &builder, Value tensor, ArrayRef<Index> at) {
  SmallVector<Value> indices;
  for (Index position : at)
    indices.push_back(position.in(builder));
  return tensor::ExtractOp::create(builder, tensor, indices);
}

// What the inputs of the model that `op` is in say of a size by its name: that
// of one of them, or a formula of theirs.
static std::optional<Index> sizeAtEntry(ImplicitLocOpBuilder &builder,
                                        Operation *op, StringRef name) {
  auto model = op->getParentOfType<func::FuncOp>();
  auto sizeOfInput = [&](StringRef wanted) -> std::optional<Index> {
    for (BlockArgument input : model.getArguments()) {
      auto names =
          model.getArgAttrOfType<ArrayAttr>(input.getArgNumber(), dimsAttrName);
      if (names)
        for (auto [i, each] : llvm::enumerate(names.getAsRange<StringAttr>()))
          if (each.getValue() == unquotedName(wanted))
            return sizeOf(builder, input, i);
    }
    return std::nullopt;
  };
  auto size = model ? evaluate(name, sizeOfInput) : std::nullopt;
  if (size && !size->number)
    size->name = builder.getStringAttr(name);
  return size;
}

// An element of an integer tensor as a position.
static Index positionAt(ImplicitLocOpBuilder &builder, Value tensor, Type type,
                        ArrayRef<Index> at) {
  Value element = extract(builder, tensor, at);
  if (element.getType().isIndex())
    return {builder, element};
  if (type.isUnsignedInteger())
    return {builder, builder.createOrFold<arith::IndexCastUIOp>(
                         builder.getIndexType(), element)};
  return {builder, builder.createOrFold<arith::IndexCastOp>(
                       builder.getIndexType(), element)};
}

static Input inputOf(ImplicitLocOpBuilder &builder, Operation *op,
                     Value original, Value lowered) {
  Input input;
  auto type = dyn_cast<RankedTensorType>(original.getType());
  input.original = original;
  input.lowered = lowered;
  input.element = getElementTypeOrSelf(original.getType());
  if (!type)
    return input;
  for (auto [i, dim] : llvm::enumerate(shapeOf(type))) {
    input.sizes.push_back(sizeOf(builder, lowered, i));
    if (!dim.isStatic())
      input.sizes.back().nameAfter(dim);
  }
  auto known = std::make_shared<std::optional<Sizes>>();
  if (type.getElementType().isInteger())
    *known = knownElements(original);
  Type element = input.element;
  input.at = [=, &builder, shape = type.getShape()](ArrayRef<Index> at) {
    std::optional<int64_t> linear =
        *known ? linearize(at, sizesOf(shape)).number : std::nullopt;
    if (linear && *linear >= 0 && *linear < int64_t((*known)->size())) {
      Index named = (**known)[*linear];
      if (named.number)
        return named;
      auto size =
          named.name ? sizeAtEntry(builder, op, named.name) : std::nullopt;
      Index found = size ? *size : positionAt(builder, lowered, element, at);
      found.name = named.name;
      found.isSize = named.isSize;
      return found;
    }
    return positionAt(builder, lowered, element, at);
  };
  return input;
}

std::vector<Input> inputsOf(ImplicitLocOpBuilder &builder, Operation *op,
                            ValueRange lowered) {
  std::vector<Input> inputs;
  for (auto [original, value] : llvm::zip_equal(op->getOperands(), lowered))
    inputs.push_back(inputOf(builder, op, original, value));
  return inputs;
}

Index sizeNamed(Operation *op, Dim dim, ArrayRef<Input> inputs,
                Index computed) {
  StringAttr name = dim.symbol;
  if (dim.isStatic())
    return dim.size;
  if (!name)
    return computed;
  for (const Input &input : inputs)
    if (input.given() && isRanked(input.original))
      for (auto [own, size] :
           llvm::zip_equal(shapeOf(input.original.getType()), input.sizes))
        if (own.symbol == name)
          return size;
  return computed.value
             ? sizeAtEntry(*computed.builder, op, name).value_or(computed)
             : computed;
}

FailureOr<Shapes> resultSizes(SizedOpInterface op, ArrayRef<Input> inputs) {
  for (Type type : op->getResultTypes())
    if (!isa<RankedTensorType>(type))
      return op->emitError("the rank of a result is not known");
  FailureOr<Shapes> shapes = op.resultShapes(inputs);
  if (failed(shapes) || shapes->size() != op->getNumResults())
    return failure();
  for (auto [sizes, type] : llvm::zip_equal(*shapes, op->getResultTypes())) {
    for (auto [size, known] : llvm::zip_equal(sizes, shapeOf(type)))
      size = sizeNamed(op, known, inputs, size);
  }
  return shapes;
}

SmallVector<OpFoldResult> folded(ImplicitLocOpBuilder &builder,
                                 ArrayRef<Index> sizes) {
  return llvm::map_to_vector(sizes, [&](Index size) {
    return size.number ? OpFoldResult(builder.getIndexAttr(*size.number))
                       : OpFoldResult(size.value);
  });
}

Value emptyOf(ImplicitLocOpBuilder &builder, ArrayRef<Index> sizes,
              Type element) {
  return emptyOf(builder, folded(builder, sizes), element);
}

bool hasZero(ArrayRef<Index> sizes) {
  return llvm::any_of(sizes, [](Index size) { return size.is(0); });
}

Value sliced(ImplicitLocOpBuilder &builder, Value tensor,
             ArrayRef<Index> offsets, ArrayRef<Index> sizes,
             ArrayRef<Index> steps) {
  ArrayRef<int64_t> whole = cast<RankedTensorType>(tensor.getType()).getShape();
  if (hasZero(sizes) || llvm::is_contained(whole, 0))
    return tensor::EmptyOp::create(builder, folded(builder, sizes),
                                   getElementTypeOrSelf(tensor.getType()));
  return tensor::ExtractSliceOp::create(
      builder, tensor, folded(builder, offsets), folded(builder, sizes),
      folded(builder, steps));
}

Value sliced(ImplicitLocOpBuilder &builder, Value tensor,
             ArrayRef<Index> offsets, ArrayRef<Index> sizes) {
  return sliced(builder, tensor, offsets, sizes, Sizes(sizes.size(), 1));
}

Value zeroOf(ImplicitLocOpBuilder &builder, Type storage) {
  return arith::ConstantOp::create(builder, builder.getZeroAttr(storage));
}

LogicalResult require(ImplicitLocOpBuilder &builder, Condition condition,
                      Status status, Operation *op, StringRef what,
                      StringRef operand) {
  if (condition.isTrue())
    return success();
  if (condition.isFalse())
    return op->emitError() << "'" << operand << "': " << what;
  check(builder, condition.value, status, op, what, operand);
  return success();
}

static LogicalResult requireAllNow(ArrayRef<int64_t> elements,
                                   const Input &input, Predicate predicate,
                                   Operation *op, StringRef what,
                                   StringRef operand) {
  for (auto [i, element] : llvm::enumerate(elements)) {
    Condition condition =
        predicate(element, delinearize(int64_t(i), input.sizes));
    if (condition.isFalse())
      return op->emitError()
             << "'" << operand << "' has " << element << ": " << what;
    if (!condition.isTrue())
      return failure();
  }
  return success();
}

// Whether names tell that the predicate holds, as of sizes that are to be at
// least 0.
static bool areSurelyRight(const Input &input, Predicate predicate) {
  std::optional<Sizes> elements = knownElements(input.original);
  auto isNamed = [](Index element) { return element.number || element.name; };
  return elements && llvm::all_of(*elements, isNamed) &&
         llvm::all_of(llvm::seq(int64_t(elements->size())), [&](int64_t i) {
           Sizes at = delinearize(i, input.sizes);
           return predicate(input.at(at), at).isTrue();
         });
}

LogicalResult requireAll(ImplicitLocOpBuilder &builder, const Input &input,
                         Predicate predicate, Status status, Operation *op,
                         StringRef what, StringRef operand) {
  if (areSurelyRight(input, predicate))
    return success();
  if (auto elements = constantInts(input.original)) {
    // A condition on sizes that are not known is left to the program.
    bool decided = llvm::all_of(llvm::enumerate(*elements), [&](auto entry) {
      return predicate(entry.value(),
                       delinearize(int64_t(entry.index()), input.sizes))
          .known.has_value();
    });
    if (decided)
      return requireAllNow(*elements, input, predicate, op, what, operand);
  }
  Type flag = builder.getI8Type();
  Value one = arith::ConstantOp::create(builder, builder.getI8IntegerAttr(1));
  Value empty = tensor::EmptyOp::create(builder, ArrayRef<int64_t>{}, flag);
  Value start = linalg::FillOp::create(builder, one, empty).getResult(0);
  auto body = [&](OpBuilder &, Location, ValueRange args) {
    Sizes at;
    for (int64_t i = 0; i < input.rank(); ++i)
      at.push_back({builder, linalg::IndexOp::create(builder, i)});
    Index element = positionAt(builder, input.lowered, input.element, at);
    Value holds = predicate(element, at).in(builder);
    Value bit = arith::ExtUIOp::create(builder, flag, holds);
    linalg::YieldOp::create(
        builder, arith::AndIOp::create(builder, args.back(), bit).getResult());
  };
  MLIRContext *context = builder.getContext();
  SmallVector<AffineMap> maps = {
      AffineMap::getMultiDimIdentityMap(input.rank(), context),
      AffineMap::get(input.rank(), 0, {}, context)};
  SmallVector<IteratorType> iterators(input.rank(), IteratorType::reduction);
  // The tensor is an operand for the sizes of the loops.
  Value all = linalg::GenericOp::create(builder, start.getType(), input.lowered,
                                        start, maps, iterators, body)
                  .getResult(0);
  Value zero = arith::ConstantOp::create(builder, builder.getI8IntegerAttr(0));
  Value holds = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne,
                                      extract(builder, all, {}), zero);
  check(builder, holds, status, op, what, operand);
  return success();
}

//===-- Reshapes ----------------------------------------------------------===//

namespace {
// How many dimensions of either side have the same product.
struct Group {
  int64_t from = 0, to = 0;
};
} // namespace

// The shortest groups that surely hold equally many elements, from the left.
// What cannot be told apart is one group.
static SmallVector<Group> groupsOf(ArrayRef<Index> from, ArrayRef<Index> to) {
  SmallVector<Group> groups, tail;
  while (!from.empty() && !to.empty() && surelyEqual(from.back(), to.back())) {
    tail.push_back({1, 1});
    from = from.drop_back();
    to = to.drop_back();
  }
  while (!from.empty() && !to.empty()) {
    Group group = {int64_t(from.size()), int64_t(to.size())};
    for (size_t i = 1, j = 1; i <= from.size() && j <= to.size();) {
      std::optional<int> order =
          compare(factorsOf(from.take_front(i)), factorsOf(to.take_front(j)));
      if (order == 0)
        group = {int64_t(i), int64_t(j)};
      if (!order || order == 0)
        break;
      ++(*order < 0 ? i : j);
    }
    groups.push_back(group);
    from = from.drop_front(group.from);
    to = to.drop_front(group.to);
  }
  if (!from.empty() || !to.empty())
    groups.push_back({int64_t(from.size()), int64_t(to.size())});
  groups.append(tail.rbegin(), tail.rend());
  // Ones alone on a side join a neighbour.
  for (size_t i = 0; groups.size() > 1 && i < groups.size();) {
    if (groups[i].from && groups[i].to) {
      ++i;
      continue;
    }
    size_t other = i > 0 ? i - 1 : i + 1;
    groups[other].from += groups[i].from;
    groups[other].to += groups[i].to;
    groups.erase(groups.begin() + i);
    i = 0;
  }
  return groups;
}

static SmallVector<ReassociationIndices> reassociation(ArrayRef<Group> groups,
                                                       int64_t Group::*side) {
  SmallVector<ReassociationIndices> all;
  int64_t next = 0;
  for (const Group &group : groups) {
    all.emplace_back();
    for (int64_t i = 0; i < group.*side; ++i)
      all.back().push_back(next++);
  }
  return all;
}

static RankedTensorType typeOf(ArrayRef<Index> sizes, Value like) {
  SmallVector<int64_t> shape =
      llvm::map_to_vector(sizes, [](Index size) { return size.dim().size; });
  return RankedTensorType::get(shape, getElementTypeOrSelf(like.getType()));
}

Value reshaped(ImplicitLocOpBuilder &builder, Value value, ArrayRef<Index> from,
               ArrayRef<Index> to) {
  SmallVector<Group> groups = groupsOf(from, to);
  if (hasZero(from) || hasZero(to))
    groups.assign(1, {int64_t(from.size()), int64_t(to.size())});
  value = castTo(builder, value, typeOf(from, value));
  if (from.empty() || to.empty()) { // one element, whichever side says so
    Sizes ones(std::max(from.size(), to.size()), 1);
    auto all = reassociation({}, &Group::to);
    value =
        from.empty()
            ? Value(tensor::ExpandShapeOp::create(builder, typeOf(ones, value),
                                                  value, all,
                                                  folded(builder, ones)))
            : Value(tensor::CollapseShapeOp::create(
                  builder, castTo(builder, value, typeOf(ones, value)), all));
    return castTo(builder, value, typeOf(to, value));
  }
  // Each group becomes one dimension, then its dimensions.
  if (groups.size() != from.size())
    value = tensor::CollapseShapeOp::create(
        builder, value, reassociation(groups, &Group::from));
  if (groups.size() == to.size())
    return castTo(builder, value, typeOf(to, value));
  // A group is static on both sides of an expansion, or on neither.
  auto between = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> middle(between.getShape());
  int64_t end = 0;
  for (auto [size, group] : llvm::zip(middle, groups)) {
    size = product(to.slice(end, group.to)).dim().size;
    end += group.to;
  }
  value = castTo(builder, value, between.clone(middle));
  return tensor::ExpandShapeOp::create(builder, typeOf(to, value), value,
                                       reassociation(groups, &Group::to),
                                       folded(builder, to));
}

} // namespace onnxc
