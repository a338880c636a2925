// Contractions: products summed over reduction dimensions of one loop nest.
// Floats below 32 bits are summed in f32 and rounded once.
#include "dialects/onnx/Families.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/tensor/Inputs.h"
#include "lowering/tensor/Windowing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <map>
#include <set>

using namespace mlir;

namespace onnxc {
namespace {

using Exprs = SmallVector<AffineExpr>;

AffineMap mapOf(ImplicitLocOpBuilder &builder, int64_t dims,
                ArrayRef<AffineExpr> results) {
  return AffineMap::get(dims, 0, results, builder.getContext());
}

// Sums a * b over the reduction dimensions.
Value multiplyAndAdd(ImplicitLocOpBuilder &builder, Value a, Value b,
                     Type element, ArrayRef<Index> sizes,
                     ArrayRef<AffineMap> maps,
                     ArrayRef<IteratorType> iterators) {
  Type wide = computeType(element);
  Value start =
      linalg::FillOp::create(builder, zeroOf(builder, storageType(wide)),
                             emptyOf(builder, sizes, wide))
          .getResult(0);
  auto body = [](ScalarBuilder &, ArrayRef<Scalar> args) {
    return SmallVector<Scalar>{args[2] + args[0] * args[1]};
  };
  return generic(builder, {a, b}, {element, element}, start, wide, maps,
                 iterators, body)
      .front();
}

// One loop over a result in the type of the model; `inputs` are broadcast as
// their maps say.
Value finish(ImplicitLocOpBuilder &builder, ValueRange inputs,
             ArrayRef<Type> from, ArrayRef<AffineMap> maps,
             ArrayRef<Index> sizes, Type element, Body body) {
  SmallVector<AffineMap> all(maps);
  all.push_back(builder.getMultiDimIdentityMap(sizes.size()));
  return generic(builder, inputs, from, emptyOf(builder, sizes, element),
                 element, all, parallel(sizes.size()), body)
      .front();
}

Value narrowed(ImplicitLocOpBuilder &builder, Value sum, ArrayRef<Index> sizes,
               Type element) {
  Type wide = computeType(element);
  if (wide == element)
    return sum;
  auto body = [](ScalarBuilder &, ArrayRef<Scalar> args) {
    return SmallVector<Scalar>{args[0]};
  };
  return finish(builder, sum, wide,
                builder.getMultiDimIdentityMap(sizes.size()), sizes, element,
                body);
}

//===-- Matrices ----------------------------------------------------------===//

struct LowerMatMul : OpConversionPattern<MatMulOp> {
  using OpConversionPattern::OpConversionPattern;

  // Batch dimensions of an operand in terms of the result's. One that is 1 at
  // run time only is repeated in memory first.
  static LogicalResult alignBatch(ImplicitLocOpBuilder &builder, Operation *op,
                                  Input &input, ArrayRef<Index> batch,
                                  Exprs &exprs) {
    int64_t own = std::max<int64_t>(input.rank() - 2, 0);
    Sizes wanted = input.sizes;
    bool certain = true;
    for (int64_t i = 0; i < own; ++i) {
      int64_t dim = batch.size() - own + i;
      Index size = input.sizes[i];
      bool repeats = size.is(1) && !batch[dim].is(1);
      exprs.push_back(repeats ? builder.getAffineConstantExpr(0)
                              : builder.getAffineDimExpr(dim));
      if (repeats || surelyEqual(size, batch[dim]))
        continue;
      certain = false;
      wanted[i] = batch[dim];
      if (failed(require(builder, size == 1 || size == batch[dim],
                         Status::Shape, op, "batches do not broadcast",
                         "inputs")))
        return failure();
    }
    if (!certain)
      input.lowered = repeated(builder, input, wanted);
    return success();
  }

  static Value repeated(ImplicitLocOpBuilder &builder, const Input &input,
                        ArrayRef<Index> sizes) {
    Value empty = emptyOf(builder, sizes, input.element);
    auto body = [&](OpBuilder &, Location, ValueRange) {
      Sizes at;
      for (int64_t i = 0; i < input.rank(); ++i)
        at.push_back(select(input.sizes[i] == 1, 0,
                            {builder, linalg::IndexOp::create(builder, i)}));
      linalg::YieldOp::create(builder, extract(builder, input.lowered, at));
    };
    return linalg::GenericOp::create(
               builder, empty.getType(), ValueRange(), empty,
               builder.getMultiDimIdentityMap(sizes.size()),
               parallel(sizes.size()), body)
        .getResult(0);
  }

  LogicalResult
  matchAndRewrite(MatMulOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    auto shapes =
        resultSizes(cast<SizedOpInterface>(op.getOperation()), inputs);
    if (failed(shapes))
      return failure();
    Input &a = inputs[0], &b = inputs[1];
    const Sizes &sizes = shapes->front();
    int64_t rows = a.rank() > 1, columns = b.rank() > 1;
    int64_t batch = sizes.size() - rows - columns, dims = sizes.size() + 1;
    Sizes batchSizes(ArrayRef(sizes).take_front(batch));
    Exprs ofA, ofB, ofY;
    if (failed(alignBatch(builder, op, a, batchSizes, ofA)) ||
        failed(alignBatch(builder, op, b, batchSizes, ofB)))
      return failure();
    Index summed = b.sizes[b.rank() > 1 ? b.rank() - 2 : 0];
    if (failed(require(builder, a.sizes.back() == summed, Status::Shape, op,
                       "inner sizes differ", "inputs")))
      return failure();
    for (int64_t i = 0; i < int64_t(sizes.size()); ++i)
      ofY.push_back(builder.getAffineDimExpr(i));
    if (rows)
      ofA.push_back(builder.getAffineDimExpr(batch));
    AffineExpr sum = builder.getAffineDimExpr(dims - 1);
    ofA.push_back(sum);
    ofB.push_back(sum);
    if (columns)
      ofB.push_back(builder.getAffineDimExpr(dims - 2));
    SmallVector<IteratorType> iterators = parallel(dims - 1);
    iterators.push_back(IteratorType::reduction);
    Value value =
        multiplyAndAdd(builder, a.lowered, b.lowered, a.element, sizes,
                       {mapOf(builder, dims, ofA), mapOf(builder, dims, ofB),
                        mapOf(builder, dims, ofY)},
                       iterators);
    value = narrowed(builder, value, sizes, a.element);
    rewriter.replaceOp(
        op,
        castTo(builder, value, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

struct LowerGemm : OpConversionPattern<GemmOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(GemmOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    auto shapes =
        resultSizes(cast<SizedOpInterface>(op.getOperation()), inputs);
    if (failed(shapes))
      return failure();
    const Input &a = inputs[0], &b = inputs[1];
    const Sizes &sizes = shapes->front();
    bool transA = op.getTransA(), transB = op.getTransB();
    if (failed(require(builder,
                       a.sizes[transA ? 0 : 1] == b.sizes[transB ? 1 : 0],
                       Status::Shape, op, "inner sizes differ", "inputs")))
      return failure();
    AffineExpr m, n, k;
    bindDims(builder.getContext(), m, n, k);
    SmallVector<AffineMap> maps = {
        mapOf(builder, 3, transA ? Exprs{k, m} : Exprs{m, k}),
        mapOf(builder, 3, transB ? Exprs{n, k} : Exprs{k, n}),
        mapOf(builder, 3, {m, n})};
    Value sum =
        multiplyAndAdd(builder, a.lowered, b.lowered, a.element, sizes, maps,
                       {IteratorType::parallel, IteratorType::parallel,
                        IteratorType::reduction});
    FailureOr<Value> value = scaledAndAdded(builder, op, sum, inputs, sizes);
    if (failed(value))
      return failure();
    rewriter.replaceOp(
        op,
        castTo(builder, *value, getTypeConverter()->convertType(op.getType())));
    return success();
  }

  // alpha * sum + beta * c
  static FailureOr<Value> scaledAndAdded(ImplicitLocOpBuilder &builder,
                                         GemmOp op, Value sum,
                                         ArrayRef<Input> inputs,
                                         ArrayRef<Index> sizes) {
    Type element = inputs[0].element, wide = computeType(element);
    double alpha = op.getAlpha(), beta = op.getBeta();
    SmallVector<Value> operands = {sum};
    SmallVector<Type> types = {wide};
    SmallVector<AffineMap> maps = {builder.getMultiDimIdentityMap(2)};
    if (op.getC() && beta != 0) {
      const Input &c = inputs[2];
      Exprs dims;
      for (auto [i, size] : llvm::enumerate(c.sizes)) {
        int64_t dim = 2 - c.rank() + i;
        bool repeats = size.is(1) && !sizes[dim].is(1);
        dims.push_back(repeats ? builder.getAffineConstantExpr(0)
                               : builder.getAffineDimExpr(dim));
        if (!repeats &&
            failed(require(builder, size == sizes[dim], Status::Shape, op,
                           "does not broadcast", "C")))
          return failure();
      }
      operands.push_back(c.lowered);
      types.push_back(c.element);
      maps.push_back(mapOf(builder, 2, dims));
    }
    if (alpha == 1 && operands.size() == 1)
      return narrowed(builder, sum, sizes, element);
    auto body = [&](ScalarBuilder &, ArrayRef<Scalar> args) {
      Scalar y = alpha == 1 ? args[0] : alpha * args[0];
      if (operands.size() > 1)
        y = y + (beta == 1 ? args[1] : beta * args[1]);
      return SmallVector<Scalar>{y};
    };
    return finish(builder, operands, types, maps, sizes, element, body);
  }
};

//===-- Convolution -------------------------------------------------------===//

// In NHWC, between two transposes that stage `tensor` moves away. Dimensions of
// the loop: batch, image, [group], maps, kernel, [channels of the group].
struct LowerConv : OpConversionPattern<ConvOp> {
  using OpConversionPattern::OpConversionPattern;
  // Of so many channels the loop over them is unrolled in the tile.
  static constexpr int64_t shortGroup = 8;

  struct Nest {
    bool grouped;   // a loop over more groups than one
    bool depthwise; // one channel to a group
    bool oneMap;    // and one map to a group
    int64_t spatial, group, map, kernel, channel, dims;
    // Maps and channels of groups that share a vector; zero maps if none do.
    int64_t sharedMaps, sharedChannels;
  };
  static Nest nestOf(int64_t spatial, int64_t groups, Index depth, Index maps,
                     int64_t sharedMaps) {
    Nest nest;
    nest.spatial = spatial;
    nest.sharedMaps = sharedMaps;
    nest.sharedChannels = sharedMaps ? depth.get() : 0;
    nest.grouped = groups != 1 && !sharedMaps;
    nest.depthwise = groups != 1 && depth.is(1);
    nest.oneMap = nest.depthwise && maps.is(groups);
    nest.group = 1 + spatial;
    nest.map = nest.group + (nest.grouped ? 1 : 0);
    nest.kernel = nest.map + (nest.oneMap ? 0 : 1);
    nest.channel = nest.kernel + spatial;
    nest.dims = nest.channel + (nest.depthwise ? 0 : 1);
    return nest;
  }

  static SmallVector<AffineMap> mapsOf(ImplicitLocOpBuilder &builder,
                                       const Nest &nest, const Window &window) {
    auto dim = [&](int64_t i) { return builder.getAffineDimExpr(i); };
    Exprs image = {dim(0)}, weights, result = {dim(0)};
    if (nest.grouped)
      weights.push_back(dim(nest.group));
    if (!nest.oneMap)
      weights.push_back(dim(nest.map));
    if (!nest.depthwise)
      weights.push_back(dim(nest.channel));
    for (auto [i, size] : llvm::enumerate(window)) {
      image.push_back(dim(1 + i) * *size.stride.number +
                      dim(nest.kernel + i) * *size.dilation.number);
      weights.push_back(dim(nest.kernel + i));
      result.push_back(dim(1 + i));
    }
    if (nest.grouped) {
      image.push_back(dim(nest.group));
      result.push_back(dim(nest.group));
    }
    AffineExpr channel = builder.getAffineConstantExpr(0);
    if (!nest.depthwise)
      channel = dim(nest.channel);
    if (nest.sharedMaps)
      channel = dim(nest.map).floorDiv(nest.sharedMaps) * nest.sharedChannels +
                channel;
    if (nest.sharedMaps || !nest.depthwise)
      image.push_back(channel);
    if (!nest.oneMap)
      result.push_back(dim(nest.map));
    return {mapOf(builder, nest.dims, image),
            mapOf(builder, nest.dims, weights),
            mapOf(builder, nest.dims, result)};
  }

  // (M, C/G, k...) as the loop reads it: (G, M/G, C/G, k...) without ones, or
  // (M, C/G, k...) where groups share vectors.
  static Value weightsOf(ImplicitLocOpBuilder &builder, const Input &w,
                         const Nest &nest, int64_t groups) {
    if (!nest.grouped && !nest.depthwise)
      return w.lowered;
    Sizes to;
    if (nest.grouped)
      to.push_back(groups);
    if (!nest.oneMap)
      to.push_back(nest.grouped ? w.sizes[0] / groups : w.sizes[0]);
    if (!nest.depthwise)
      to.push_back(w.sizes[1]);
    llvm::append_range(to, ArrayRef(w.sizes).drop_front(2));
    return reshaped(builder, w.lowered, w.sizes, to);
  }

  static Value withBias(ImplicitLocOpBuilder &builder, Value sum,
                        const Input *bias, ArrayRef<Index> sizes,
                        Type element) {
    if (!bias)
      return narrowed(builder, sum, sizes, element);
    int64_t rank = sizes.size();
    auto body = [](ScalarBuilder &, ArrayRef<Scalar> args) {
      return SmallVector<Scalar>{args[0] + args[1]};
    };
    return finish(builder, {sum, bias->lowered},
                  {computeType(element), bias->element},
                  {builder.getMultiDimIdentityMap(rank),
                   mapOf(builder, rank, builder.getAffineDimExpr(rank - 1))},
                  sizes, element, body);
  }

  // How many maps a group has where whole groups fill a vector, so that the
  // lanes of all maps are one loop, and their channels are in one vector, too.
  // Zero otherwise.
  static int64_t mapsThatShare(ConvOp op, const Input &x, const Input &w) {
    auto target = op->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>(
        targetAttrName);
    if (!target || !x.element.isF32() || op.getGroup() == 1 ||
        !matchPattern(w.original, m_Constant()))
      return 0;
    int64_t lanes = target.getVectorBits() / 32, channels = w.sizes[1].get(),
            maps = w.sizes[0].get() / op.getGroup();
    return maps > 1 && channels <= std::min(maps, shortGroup) && lanes > maps &&
                   lanes % maps == 0
               ? maps
               : 0;
  }

  static LogicalResult requireFit(ImplicitLocOpBuilder &builder, ConvOp op,
                                  ArrayRef<Input> inputs,
                                  const Window &window) {
    const Input &x = inputs[0], &w = inputs[1];
    if (failed(require(builder, x.sizes[1] == w.sizes[1] * op.getGroup(),
                       Status::Shape, op, "channels do not fit the weights",
                       "X")) ||
        failed(require(builder, w.sizes[0] % op.getGroup() == 0, Status::Shape,
                       op, "maps are no multiple of the groups", "W")))
      return failure();
    if (op.getB() &&
        failed(require(builder, inputs[2].sizes[0] == w.sizes[0], Status::Shape,
                       op, "does not have a value for each map", "B")))
      return failure();
    for (const WindowDim &dim : window)
      if (failed(require(builder,
                         dim.reach() <= dim.image + dim.before + dim.after,
                         Status::Shape, op, "is smaller than a window", "X")))
        return failure();
    return success();
  }

  LogicalResult
  matchAndRewrite(ConvOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    auto shapes =
        resultSizes(cast<SizedOpInterface>(op.getOperation()), inputs);
    FailureOr<Window> window = op.window(inputs);
    const Input &x = inputs[0], &w = inputs[1];
    if (failed(shapes) || failed(window) ||
        failed(requireFit(builder, op, inputs, *window)))
      return failure();
    int64_t groups = op.getGroup();
    Nest nest = nestOf(window->size(), groups, w.sizes[1], w.sizes[0],
                       mapsThatShare(op, x, w));
    Sizes sizes = channelsLast(shapes->front()), grouped = sizes;
    Value image = toChannelsLast(builder, x.lowered);
    if (nest.grouped) {
      Sizes whole = channelsLast(x.sizes), apart = whole;
      apart.back() = groups;
      if (!nest.depthwise)
        apart.push_back(w.sizes[1]);
      image = reshaped(builder, image, whole, apart);
      grouped.back() = groups;
      if (!nest.oneMap)
        grouped.push_back(sizes.back() / groups);
    }
    image = padImage(builder, image, *window,
                     zeroOf(builder, storageType(x.element)));
    SmallVector<IteratorType> iterators(nest.dims, IteratorType::parallel);
    for (int64_t i = nest.kernel; i < nest.dims; ++i)
      iterators[i] = IteratorType::reduction;
    Value sum = multiplyAndAdd(
        builder, image, weightsOf(builder, w, nest, groups), x.element, grouped,
        mapsOf(builder, nest, *window), iterators);
    sum = reshaped(builder, sum, grouped, sizes);
    Value value = withBias(builder, sum, op.getB() ? &inputs[2] : nullptr,
                           sizes, x.element);
    value = toChannelsFirst(builder, value);
    rewriter.replaceOp(
        op,
        castTo(builder, value, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

//===-- Einsum ------------------------------------------------------------===//

// Two operands at a time, from the left: labels that neither the result nor a
// later operand has are summed at once. All labels in one nest would multiply
// each with each.
struct LowerEinsum : OpConversionPattern<EinsumOp> {
  using OpConversionPattern::OpConversionPattern;

  struct Term {
    Value value;
    Type element;
    Sizes sizes;
    SmallVector<int64_t> labels;
  };

  LogicalResult
  matchAndRewrite(EinsumOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    std::vector<Input> inputs = inputsOf(builder, op, adaptor.getOperands());
    auto shapes =
        resultSizes(cast<SizedOpInterface>(op.getOperation()), inputs);
    if (failed(shapes))
      return failure();
    SmallVector<int64_t> ranks;
    for (const Input &input : inputs)
      ranks.push_back(input.rank());
    EinsumLabels labels = *parseEinsum({}, op.getEquation(), ranks);
    SmallVector<Term> terms;
    for (auto [input, own] : llvm::zip(inputs, labels.operands))
      terms.push_back({input.lowered, input.element, input.sizes, own});
    Term all = terms.front();
    ArrayRef<Term> rest = ArrayRef(terms).drop_front();
    do {
      SmallVector<Term> factors = {all};
      llvm::append_range(factors, rest.take_front());
      rest = rest.drop_front(factors.size() - 1);
      FailureOr<Term> sum = contract(builder, op, factors,
                                     keptLabels(factors, rest, labels.results));
      if (failed(sum))
        return failure();
      all = *sum;
    } while (!rest.empty());
    Value sum =
        narrowed(builder, all.value, shapes->front(), inputs[0].element);
    rewriter.replaceOp(
        op,
        castTo(builder, sum, getTypeConverter()->convertType(op.getType())));
    return success();
  }

  // Labels of the result, which come first, or of a later operand. What is no
  // result yet has labels of both factors outside: batches of matrices.
  static SmallVector<int64_t>
  keptLabels(ArrayRef<Term> factors, ArrayRef<Term> later, int64_t results) {
    auto has = [](int64_t label) {
      return [label](const Term &term) {
        return llvm::is_contained(term.labels, label);
      };
    };
    std::set<int64_t> kept;
    for (const Term &factor : factors)
      for (int64_t label : factor.labels)
        if (label < results || llvm::any_of(later, has(label)))
          kept.insert(label);
    SmallVector<int64_t> ordered(kept.begin(), kept.end());
    if (!later.empty())
      std::stable_partition(ordered.begin(), ordered.end(), [&](int64_t label) {
        return llvm::all_of(factors, has(label));
      });
    return ordered;
  }

  // One loop for each label, those that are kept outside and in that order.
  static FailureOr<Term> contract(ImplicitLocOpBuilder &builder, EinsumOp op,
                                  ArrayRef<Term> factors,
                                  ArrayRef<int64_t> kept) {
    std::map<int64_t, Index> sizes; // by label
    for (const Term &factor : factors)
      for (auto [size, label] : llvm::zip(factor.sizes, factor.labels)) {
        Index &all = sizes.try_emplace(label, size).first->second;
        if (all.is(1))
          all = size;
      }
    Term result;
    result.element = computeType(factors[0].element);
    result.labels.assign(kept.begin(), kept.end());
    for (int64_t label : kept)
      result.sizes.push_back(sizes.at(label));
    SmallVector<int64_t> loops = result.labels;
    for (int64_t label : llvm::make_first_range(sizes))
      if (!llvm::is_contained(kept, label))
        loops.push_back(label);
    SmallVector<AffineMap> maps;
    SmallVector<Value> values;
    SmallVector<Type> from;
    for (const Term &factor : factors) {
      FailureOr<AffineMap> map = mapOfTerm(builder, op, factor, sizes, loops);
      if (failed(map))
        return failure();
      maps.push_back(*map);
      values.push_back(factor.value);
      from.push_back(factor.element);
    }
    Exprs outside;
    for (size_t loop = 0; loop < kept.size(); ++loop)
      outside.push_back(builder.getAffineDimExpr(loop));
    maps.push_back(mapOf(builder, loops.size(), outside));
    SmallVector<IteratorType> iterators(loops.size(), IteratorType::reduction);
    std::fill_n(iterators.begin(), kept.size(), IteratorType::parallel);
    Type wide = result.element;
    bool sums = loops.size() > kept.size();
    Value start = emptyOf(builder, result.sizes, wide);
    if (sums)
      start = linalg::FillOp::create(builder,
                                     zeroOf(builder, storageType(wide)), start)
                  .getResult(0);
    auto body = [&](ScalarBuilder &, ArrayRef<Scalar> args) {
      Scalar product = args[0];
      for (Scalar factor : args.drop_front().drop_back())
        product = product * factor;
      return SmallVector<Scalar>{sums ? args.back() + product : product};
    };
    result.value =
        generic(builder, values, from, start, wide, maps, iterators, body)
            .front();
    return result;
  }

  // How the loops, one for each label, read a term; a size of 1 repeats.
  static FailureOr<AffineMap> mapOfTerm(ImplicitLocOpBuilder &builder,
                                        EinsumOp op, const Term &term,
                                        const std::map<int64_t, Index> &sizes,
                                        ArrayRef<int64_t> loops) {
    Exprs exprs;
    for (auto [size, label] : llvm::zip(term.sizes, term.labels)) {
      Index all = sizes.at(label);
      if (size.is(1) && !all.is(1)) {
        exprs.push_back(builder.getAffineConstantExpr(0));
        continue;
      }
      if (failed(require(builder, size == all, Status::Shape, op,
                         "sizes of a label differ", "Inputs")))
        return failure();
      exprs.push_back(
          builder.getAffineDimExpr(llvm::find(loops, label) - loops.begin()));
    }
    return mapOf(builder, loops.size(), exprs);
  }
};

} // namespace

void addContractionPatterns(TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<LowerMatMul, LowerGemm, LowerConv, LowerEinsum>(
      types, patterns.getContext());
}

} // namespace onnxc
