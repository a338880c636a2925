#include "dialects/onnx/Composite.h"
#include "dialects/onnx/Families.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace onnxc {
namespace {

// A type that holds values of both; null where there is none.
Type join(Type a, Type b) {
  if (a == b)
    return a;
  auto left = dyn_cast<TensorType>(a), right = dyn_cast<TensorType>(b);
  if (!left || !right)
    return {};
  if (left.getElementType() != right.getElementType()) {
    // As long as a rank is unknown, the element type may be a guess.
    if (left.hasRank() && right.hasRank())
      return {};
    return UnrankedTensorType::get(
        (left.hasRank() ? left : right).getElementType());
  }
  if (!left.hasRank() || !right.hasRank() || left.getRank() != right.getRank())
    return UnrankedTensorType::get(left.getElementType());
  Shape shape = shapeOf(a);
  for (auto [dim, other] : llvm::zip(shape, shapeOf(b)))
    if (!dim.surelyEquals(other))
      dim = Dim();
  return tensorOf(shape, left.getElementType());
}

FailureOr<Type> joinOrFail(std::optional<Location> loc, Type a, Type b) {
  if (Type type = join(a, b))
    return type;
  return emitOptionalError(loc, "a value changes its type from ", a, " to ", b);
}

TypeRange yieldedTypes(Region &region) {
  return region.front().getTerminator()->getOperandTypes();
}

// One slice per iteration, along a new axis.
Type stacked(Type slice, int64_t axis, Dim count) {
  auto type = dyn_cast<RankedTensorType>(slice);
  if (!type)
    return slice;
  Shape shape = shapeOf(type);
  shape.insert(shape.begin() + axis, count);
  return tensorOf(shape, type.getElementType());
}

Type sliceOf(Type whole, int64_t axis) {
  auto type = dyn_cast<RankedTensorType>(whole);
  if (!type)
    return whole;
  Shape shape = shapeOf(type);
  shape.erase(shape.begin() + axis);
  return tensorOf(shape, type.getElementType());
}

bool isIn(int64_t axis, int64_t rank) { return axis >= -rank && axis < rank; }

int64_t valueOr(ArrayRef<int64_t> values, size_t index, int64_t otherwise) {
  return index < values.size() ? values[index] : otherwise;
}

} // namespace

//===-- If ----------------------------------------------------------------===//

// The operands of these operations are held to the standard here, while they
// have its types.
static LogicalResult checkOne(Location loc, Value operand, StringRef name,
                              unsigned bits) {
  auto type = dyn_cast<TensorType>(operand.getType());
  if (!type || !type.getElementType().isSignlessInteger(bits))
    return mlir::emitError(loc)
           << "'" << name << "' must be of " << (bits == 1 ? "bool" : "int64");
  if (type.hasStaticShape() && type.getNumElements() != 1)
    return mlir::emitError(loc)
           << "'" << name << "' has " << type.getNumElements()
           << " elements instead of one";
  return success();
}

FailureOr<SmallVector<Type>> IfOp::regionArguments(Location loc, unsigned,
                                                   ValueRange inputs,
                                                   DictionaryAttr, TypeRange) {
  if (inputs.size() != 1 || !inputs[0])
    return mlir::emitError(loc, "If needs input 'cond'");
  if (failed(checkOne(loc, inputs[0], "cond", 1)))
    return failure();
  return SmallVector<Type>();
}

LogicalResult IfOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                     ValueRange, DictionaryAttr,
                                     OpaqueProperties, RegionRange regions,
                                     SmallVectorImpl<Type> &types) {
  TypeRange one = yieldedTypes(*regions[0]), other = yieldedTypes(*regions[1]);
  if (one.size() != other.size())
    return emitOptionalError(loc,
                             "expected as many outputs of both branches, "
                             "got ",
                             one.size(), " and ", other.size());
  for (auto [a, b] : llvm::zip(one, other)) {
    FailureOr<Type> type = joinOrFail(loc, a, b);
    if (failed(type))
      return failure();
    types.push_back(*type);
  }
  return success();
}

// A known condition leaves one branch. Exporters ask for sizes this way, and
// branches may differ in rank.
LogicalResult IfOp::canonicalize(IfOp op, PatternRewriter &rewriter) {
  DenseElementsAttr condition;
  if (!matchPattern(op.getCond(), m_Constant(&condition)) ||
      condition.getNumElements() != 1)
    return failure();
  bool isTrue = (*condition.getValues<APInt>().begin()).getBoolValue();
  Block &taken = op->getRegion(isTrue ? 0 : 1).front();
  Operation *yield = taken.getTerminator();
  SmallVector<Value> results(yield->getOperands());
  rewriter.eraseOp(yield);
  rewriter.inlineBlockBefore(&taken, op);
  auto function = dyn_cast<FunctionOpInterface>(op->getParentOp());
  rewriter.replaceOp(op, results);
  if (function) // more may be known of what it returns
    rewriter.modifyOpInPlace(function, [&] {
      Operation *end = function.getFunctionBody().back().getTerminator();
      function.setType(FunctionType::get(rewriter.getContext(),
                                         function.getArgumentTypes(),
                                         end->getOperandTypes()));
    });
  return success();
}

//===-- Loop --------------------------------------------------------------===//

FailureOr<SmallVector<Type>> LoopOp::regionArguments(Location loc, unsigned,
                                                     ValueRange inputs,
                                                     DictionaryAttr,
                                                     TypeRange yielded) {
  bool isCounted = !inputs.empty() && inputs[0];
  bool isConditional = inputs.size() > 1 && inputs[1];
  if ((isCounted && failed(checkOne(loc, inputs[0], "M", 64))) ||
      (isConditional && failed(checkOne(loc, inputs[1], "cond", 1))))
    return failure();
  Builder builder(loc.getContext());
  SmallVector<Type> types = {RankedTensorType::get({}, builder.getI64Type()),
                             RankedTensorType::get({}, builder.getI1Type())};
  for (auto [index, initial] :
       llvm::enumerate(inputs.drop_front(std::min<size_t>(2, inputs.size())))) {
    if (!initial)
      return mlir::emitError(loc, "a carried value has no initial value");
    Type type = initial.getType();
    if (index + 1 < yielded.size()) {
      FailureOr<Type> joined = joinOrFail(loc, type, yielded[index + 1]);
      if (failed(joined))
        return failure();
      type = *joined;
    }
    types.push_back(type);
  }
  return types;
}

LogicalResult
LoopOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                         ValueRange values, DictionaryAttr attributes,
                         OpaqueProperties properties, RegionRange regions,
                         SmallVectorImpl<Type> &types) {
  Adaptor adaptor(values, attributes, properties, regions);
  TypeRange yielded = yieldedTypes(*regions[0]);
  size_t carried = adaptor.getVInitial().size();
  if (yielded.size() < carried + 1)
    return emitOptionalError(loc, "expected at least ", carried + 1,
                             " outputs of the body, got ", yielded.size());
  for (size_t i = 0; i < carried; ++i) {
    FailureOr<Type> type =
        joinOrFail(loc, adaptor.getVInitial()[i].getType(), yielded[i + 1]);
    if (failed(type))
      return failure();
    types.push_back(*type);
  }
  for (Type slice : yielded.drop_front(carried + 1))
    types.push_back(stacked(slice, 0, Dim()));
  return success();
}

//===-- Scan --------------------------------------------------------------===//

int64_t ScanOp::inputAxis(unsigned index, int64_t rank) {
  return wrap(valueOr(getScanInputAxes(), index, 0), rank);
}
int64_t ScanOp::outputAxis(unsigned index, int64_t rank) {
  return wrap(valueOr(getScanOutputAxes(), index, 0), rank);
}
bool ScanOp::isInputReversed(unsigned index) {
  return valueOr(getScanInputDirections(), index, 0) == 1;
}
bool ScanOp::isOutputReversed(unsigned index) {
  return valueOr(getScanOutputDirections(), index, 0) == 1;
}

static ArrayRef<int64_t> intsOf(DictionaryAttr attributes, StringRef name) {
  auto ints = attributes ? attributes.getAs<DenseI64ArrayAttr>(name)
                         : DenseI64ArrayAttr();
  return ints ? ints.asArrayRef() : ArrayRef<int64_t>();
}

FailureOr<SmallVector<Type>> ScanOp::regionArguments(Location loc, unsigned,
                                                     ValueRange inputs,
                                                     DictionaryAttr attributes,
                                                     TypeRange yielded) {
  auto count = attributes.getAs<IntegerAttr>("num_scan_inputs");
  if (!count || count.getInt() < 1 || uint64_t(count.getInt()) > inputs.size())
    return mlir::emitError(loc,
                           "'num_scan_inputs' is not in [1, number of inputs]");
  if (llvm::is_contained(inputs, Value()))
    return mlir::emitError(loc, "an input is absent");
  size_t states = inputs.size() - count.getInt();
  SmallVector<Type> types;
  for (size_t i = 0; i < states; ++i) {
    Type type = inputs[i].getType();
    FailureOr<Type> joined =
        i < yielded.size() ? joinOrFail(loc, type, yielded[i]) : type;
    if (failed(joined))
      return failure();
    types.push_back(*joined);
  }
  for (auto [i, input] : llvm::enumerate(inputs.drop_front(states))) {
    int64_t axis = valueOr(intsOf(attributes, "scan_input_axes"), i, 0);
    if (isRanked(input) && !isIn(axis, rankOf(input)))
      return mlir::emitError(loc)
             << "scan axis " << axis << " is outside [-" << rankOf(input)
             << ", " << rankOf(input) << ")";
    types.push_back(isRanked(input)
                        ? sliceOf(input.getType(), wrap(axis, rankOf(input)))
                        : input.getType());
  }
  return types;
}

LogicalResult
ScanOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                         ValueRange values, DictionaryAttr attributes,
                         OpaqueProperties properties, RegionRange regions,
                         SmallVectorImpl<Type> &types) {
  Adaptor adaptor(values, attributes, properties, regions);
  TypeRange yielded = yieldedTypes(*regions[0]);
  int64_t states = int64_t(values.size()) - adaptor.getNumScanInputs();
  if (states < 0 || states >= int64_t(values.size()) ||
      int64_t(yielded.size()) < states)
    return emitOptionalError(loc, "'num_scan_inputs' does not fit the body");
  for (auto [state, next] : llvm::zip(values.take_front(states), yielded)) {
    FailureOr<Type> type = joinOrFail(loc, state.getType(), next);
    if (failed(type))
      return failure();
    types.push_back(*type);
  }
  Dim count;
  if (isRanked(values[states])) {
    int64_t axis = valueOr(adaptor.getScanInputAxes(), 0, 0);
    int64_t rank = rankOf(values[states]);
    if (isIn(axis, rank))
      count = shapeOf(values[states].getType())[wrap(axis, rank)];
  }
  for (auto [i, slice] : llvm::enumerate(yielded.drop_front(states))) {
    auto type = dyn_cast<RankedTensorType>(slice);
    int64_t axis = valueOr(adaptor.getScanOutputAxes(), i, 0);
    if (type && !isIn(axis, type.getRank() + 1))
      return emitOptionalError(loc, "scan output axis ", axis,
                               " is outside its rank");
    types.push_back(type ? stacked(slice, wrap(axis, type.getRank() + 1), count)
                         : slice);
  }
  return success();
}

//===-- Scan-8 ------------------------------------------------------------===//

// The states have the batch in front, the sequences the batch and the steps.
FailureOr<SmallVector<Type>> Scan8Op::regionArguments(Location loc, unsigned,
                                                      ValueRange inputs,
                                                      DictionaryAttr attributes,
                                                      TypeRange) {
  auto count = attributes.getAs<IntegerAttr>("num_scan_inputs");
  if (inputs.empty() || !count || count.getInt() < 1 ||
      uint64_t(count.getInt()) >= inputs.size())
    return mlir::emitError(loc,
                           "'num_scan_inputs' is not in [1, number of inputs]");
  inputs = inputs.drop_front();
  int64_t states = int64_t(inputs.size()) - count.getInt();
  SmallVector<Type> types;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    int64_t dropped = int64_t(i) < states ? 1 : 2;
    if (!input)
      return mlir::emitError(loc, "an input is absent");
    if (!isRanked(input) || rankOf(input) < dropped)
      return mlir::emitError(loc) << "an input needs a batch"
                                  << (dropped > 1 ? " of sequences" : "");
    Type type = input.getType();
    for (int64_t axis = 0; axis < dropped; ++axis)
      type = sliceOf(type, 0);
    types.push_back(type);
  }
  return types;
}

SmallVector<Node> batchedScan(Graph &graph, BatchedScan in) {
  int64_t states = int64_t(in.inputs.size()) - in.sequences;
  bool hasLengths = in.lengths.given();
  SmallVector<Node> all(in.inputs);
  if (hasLengths)
    in.lengths =
        require(in.lengths, sizeOf(in.lengths, 0) == sizeOf(all.front(), 0),
                {Status::Shape, "sequence_lens",
                 "does not have one for each of a batch"});
  SmallVector<int64_t> reversed(in.sequences, 0);
  for (int64_t i = 0; i < in.sequences; ++i) {
    bool isReversed = valueOr(in.directions, i, 0) == 1;
    Node &sequence = all[states + i];
    if (isReversed && hasLengths) // from where it ends
      sequence = op<ReverseSequenceOp>({sequence, in.lengths},
                                       {{"batch_axis", 0}, {"time_axis", 1}});
    reversed[i] = isReversed && !hasLengths;
  }
  if (hasLengths) {
    all.push_back(in.lengths);
    reversed.push_back(0);
  }
  // Behind its end a sequence keeps its states and yields zeros.
  auto step = [&](ArrayRef<Node> args, Node length) {
    size_t own = in.inputs.size();
    SmallVector<Node> next = graph.inlined(in.body, args.take_front(own));
    for (auto [i, result] : llvm::enumerate(next))
      if (length.given() && !graph.failed)
        result =
            select(args[own] < length, result,
                   int64_t(i) < states ? args[i] : constantLike(0, result));
    return next;
  };
  return graph.scan({}, all, {}, [&](ArrayRef<Node> one) {
    Node length = hasLengths ? one.back() : Node();
    SmallVector<Node> sequences(one.slice(states, in.sequences));
    if (hasLengths) // the number of the step
      sequences.push_back(range(0, scalar(sizeOf(sequences.front(), 0)),
                                constantLike(1, length)));
    return graph.scan(one.take_front(states), sequences, reversed,
                      [&](ArrayRef<Node> args) { return step(args, length); });
  });
}

} // namespace onnxc
