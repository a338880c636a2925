// Operators that mix families, written in other operators. Kept whole as long as a fast lowering for the whole exists.
include "dialects/onnx/OnnxBase.td"

def AffineGridOp : CompositeOp<"AffineGrid", [20]> {
  let summary = "Where the points of an image, mapped by theta, come from";
  let arguments = (ins FloatTensor:$theta, IntTensor:$size, IntOr<"0">:$align_corners);
  let results = (outs FloatTensor:$grid);
  let body = "return affineGrid(graph, theta, size, align_corners != 0);";
}

def BatchNormalizationOp : CompositeOp<"BatchNormalization", [14, 15]> {
  let alike = [["scale", "b"], ["input_mean", "input_var"]];
  let arguments = (ins FloatTensor:$x, FloatTensor:$scale, FloatTensor:$b, FloatTensor:$input_mean,
                   FloatTensor:$input_var, FloatOr<"1e-5f">:$epsilon, FloatOr<"0.9f">:$momentum,
                   IntOr<"0">:$training_mode);
  let results = (outs FloatTensor:$y, FloatTensor:$running_mean, FloatTensor:$running_var);
  let body = [{
    int64_t rank = rankOf(x);
    Node data = wide(x);
    auto perChannel = [&](Node v) { return alignAt(castLike(v, data), 1, rank); };
    Node mean = perChannel(input_mean), var = perChannel(input_var);
    if (training_mode) {
      llvm::SmallVector<int64_t> axes = range(0, rank);
      axes.erase(axes.begin() + (rank > 1));
      mean = reduce<ReduceMeanOp>(data, axes);
      var = reduce<ReduceMeanOp>((data - mean) * (data - mean), axes);
      auto moved = [&](Node old, Node now) {
        Node flat = castLike(reshape(now, {-1}), old);
        return old * constantLike(momentum, old) + flat * constantLike(1 - momentum, old);
      };
      input_mean = moved(input_mean, mean);
      input_var = moved(input_var, var);
      mean = perChannel(reshape(mean, {-1}));
      var = perChannel(reshape(var, {-1}));
    }
    // Per channel first, so that what is left for an element is x * factor + offset.
    Node factor = perChannel(scale) / sqrt(var + epsilon);
    Node offset = perChannel(b) - mean * factor;
    return {castLike(data * factor + offset, x), input_mean, input_var};
  }];
}

def CastLikeOp : CompositeOp<"CastLike", [15, 19, 21, 23, 24, 25]> {
  let arguments = (ins Tensor:$input, Tensor:$target_type, IntOr<"1">:$saturate, RoundMode:$round_mode);
  let results = (outs Tensor:$output);
  let elementType = "target_type";
  let formula = [{op<CastOp>(input, {{"to", dataNumber(mlir::getElementTypeOrSelf(target_type.value.getType()))},
      {"saturate", saturate}, {"round_mode", round_mode}})}];
}

def DynamicQuantizeLinearOp : CompositeOp<"DynamicQuantizeLinear", [11]> {
  let arguments = (ins SingleTensor:$x);
  let results = (outs NumberTensor:$y, SingleTensor:$y_scale, NumberTensor:$y_zero_point);
  let body = "return dynamicallyQuantized(x);";
}

// Groups become a dimension of their own, the rest of the image one.
def GroupNormalizationOp : CompositeOp<"GroupNormalization", [21]> {
  let alike = [["x", "scale", "bias"]];
  let arguments = (ins FloatTensor:$x, FloatTensor:$scale, FloatTensor:$bias, Int:$num_groups,
                   FloatOr<"1e-5f">:$epsilon, IntOr<"1">:$stash_type);
  let results = (outs FloatTensor:$y);
  let body = [{
    Node groups = reshape(cast(x, stash_type), {0, num_groups, -1});
    Node centered = groups - reduce<ReduceMeanOp>(groups, {2});
    Node variance = reduce<ReduceMeanOp>(centered * centered, {2});
    Node normal = reshapeTo(centered / sqrt(variance + epsilon), shapeOf(x));
    return {castLike(normal, x) * alignAt(scale, 1, rankOf(x)) + alignAt(bias, 1, rankOf(x))};
  }];
}

def HardmaxOp : CompositeOp<"Hardmax", [13]> {
  let summary = "1 at the first of the greatest elements, 0 elsewhere";
  let arguments = (ins FloatTensor:$input, IntOr<"-1">:$axis);
  let results = (outs FloatTensor:$output);
  let formula = "castLike(position(input, axis) == op<ArgMaxOp>(input, {{\"axis\", axis}}), input)";
}

def InstanceNormalizationOp : CompositeOp<"InstanceNormalization", [1, 6, 22]> {
  let alike = [["input", "scale", "b"]];
  let arguments = (ins FloatTensor:$input, FloatTensor:$scale, FloatTensor:$b, FloatOr<"1e-5f">:$epsilon);
  let results = (outs FloatTensor:$output);
  let body = [{
    int64_t rank = rankOf(input);
    Node x = wide(input), centered = x - reduce<ReduceMeanOp>(x, range(2, rank));
    Node variance = reduce<ReduceMeanOp>(centered * centered, range(2, rank));
    Node factor = alignAt(wide(scale), 1, rank) / sqrt(variance + epsilon);
    return {castLike(centered * factor + alignAt(wide(b), 1, rank), input)};
  }];
}

def LayerNormalizationOp : CompositeOp<"LayerNormalization", [1, 17]> {
  let alike = [["x", "scale", "b"]];
  let arguments = (ins FloatTensor:$x, FloatTensor:$scale, Optional<FloatTensor>:$b, IntOr<"-1">:$axis,
                   FloatOr<"1e-5f">:$epsilon, IntOr<"1">:$stash_type);
  let results = (outs FloatTensor:$y, FloatTensor:$mean, FloatTensor:$inv_std_dev);
  let body = [{
    auto axes = range(axisOf(x, axis), rankOf(x));
    Node stash = cast(x, stash_type);
    Node mean = reduce<ReduceMeanOp>(stash, axes);
    Node centered = stash - mean;
    Node inverse = 1 / sqrt(reduce<ReduceMeanOp>(centered * centered, axes) + epsilon);
    Node y = castLike(centered * inverse, x) * scale;
    return {b.given() ? y + b : y, mean, inverse};
  }];
}

def LogSoftmaxOp : CompositeOp<"LogSoftmax", [13]> {
  let arguments = (ins FloatTensor:$input, IntOr<"-1">:$axis);
  let results = (outs FloatTensor:$output);
  let formula = "castLike(logSoftmax(wide(input), {axis}), input)";
}

def LpNormalizationOp : CompositeOp<"LpNormalization", [1, 22]> {
  let arguments = (ins FloatTensor:$input, IntOr<"-1">:$axis, IntOr<"2">:$p);
  let results = (outs FloatTensor:$output);
  let body = [{
    llvm::ArrayRef<int64_t> axes = axis;
    Node norm = p == 1 ? reduce<ReduceL1Op>(input, axes) : reduce<ReduceL2Op>(input, axes);
    return {select(norm == 0, constantLike(0, input), input / norm)};
  }];
}

def MeanVarianceNormalizationOp : CompositeOp<"MeanVarianceNormalization", [9, 13]> {
  let arguments = (ins FloatTensor:$x, IntsOr<"{0, 2, 3}">:$axes);
  let results = (outs FloatTensor:$y);
  let body = [{
    Node data = wide(x), centered = data - reduce<ReduceMeanOp>(data, axes);
    return {castLike(centered / (sqrt(reduce<ReduceMeanOp>(centered * centered, axes)) + 1e-9), x)};
  }];
}

def NegativeLogLikelihoodLossOp : CompositeOp<"NegativeLogLikelihoodLoss", [12, 13, 22]> {
  let alike = [["input", "weight"]];
  let arguments = (ins FloatTensor:$input, PositionTensor:$target, Optional<FloatTensor>:$weight,
                   OptionalAttr<Int>:$ignore_index, LossReduction:$reduction);
  let results = (outs FloatTensor:$loss);
  let formula = "logLikelihoodLoss(input, target, weight, ignore_index, reduction)";
}

def OneHotOp : CompositeOp<"OneHot", [9, 11]> {
  let arguments = (ins NumberTensor:$indices, NumberTensor:$depth, Tensor:$values, IntOr<"-1">:$axis);
  let results = (outs Tensor:$output);
  let elementType = "values";
  let body = [{
    int64_t rank = rankOf(indices) + 1, at = wrap(axis, rank);
    if (at < 0 || at >= rank)
      return graph.fail("'axis' is outside of the rank");
    if (isSurelyNegative(depth))
      return graph.fail("'depth' is negative");
    Node index = cast(indices, 7), length = scalar(cast(depth, 7));
    index = unsqueeze(select(index < 0, index + length, index), {at});
    Node hot = index == alignAt(range(0, length, 1), at, rank);
    auto value = [&](int64_t i) { return gather(values, scalar(graph.ints({i})), 0); };
    return {select(hot, value(1), value(0))};
  }];
}

def ReduceLogSumExpOp : CompositeOp<"ReduceLogSumExp", [18]> {
  let arguments = (ins WideTensor:$data, Optional<IntTensor>:$axes, IntOr<"1">:$keepdims,
                   IntOr<"0">:$noop_with_empty_axes);
  let results = (outs WideTensor:$reduced);
  let body = [{
    Node x = wide(data);
    Attributes kept = {{"noop_with_empty_axes", noop_with_empty_axes}}, over = kept;
    over.push_back({"keepdims", keepdims});
    // A highest element that is infinite must not be subtracted from itself.
    auto finite = [](Node highest) {
      return select(op<IsInfOp>(highest), constantLike(0, highest), highest);
    };
    Node sum = op<ReduceSumOp>({exp(x - finite(op<ReduceMaxOp>({x, axes}, kept))), axes}, over);
    return {castLike(op<LogOp>(sum) + finite(op<ReduceMaxOp>({x, axes}, over)), data)};
  }];
}

def RMSNormalizationOp : CompositeOp<"RMSNormalization", [23]> {
  let arguments = (ins FloatTensor:$x, FloatTensor:$scale, IntOr<"-1">:$axis, FloatOr<"1e-5f">:$epsilon,
                   IntOr<"1">:$stash_type);
  let results = (outs FloatTensor:$y);
  let formula = "rmsNormalization(x, scale, axis, epsilon).front()";
}

def SoftmaxOp : CompositeOp<"Softmax", [13]> {
  let arguments = (ins FloatTensor:$input, IntOr<"-1">:$axis);
  let results = (outs FloatTensor:$output);
  let formula = "castLike(softmax(wide(input), {axis}), input)";
}

def SoftmaxCrossEntropyLossOp : CompositeOp<"SoftmaxCrossEntropyLoss", [12, 13]> {
  let alike = [["scores", "weights"]];
  let arguments = (ins FloatTensor:$scores, PositionTensor:$labels, Optional<FloatTensor>:$weights,
                   OptionalAttr<Int>:$ignore_index, LossReduction:$reduction);
  let results = (outs FloatTensor:$loss, FloatTensor:$log_prob);
  let body = [{
    Node likely = castLike(logSoftmax(wide(scores), {1}), scores);
    return {logLikelihoodLoss(likely, labels, weights, ignore_index, reduction), likely};
  }];
}

def TfIdfVectorizerOp : CompositeOp<"TfIdfVectorizer", [9]> {
  let summary = "Counts the n-grams of a pool";
  let arguments = (ins Elements<[I32, I64, StringElement]>:$x, Int:$max_gram_length, Int:$max_skip_count,
                   Int:$min_gram_length, OneOf<["TF", "IDF", "TFIDF"]>:$mode,
                   Ints:$ngram_counts, Ints:$ngram_indexes, OptionalAttr<Ints>:$pool_int64s,
                   OptionalAttr<StrArrayAttr>:$pool_strings, OptionalAttr<Floats>:$weights);
  let results = (outs FloatTensor:$y);
  let elementType = "mlir::Float32Type::get(context)";
  let body = [{
    if (!pool_int64s)
      return graph.fail("a pool of strings is not supported");
    return countNGrams(graph, x, {min_gram_length, max_gram_length, max_skip_count, ngram_counts, ngram_indexes,
                                  *pool_int64s, weights.value_or(llvm::ArrayRef<float>()), mode});
  }];
}

// Windows: a sum of cosines over `size` samples of a period.
class Window<string type, string first, string second, string third> : CompositeOp<type, [17]> {
  let arguments = (ins PositionTensor:$size, IntOr<"1">:$output_datatype, IntOr<"1">:$periodic);
  let results = (outs NumberTensor:$output);
  let formula = "cast(cosineWindow(size, periodic, {" # first # ", " # second # ", " # third # "}), output_datatype)";
}
def BlackmanWindowOp : Window<"BlackmanWindow", "0.42", "0.5", "0.08">;
def HammingWindowOp : Window<"HammingWindow", "25.0 / 46", "21.0 / 46", "0">;
def HannWindowOp : Window<"HannWindow", "0.5", "0.5", "0">;
