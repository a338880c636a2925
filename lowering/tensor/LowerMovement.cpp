// Movement: views where the structure allows them, else a loop that reads each
// element from where the operator's source map says.
#include "dialects/onnx/Families.h"
#include "dialects/onnx/OpenEnds.h"
#include "lowering/tensor/Inputs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
namespace {

// What every pattern here begins with.
struct Movement {
  Movement(SizedOpInterface op, ArrayRef<Value> lowered, OpBuilder &rewriter)
      : builder(op.getLoc(), rewriter), inputs(inputsOf(builder, op, lowered)),
        shapes(resultSizes(op, inputs)) {}
  ImplicitLocOpBuilder builder;
  std::vector<Input> inputs;
  FailureOr<Shapes> shapes;

  // In the type that inference gave the result.
  void replace(ConversionPatternRewriter &rewriter, Operation *op,
               SmallVector<Value> values, const TypeConverter &types) {
    for (auto [value, result] : llvm::zip_equal(values, op->getResults()))
      value = castTo(builder, value, types.convertType(result.getType()));
    rewriter.replaceOp(op, values);
  }
};

template <typename Op> struct LowerMoving : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  virtual FailureOr<SmallVector<Value>> lower(Op op, Movement &move) const = 0;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Movement move(cast<SizedOpInterface>(op.getOperation()),
                  llvm::to_vector(adaptor.getOperands()), rewriter);
    if (failed(move.shapes))
      return failure();
    FailureOr<SmallVector<Value>> values = lower(op, move);
    if (failed(values))
      return failure();
    move.replace(rewriter, op, *values, *this->getTypeConverter());
    return success();
  }
};

//===-- By element --------------------------------------------------------===//

Value readSource(ImplicitLocOpBuilder &builder, ArrayRef<Input> inputs,
                 const Source &source) {
  auto inside = [&] {
    return extract(builder, inputs[source.operand].lowered, source.index);
  };
  auto outside = [&](Type storage) {
    return source.otherwise < 0
               ? zeroOf(builder, storage)
               : extract(builder, inputs[source.otherwise].lowered,
                         Sizes(inputs[source.otherwise].rank(), 0));
  };
  if (source.inside.isTrue())
    return inside();
  Value lowered = inputs[source.operand].lowered;
  Type storage = getElementTypeOrSelf(lowered.getType());
  if (source.inside.isFalse())
    return outside(storage);
  Value condition = source.inside.in(builder);
  if (source.readable)
    return arith::SelectOp::create(builder, condition, inside(),
                                   outside(storage));
  auto yield = [&](auto value) {
    return [&, value](OpBuilder &, Location) {
      scf::YieldOp::create(builder, value());
    };
  };
  return scf::IfOp::create(builder, condition, yield(inside),
                           yield([&] { return outside(storage); }))
      .getResult(0);
}

Value copyByElement(ImplicitLocOpBuilder &builder, MovementOpInterface op,
                    ArrayRef<Input> inputs, int64_t result,
                    ArrayRef<Index> sizes) {
  Type element = getElementTypeOrSelf(op->getResult(result).getType());
  Value empty = emptyOf(builder, sizes, element);
  int64_t rank = sizes.size();
  auto body = [&](OpBuilder &, Location, ValueRange) {
    Sizes at;
    for (int64_t i = 0; i < rank; ++i)
      at.push_back({builder, linalg::IndexOp::create(builder, i)});
    Source source = op.source(inputs, result, at);
    linalg::YieldOp::create(builder, readSource(builder, inputs, source));
  };
  return linalg::GenericOp::create(builder, empty.getType(), ValueRange(),
                                   empty, builder.getMultiDimIdentityMap(rank),
                                   parallel(rank), body)
      .getResult(0);
}

// The only result of an operator, element by element.
template <typename Op> SmallVector<Value> byElement(Op op, Movement &move) {
  return {copyByElement(move.builder,
                        cast<MovementOpInterface>(op.getOperation()),
                        move.inputs, 0, move.shapes->front())};
}

// Operators that no view can stand for.
template <typename Op> struct LowerByElement : LowerMoving<Op> {
  using LowerMoving<Op>::LowerMoving;
  FailureOr<SmallVector<Value>> lower(Op op, Movement &move) const override {
    return byElement(op, move);
  }
};

// Axes of the run, each of them once.
LogicalResult requireAxes(Movement &move, Operation *op, const Input &axes,
                          int64_t rank) {
  auto inside = [&](Index axis, ArrayRef<Index>) {
    return axis >= -rank && axis < rank;
  };
  FailureOr<Sizes> all = axes.elements();
  if (failed(all) ||
      failed(requireAll(move.builder, axes, inside, Status::Index, op,
                        "an axis is outside the rank", "axes")))
    return failure();
  Condition differ = true;
  for (auto [i, axis] : llvm::enumerate(*all))
    for (Index other : ArrayRef(*all).take_front(i))
      differ = differ && !(fromEnd(axis, rank) == fromEnd(other, rank));
  return require(move.builder, differ, Status::Index, op,
                 "an axis is given twice", "axes");
}

//===-- By index ----------------------------------------------------------===//

LogicalResult requireInside(Movement &move, Operation *op, const Input &indices,
                            Index size) {
  auto inside = [&](Index element, ArrayRef<Index>) {
    return element >= 0 - size && element < size;
  };
  return requireAll(move.builder, indices, inside, Status::Index, op,
                    "an index is outside the data", "indices");
}

struct LowerGather : LowerMoving<GatherOp> {
  using LowerMoving::LowerMoving;
  FailureOr<SmallVector<Value>> lower(GatherOp op,
                                      Movement &move) const override {
    const Input &data = move.inputs[0], &indices = move.inputs[1];
    int64_t axis = wrap(op.getAxis(), data.rank());
    if (failed(requireInside(move, op, indices, data.sizes[axis])))
      return failure();
    ImplicitLocOpBuilder &builder = move.builder;
    const Sizes &sizes = move.shapes->front();
    if (indices.rank() != 0)
      return byElement(op, move);
    // One slice is a view.
    Sizes offsets(data.rank(), 0), cut = data.sizes;
    offsets[axis] = fromEnd(indices.at({}), data.sizes[axis]);
    cut[axis] = 1;
    Value slice = sliced(builder, data.lowered, offsets, cut);
    return SmallVector<Value>{reshaped(builder, slice, cut, sizes)};
  }
};

struct LowerGatherElements : LowerMoving<GatherElementsOp> {
  using LowerMoving::LowerMoving;
  FailureOr<SmallVector<Value>> lower(GatherElementsOp op,
                                      Movement &move) const override {
    const Input &data = move.inputs[0], &indices = move.inputs[1];
    int64_t axis = wrap(op.getAxis(), data.rank());
    if (failed(requireInside(move, op, indices, data.sizes[axis])))
      return failure();
    for (int64_t i = 0; i < data.rank(); ++i)
      if (i != axis &&
          failed(require(move.builder, indices.sizes[i] <= data.sizes[i],
                         Status::Shape, op, "is larger than the data",
                         "indices")))
        return failure();
    return byElement(op, move);
  }
};

struct LowerGatherND : LowerMoving<GatherNDOp> {
  using LowerMoving::LowerMoving;
  FailureOr<SmallVector<Value>> lower(GatherNDOp op,
                                      Movement &move) const override {
    const Input &data = move.inputs[0], &indices = move.inputs[1];
    int64_t batch = op.getBatchDims(), depth = indices.sizes.back().get();
    for (int64_t i = 0; i < batch; ++i)
      if (failed(require(
              move.builder, indices.sizes[i] == data.sizes[i], Status::Shape,
              op, "has batches of other sizes than the data", "indices")))
        return failure();
    auto inside = [&](Index element, ArrayRef<Index> at) {
      Index size = data.sizes[batch];
      for (int64_t i = 1; i < depth; ++i)
        size = select(at.back() == i, data.sizes[batch + i], size);
      return element >= 0 - size && element < size;
    };
    if (depth > 0 &&
        failed(requireAll(move.builder, indices, inside, Status::Index, op,
                          "an index is outside the data", "indices")))
      return failure();
    return byElement(op, move);
  }
};

struct LowerReverseSequence : LowerMoving<ReverseSequenceOp> {
  using LowerMoving::LowerMoving;
  FailureOr<SmallVector<Value>> lower(ReverseSequenceOp op,
                                      Movement &move) const override {
    const Input &input = move.inputs[0], &lengths = move.inputs[1];
    Index batch = input.sizes[wrap(op.getBatchAxis(), input.rank())];
    Index time = input.sizes[wrap(op.getTimeAxis(), input.rank())];
    auto inside = [&](Index length, ArrayRef<Index>) {
      return length >= 0 && length <= time;
    };
    if (failed(require(move.builder, lengths.sizes[0] == batch, Status::Shape,
                       op, "needs one length for each sequence",
                       "sequence_lens")) ||
        failed(requireAll(move.builder, lengths, inside, Status::Index, op,
                          "a length is outside the sequence", "sequence_lens")))
      return failure();
    return byElement(op, move);
  }
};

//===-- Joining and cutting -----------------------------------------------===//

struct Part {
  Value value;
  Index size; // along the axis
};

// Inserted one behind the other; `sizes` are those beside the axis.
Part joined(ImplicitLocOpBuilder &builder, Type element, Sizes sizes,
            int64_t axis, ArrayRef<Part> parts) {
  Index total = 0;
  for (const Part &part : parts)
    total = total + part.size;
  sizes[axis] = total;
  Value whole = emptyOf(builder, sizes, element);
  Sizes offsets(sizes.size(), 0), cut = sizes;
  for (const Part &part : parts) {
    cut[axis] = part.size;
    if (hasZero(cut)) // has no place behind the last element
      continue;
    Value fitting = castTo(
        builder, part.value,
        tensor::ExtractSliceOp::inferResultType(
            cast<RankedTensorType>(whole.getType()), folded(builder, cut)));
    whole = tensor::InsertSliceOp::create(
        builder, fitting, whole, folded(builder, offsets), folded(builder, cut),
        folded(builder, Sizes(sizes.size(), 1)));
    offsets[axis] = offsets[axis] + part.size;
  }
  return {whole, total};
}

struct LowerConcat : LowerMoving<ConcatOp> {
  using LowerMoving::LowerMoving;

  // More are joined in groups: whether their places overlap is looked at in
  // pairs.
  static constexpr size_t mostParts = 24;

  FailureOr<SmallVector<Value>> lower(ConcatOp op,
                                      Movement &move) const override {
    ImplicitLocOpBuilder &builder = move.builder;
    const Sizes &sizes = move.shapes->front();
    int64_t axis = wrap(op.getAxis(), sizes.size());
    SmallVector<Part> parts;
    for (const Input &input : move.inputs) {
      for (int64_t i = 0; i < input.rank(); ++i)
        if (i != axis &&
            failed(require(builder, input.sizes[i] == sizes[i], Status::Shape,
                           op, "sizes differ beside the axis", "inputs")))
          return failure();
      if (!input.sizes[axis].is(0))
        parts.push_back({input.lowered, input.sizes[axis]});
    }
    while (parts.size() > mostParts) {
      SmallVector<Part> groups;
      for (ArrayRef<Part> rest = parts; !rest.empty();
           rest = rest.drop_front(std::min(rest.size(), mostParts)))
        groups.push_back(joined(builder, move.inputs[0].element, sizes, axis,
                                rest.take_front(mostParts)));
      parts = std::move(groups);
    }
    Type element = move.inputs[0].element;
    return SmallVector<Value>{
        joined(builder, element, sizes, axis, parts).value};
  }
};

struct LowerSplit : LowerMoving<SplitOp> {
  using LowerMoving::LowerMoving;
  FailureOr<SmallVector<Value>> lower(SplitOp op,
                                      Movement &move) const override {
    ImplicitLocOpBuilder &builder = move.builder;
    const Input &input = move.inputs[0];
    int64_t axis = wrap(op.getAxis(), input.rank());
    Index end = 0;
    Condition positive = true;
    for (const Sizes &sizes : *move.shapes) {
      end = end + sizes[axis];
      positive = positive && sizes[axis] >= 0;
    }
    if (failed(require(builder, positive && end == input.sizes[axis],
                       Status::Value, op, "the parts do not add up", "split")))
      return failure();
    SmallVector<Value> parts;
    Sizes offsets(input.rank(), 0);
    for (const Sizes &sizes : *move.shapes) {
      parts.push_back(sliced(builder, input.lowered, offsets, sizes));
      offsets[axis] = offsets[axis] + sizes[axis];
    }
    return parts;
  }
};

LogicalResult requireOpenEnds(Movement &move, SliceOp op) {
  const Input &data = move.inputs[0];
  Sizes ends = *move.inputs[2].elements();
  Sizes axes = op.getAxes() ? *move.inputs[3].elements()
                            : sizesOf(range(0, ends.size()));
  for (auto [end, given] : llvm::zip_equal(ends, axes)) {
    if (!isOpenEnd(end))
      continue;
    Index axis = fromEnd(given, data.rank());
    for (auto [i, size] : llvm::enumerate(data.sizes))
      if (failed(require(move.builder, !(axis == int64_t(i)) || size <= end,
                         Status::Value, op, "an axis goes on behind its end",
                         "ends")))
        return failure();
  }
  return success();
}

// Forward steps are a view.
struct LowerSlice : LowerMoving<SliceOp> {
  using LowerMoving::LowerMoving;
  FailureOr<SmallVector<Value>> lower(SliceOp op,
                                      Movement &move) const override {
    ImplicitLocOpBuilder &builder = move.builder;
    const Input &data = move.inputs[0];
    if (op.getAxes() &&
        failed(requireAxes(move, op, move.inputs[3], data.rank())))
      return failure();
    if (op.getSteps()) {
      const Input &steps = move.inputs.back();
      auto moves = [](Index step, ArrayRef<Index>) { return !(step == 0); };
      if (failed(requireAll(builder, steps, moves, Status::Value, op,
                            "a step is 0", "steps")))
        return failure();
    }
    if (failed(requireOpenEnds(move, op)))
      return failure();
    SliceRange slice = op.slice(move.inputs);
    const Sizes &sizes = move.shapes->front();
    auto isForward = [](Index step) { return (step > 0).isTrue(); };
    if (llvm::all_of(slice.steps, isForward))
      return SmallVector<Value>{
          sliced(builder, data.lowered, slice.starts, sizes, slice.steps)};
    return byElement(op, move);
  }
};

//===-- Repeating and padding ---------------------------------------------===//

struct LowerExpand : LowerMoving<ExpandOp> {
  using LowerMoving::LowerMoving;
  FailureOr<SmallVector<Value>> lower(ExpandOp op,
                                      Movement &move) const override {
    ImplicitLocOpBuilder &builder = move.builder;
    const Input &input = move.inputs[0];
    const Sizes &sizes = move.shapes->front();
    int64_t rank = sizes.size();
    SmallVector<AffineExpr> dims;
    bool certain = true;
    for (auto [i, own] : llvm::enumerate(input.sizes)) {
      int64_t dim = rank - input.rank() + i;
      certain = certain && (own.number || surelyEqual(own, sizes[dim]));
      bool repeats = own.is(1) && !sizes[dim].is(1);
      dims.push_back(repeats ? builder.getAffineConstantExpr(0)
                             : builder.getAffineDimExpr(dim));
      if (failed(require(builder, own == 1 || own == sizes[dim], Status::Shape,
                         op, "does not broadcast", "shape")))
        return failure();
    }
    if (!certain)
      return byElement(op, move);
    Type element = input.element;
    Value empty = emptyOf(builder, sizes, element);
    auto body = [&](OpBuilder &, Location, ValueRange args) {
      linalg::YieldOp::create(builder, args.front());
    };
    SmallVector<AffineMap> maps = {
        AffineMap::get(rank, 0, dims, builder.getContext()),
        builder.getMultiDimIdentityMap(rank)};
    return SmallVector<Value>{
        linalg::GenericOp::create(builder, empty.getType(), input.lowered,
                                  empty, maps, parallel(rank), body)
            .getResult(0)};
  }
};

// (repeats, size) for each dimension, then both are one.
struct LowerTile : LowerMoving<TileOp> {
  using LowerMoving::LowerMoving;
  FailureOr<SmallVector<Value>> lower(TileOp op,
                                      Movement &move) const override {
    ImplicitLocOpBuilder &builder = move.builder;
    const Input &input = move.inputs[0];
    Sizes apart, repeats = *move.inputs[1].elements();
    SmallVector<AffineExpr> dims;
    for (auto [repeat, size] : llvm::zip(repeats, input.sizes)) {
      if (failed(require(builder, repeat >= 0, Status::Value, op, "is negative",
                         "repeats")))
        return failure();
      dims.push_back(builder.getAffineDimExpr(apart.size() + 1));
      apart.append({repeat, size});
    }
    Value empty = emptyOf(builder, apart, input.element);
    auto body = [&](OpBuilder &, Location, ValueRange args) {
      linalg::YieldOp::create(builder, args.front());
    };
    int64_t rank = apart.size();
    SmallVector<AffineMap> maps = {
        AffineMap::get(rank, 0, dims, builder.getContext()),
        builder.getMultiDimIdentityMap(rank)};
    Value all =
        linalg::GenericOp::create(builder, empty.getType(), input.lowered,
                                  empty, maps, parallel(rank), body)
            .getResult(0);
    SmallVector<ReassociationIndices> pairs;
    for (int64_t i = 0; i < rank; i += 2)
      pairs.push_back({i, i + 1});
    return SmallVector<Value>{
        tensor::CollapseShapeOp::create(builder, all, pairs)};
  }
};

// Cuts where padding is negative, then pads.
struct LowerPad : LowerMoving<PadOp> {
  using LowerMoving::LowerMoving;
  FailureOr<SmallVector<Value>> lower(PadOp op, Movement &move) const override {
    ImplicitLocOpBuilder &builder = move.builder;
    const Input &data = move.inputs[0];
    const Sizes &sizes = move.shapes->front();
    if (op.getAxes() &&
        failed(requireAxes(move, op, move.inputs.back(), data.rank())))
      return failure();
    Padding padding = op.padding(move.inputs);
    Condition fits = true, hasElements = true;
    for (auto [low, high, own, size] :
         llvm::zip(padding.before, padding.after, data.sizes, sizes)) {
      fits = fits && size >= 0;
      Index left = own + least(low, 0) + least(high, 0);
      hasElements = hasElements && (left > 0 || size == left);
    }
    if (failed(require(builder, fits, Status::Value, op,
                       "a size becomes negative", "pads")))
      return failure();
    bool repeats = op.getMode() != "constant";
    if (repeats && failed(require(builder, hasElements, Status::Shape, op,
                                  "has no element to repeat", "data")))
      return failure();
    if (repeats && !areKnown(padding))
      return byElement(op, move);
    Sizes before, after, starts, kept;
    bool cuts = false;
    for (auto [low, high, own, size] :
         llvm::zip(padding.before, padding.after, data.sizes, sizes)) {
      if (low.number && high.number && low.get() >= 0 && high.get() >= 0) {
        starts.push_back(0);
        kept.push_back(own);
        before.push_back(low);
        after.push_back(high);
        continue;
      }
      cuts = true;
      // What one end cuts may be beyond what the other pads.
      starts.push_back(clamp(0 - low, 0, own));
      kept.push_back(clamp(own + high, starts.back(), own) - starts.back());
      before.push_back(clamp(low, 0, size));
      after.push_back(size - before.back() - kept.back());
    }
    Value inner =
        cuts ? sliced(builder, data.lowered, starts, kept) : data.lowered;
    if (repeats)
      return SmallVector<Value>{
          withRepeated(builder, op, inner, kept, padding)};
    Value value = op.getConstantValue()
                      ? extract(builder, move.inputs[2].lowered,
                                Sizes(move.inputs[2].rank(), 0))
                      : zeroOf(builder, storageType(data.element));
    // Nothing has no place in a buffer behind its first element.
    if (hasZero(kept)) {
      Value empty = emptyOf(builder, sizes, data.element);
      return SmallVector<Value>{
          linalg::FillOp::create(builder, value, empty).getResult(0)};
    }
    return SmallVector<Value>{
        tensor::PadOp::create(builder, Type(), inner, folded(builder, before),
                              folded(builder, after), value)};
  }

  // Whether the pads of the run are known before it.
  static bool areKnown(const Padding &padding) {
    auto isKnown = [](Index pad) { return pad.number.has_value(); };
    return llvm::all_of(padding.before, isKnown) &&
           llvm::all_of(padding.after, isKnown);
  }

  // Which slices are repeated at `count` positions from `first` on. Many are
  // counted by the run, so that they take no room in the object.
  static Value table(ImplicitLocOpBuilder &builder, PadOp op, Index first,
                     int64_t count, Index size) {
    constexpr int64_t mostConstant = 4096;
    if (first.number && size.number && count <= mostConstant) {
      SmallVector<int64_t> positions;
      for (int64_t i = 0; i < count; ++i)
        positions.push_back(*op.repeated(first + i, size).number);
      return arith::ConstantOp::create(builder,
                                       builder.getI64TensorAttr(positions));
    }
    Value empty = emptyOf(builder, {count}, builder.getI64Type());
    auto body = [&](OpBuilder &, Location, ValueRange) {
      Index at = {builder, linalg::IndexOp::create(builder, 0)};
      Value position = op.repeated(first + at, size).in(builder);
      linalg::YieldOp::create(
          builder,
          arith::IndexCastOp::create(builder, builder.getI64Type(), position)
              .getResult());
    };
    return linalg::GenericOp::create(builder, empty.getType(), ValueRange(),
                                     empty, builder.getMultiDimIdentityMap(1),
                                     parallel(1), body)
        .getResult(0);
  }

  // The slices at these positions, one behind the other; a single one is a
  // view.
  static Part repeated(ImplicitLocOpBuilder &builder, PadOp op, Value value,
                       Sizes sizes, int64_t axis, Index first, int64_t count) {
    if (count == 1) {
      Sizes starts(sizes.size(), 0), slice = sizes;
      starts[axis] = op.repeated(first, sizes[axis]);
      slice[axis] = 1;
      return {sliced(builder, value, starts, slice), 1};
    }
    Value positions = table(builder, op, first, count, sizes[axis]);
    sizes[axis] = count;
    int64_t rank = sizes.size();
    Value empty = emptyOf(builder, sizes, getElementTypeOrSelf(value));
    auto body = [&](OpBuilder &, Location, ValueRange) {
      Sizes at;
      for (int64_t i = 0; i < rank; ++i)
        at.push_back({builder, linalg::IndexOp::create(builder, i)});
      Value position = extract(builder, positions, {at[axis]});
      at[axis] = {builder, arith::IndexCastOp::create(
                               builder, builder.getIndexType(), position)};
      linalg::YieldOp::create(builder, extract(builder, value, at));
    };
    Value slices =
        linalg::GenericOp::create(builder, empty.getType(), ValueRange(), empty,
                                  builder.getMultiDimIdentityMap(rank),
                                  parallel(rank), body)
            .getResult(0);
    return {slices, count};
  }

  // From the last dimension to the first, so that corners are repeated too.
  static Value withRepeated(ImplicitLocOpBuilder &builder, PadOp op,
                            Value value, Sizes sizes, const Padding &padding) {
    Type element = getElementTypeOrSelf(op.getData().getType());
    for (int64_t axis = sizes.size(); axis-- > 0;) {
      int64_t before = std::max<int64_t>(*padding.before[axis].number, 0),
              after = std::max<int64_t>(*padding.after[axis].number, 0);
      if (before + after == 0)
        continue;
      SmallVector<Part> parts;
      auto repeat = [&](Index first, int64_t count) {
        if (count > 0)
          parts.push_back(
              repeated(builder, op, value, sizes, axis, first, count));
      };
      repeat(-before, before);
      parts.push_back({value, sizes[axis]});
      repeat(sizes[axis], after);
      Part whole = joined(builder, element, sizes, axis, parts);
      value = whole.value;
      sizes[axis] = whole.size;
    }
    return value;
  }
};

//===-- The same elements -------------------------------------------------===//

struct LowerTranspose : LowerMoving<TransposeOp> {
  using LowerMoving::LowerMoving;
  FailureOr<SmallVector<Value>> lower(TransposeOp op,
                                      Movement &move) const override {
    const Input &data = move.inputs[0];
    SmallVector<int64_t> order = op.permutation();
    if (order == range(0, data.rank()))
      return SmallVector<Value>{data.lowered};
    Value empty = emptyOf(move.builder, move.shapes->front(), data.element);
    return SmallVector<Value>{
        linalg::TransposeOp::create(move.builder, data.lowered, empty, order)
            ->getResult(0)};
  }
};

template <typename Op> struct LowerReshape : LowerMoving<Op> {
  using LowerMoving<Op>::LowerMoving;
  FailureOr<SmallVector<Value>> lower(Op op, Movement &move) const override {
    const Input &data = move.inputs[0];
    constexpr bool takesAxes =
        std::is_same_v<Op, UnsqueezeOp> || std::is_same_v<Op, SqueezeOp>;
    int64_t rank = std::max<int64_t>(data.rank(), move.shapes->front().size());
    if (takesAxes && move.inputs.size() > 1 &&
        failed(requireAxes(move, op, move.inputs[1], rank)))
      return failure();
    const Sizes &sizes = move.shapes->front();
    Condition fits = product(data.sizes) == product(sizes);
    for (Index size : sizes)
      fits = fits && size >= 0;
    // Sizes that inference has matched up by name need no check.
    Sizes to = named(sizes, op);
    bool isOpen = move.inputs.size() > 1 && !fits.isTrue() &&
                  compare(factorsOf(data.sizes), factorsOf(to)) != 0;
    if (!isOpen)
      return SmallVector<Value>{
          reshaped(move.builder, data.lowered, data.sizes, to)};
    if (failed(require(move.builder, fits, Status::Shape, op,
                       "does not fit the number of elements", "shape")))
      return failure();
    return SmallVector<Value>{behindCheck(move.builder, data, sizes)};
  }

  // A cast to the sizes that were checked would find its way into the operation
  // that makes the data, before the check; a slice stays where it is.
  static Value behindCheck(ImplicitLocOpBuilder &builder, const Input &data,
                           ArrayRef<Index> sizes) {
    Index count = product(sizes);
    if (data.rank() == 0 || count.is(0))
      return reshaped(builder, data.lowered, data.sizes, sizes);
    Value all =
        reshaped(builder, data.lowered, data.sizes, product(data.sizes));
    all = sliced(builder, all, Index(0), count);
    return reshaped(builder, all, count, sizes);
  }
  static Sizes named(Sizes sizes, Op op) {
    for (auto [size, dim] :
         llvm::zip(sizes, shapeOf(op->getResult(0).getType())))
      size.nameAfter(dim);
    return sizes;
  }
};

struct LowerIdentity : LowerMoving<IdentityOp> {
  using LowerMoving::LowerMoving;
  FailureOr<SmallVector<Value>> lower(IdentityOp,
                                      Movement &move) const override {
    return SmallVector<Value>{move.inputs[0].lowered};
  }
};

} // namespace

void addMovementPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<
      LowerByElement<TriluOp>, LowerByElement<CenterCropPadOp>, LowerGather,
      LowerGatherElements, LowerGatherND, LowerReverseSequence, LowerConcat,
      LowerSplit, LowerSlice, LowerExpand, LowerTile, LowerPad, LowerTranspose,
      LowerReshape<ReshapeOp>, LowerReshape<FlattenOp>, LowerReshape<SqueezeOp>,
      LowerReshape<UnsqueezeOp>, LowerIdentity>(types, patterns.getContext());
}

} // namespace onnxc
