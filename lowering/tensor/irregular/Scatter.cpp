// ScatterElements, ScatterND and TensorScatter: a copy of the data, into which
// updates are written one after another, slices as a whole. WriteSlice is one
// such slice.
#include "dialects/onnx/Families.h"
#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/irregular/Loops.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
namespace {

Scalar reduced(StringRef reduction, Scalar old, Scalar update) {
  if (reduction == "add")
    return old + update;
  if (reduction == "mul")
    return old * update;
  if (reduction == "max")
    return greatest(old, update);
  if (reduction == "min")
    return least(old, update);
  return update;
}

// `target` tells where an update goes.
Value scattered(ImplicitLocOpBuilder &builder, const Input &data,
                const Input &updates, StringRef reduction,
                llvm::function_ref<Sizes(ArrayRef<Index>)> target) {
  auto write = [&](ArrayRef<Index> at, Tensors carried) {
    Sizes to = target(at);
    if (reduction == "none")
      return Tensors{insert(builder, extract(builder, updates.lowered, at),
                            carried[0], to)};
    ScalarBuilder scalars(builder, builder.getLoc(), data.element);
    Scalar old = scalarAt(scalars, carried[0], data.element, to),
           update = scalarAt(scalars, updates.lowered, updates.element, at);
    Value element =
        store(scalars, reduced(reduction, old, update), data.element);
    return Tensors{insert(builder, element, carried[0], to)};
  };
  return visit(builder, updates.sizes, {data.lowered}, write)[0];
}

// The last dimensions of a tensor, of these sizes, at a position in the first.
struct Slice {
  SmallVector<OpFoldResult> offsets, sizes, steps;
  int64_t rank;

  Slice(ImplicitLocOpBuilder &builder, ArrayRef<Index> at, ArrayRef<Index> rest)
      : offsets(folded(builder, at)), sizes(at.size(), builder.getIndexAttr(1)),
        rank(rest.size()) {
    offsets.append(rank, builder.getIndexAttr(0));
    llvm::append_range(sizes, folded(builder, rest));
    steps.assign(sizes.size(), builder.getIndexAttr(1));
  }
  Value from(ImplicitLocOpBuilder &builder, Value tensor) const {
    auto type = tensor::ExtractSliceOp::inferCanonicalRankReducedResultType(
        rank, cast<RankedTensorType>(tensor.getType()), sizes);
    return tensor::ExtractSliceOp::create(builder, cast<RankedTensorType>(type),
                                          tensor, offsets, sizes, steps);
  }
  Value into(ImplicitLocOpBuilder &builder, Value tensor, Value slice) const {
    return tensor::InsertSliceOp::create(builder, slice, tensor, offsets, sizes,
                                         steps);
  }
};

// The same where the updates behind their first `outer` dimensions are slices.
Value scatteredSlices(ImplicitLocOpBuilder &builder, const Input &data,
                      const Input &updates, StringRef reduction, int64_t outer,
                      llvm::function_ref<Sizes(ArrayRef<Index>)> target) {
  ArrayRef<Index> rest = ArrayRef(updates.sizes).drop_front(outer);
  auto combine = [&](ScalarBuilder &, ArrayRef<Scalar> args) {
    return SmallVector<Scalar>{reduced(reduction, args[1], args[0])};
  };
  auto write = [&](ArrayRef<Index> at, Tensors carried) {
    Slice to(builder, target(at), rest);
    Value update = Slice(builder, at, rest).from(builder, updates.lowered);
    if (reduction != "none") {
      SmallVector<AffineMap> maps(2,
                                  builder.getMultiDimIdentityMap(rest.size()));
      update = generic(builder, update, updates.element,
                       to.from(builder, carried[0]), data.element, maps,
                       parallel(rest.size()), combine)[0];
    }
    return Tensors{to.into(builder, carried[0], update)};
  };
  return visit(builder, ArrayRef(updates.sizes).take_front(outer),
               {data.lowered}, write)[0];
}

template <typename Op> struct LowerScatter : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  virtual FailureOr<Value> lower(Op op, ImplicitLocOpBuilder &builder,
                                 ArrayRef<Input> inputs) const = 0;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    if (failed(resultSizes(cast<SizedOpInterface>(op.getOperation()), inputs)))
      return failure();
    FailureOr<Value> value = lower(op, builder, inputs);
    if (failed(value))
      return failure();
    rewriter.replaceOp(op, castTo(builder, *value,
                                  this->getTypeConverter()->convertType(
                                      op->getResult(0).getType())));
    return success();
  }
};

struct LowerScatterElements : LowerScatter<ScatterElementsOp> {
  using LowerScatter::LowerScatter;
  FailureOr<Value> lower(ScatterElementsOp op, ImplicitLocOpBuilder &builder,
                         ArrayRef<Input> inputs) const override {
    const Input &data = inputs[0], &indices = inputs[1], &updates = inputs[2];
    int64_t axis = wrap(op.getAxis(), data.rank());
    Index size = data.sizes[axis];
    auto inside = [&](Index element, ArrayRef<Index>) {
      return element >= 0 - size && element < size;
    };
    if (failed(requireAll(builder, indices, inside, Status::Index, op,
                          "an index is outside the data", "indices")))
      return failure();
    for (int64_t i = 0; i < data.rank(); ++i)
      if (failed(require(builder, updates.sizes[i] == indices.sizes[i],
                         Status::Shape, op, "differs from the indices",
                         "updates")) ||
          (i != axis &&
           failed(require(builder, indices.sizes[i] <= data.sizes[i],
                          Status::Shape, op, "is larger than the data",
                          "indices"))))
        return failure();
    return scattered(builder, data, updates, op.getReduction(),
                     [&](ArrayRef<Index> at) {
                       Sizes to(at);
                       to[axis] = fromEnd(indices.at(at), size);
                       return to;
                     });
  }
};

struct LowerScatterND : LowerScatter<ScatterNDOp> {
  using LowerScatter::LowerScatter;
  FailureOr<Value> lower(ScatterNDOp op, ImplicitLocOpBuilder &builder,
                         ArrayRef<Input> inputs) const override {
    const Input &data = inputs[0], &indices = inputs[1], &updates = inputs[2];
    int64_t depth = ScatterNDOp::depth(inputs), outer = indices.rank() - 1;
    if (failed(require(builder, indices.sizes.back() == depth, Status::Shape,
                       op, "does not fit the ranks of data and updates",
                       "indices")))
      return failure();
    auto inside = [&](Index element, ArrayRef<Index> at) {
      Index size = data.sizes[0];
      for (int64_t i = 1; i < depth; ++i)
        size = select(at.back() == i, data.sizes[i], size);
      return element >= 0 - size && element < size;
    };
    if (depth > 0 &&
        failed(requireAll(builder, indices, inside, Status::Index, op,
                          "an index is outside the data", "indices")))
      return failure();
    for (int64_t i = 0; i < updates.rank(); ++i) {
      Index wanted =
          i < outer ? indices.sizes[i] : data.sizes[depth + i - outer];
      if (failed(require(builder, updates.sizes[i] == wanted, Status::Shape, op,
                         "does not fit indices and data", "updates")))
        return failure();
    }
    auto target = [&](ArrayRef<Index> at) {
      Sizes to, position(at.take_front(outer));
      position.push_back(0);
      for (int64_t i = 0; i < depth; ++i) {
        position.back() = i;
        to.push_back(fromEnd(indices.at(position), data.sizes[i]));
      }
      llvm::append_range(to, at.drop_front(outer));
      return to;
    };
    if (updates.rank() > outer)
      return scatteredSlices(builder, data, updates, op.getReduction(), outer,
                             target);
    return scattered(builder, data, updates, op.getReduction(), target);
  }
};

struct LowerTensorScatter : LowerScatter<TensorScatterOp> {
  using LowerScatter::LowerScatter;
  FailureOr<Value> lower(TensorScatterOp op, ImplicitLocOpBuilder &builder,
                         ArrayRef<Input> inputs) const override {
    const Input &past = inputs[0], &update = inputs[1];
    int64_t axis = wrap(op.getAxis(), past.rank());
    bool circular = op.getMode() == "circular";
    Index size = past.sizes[axis], count = update.sizes[axis];
    auto inside = [&](Index first, ArrayRef<Index>) {
      return first >= 0 && (circular ? first < size : first + count <= size);
    };
    if (failed(require(builder, count <= size, Status::Shape, op,
                       "is longer than the cache", "update")))
      return failure();
    for (int64_t i = 0; i < past.rank(); ++i)
      if (i != axis && failed(require(builder, update.sizes[i] == past.sizes[i],
                                      Status::Shape, op,
                                      "does not fit the cache", "update")))
        return failure();
    if (op.getWriteIndices() &&
        (failed(require(builder, inputs[2].sizes[0] == past.sizes[0],
                        Status::Shape, op, "needs one value for each batch",
                        "write_indices")) ||
         failed(requireAll(builder, inputs[2], inside, Status::Index, op,
                           "is outside the cache", "write_indices"))))
      return failure();
    return scattered(builder, past, update, "none", [&](ArrayRef<Index> at) {
      Sizes to(at);
      Index first = op.getWriteIndices() ? inputs[2].at({at[0]}) : Index(0);
      to[axis] = first + at[axis];
      if (circular)
        to[axis] = to[axis] % size;
      return to;
    });
  }
};

struct LowerWriteSlice : LowerScatter<WriteSliceOp> {
  using LowerScatter::LowerScatter;
  FailureOr<Value> lower(WriteSliceOp op, ImplicitLocOpBuilder &builder,
                         ArrayRef<Input> inputs) const override {
    return tensor::InsertSliceOp::create(
               builder, inputs[1].lowered, inputs[0].lowered,
               folded(builder, sizesOf(op.getStarts())),
               folded(builder, inputs[1].sizes),
               folded(builder, sizesOf(op.getSteps())))
        .getResult();
  }
};

} // namespace

void addScatterPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerScatterElements, LowerScatterND, LowerTensorScatter,
               LowerWriteSlice>(types, patterns.getContext());
}

} // namespace onnxc
