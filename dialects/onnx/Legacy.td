// Superseded forms of operators, in today's operators. `consumed_inputs`, a hint until opset 5, never gets here.
include "dialects/onnx/OnnxBase.td"

// Broadcasting by attribute: b's first dimension meets a's dimension `axis`.
foreach type = ["Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor"] in
  def type # "1Op" : LegacyOp<type, [1, 6]> {
    let arguments = (ins Tensor:$a, Tensor:$b, OptionalAttr<Int>:$axis, IntOr<"0">:$broadcast);
    let results = (outs Tensor:$c);
    let formula = "op<" # type # "Op>({a, alignAt(b, wrap(axis.value_or(rankOf(a) - rankOf(b)), rankOf(a)), rankOf(a))})";
  }

def BatchNormalization1Op : LegacyOp<"BatchNormalization", [1, 6, 7, 9]> {
  let arguments = (ins FloatTensor:$x, FloatTensor:$scale, FloatTensor:$b, FloatTensor:$mean, FloatTensor:$var,
                   FloatOr<"1e-5f">:$epsilon, FloatOr<"0.9f">:$momentum, IntOr<"1">:$is_test, IntOr<"1">:$spatial);
  let results = (outs FloatTensor:$y, FloatTensor:$mean_out, FloatTensor:$var_out, FloatTensor:$saved_mean,
                 FloatTensor:$saved_var);
  let body = [{
    Node y = spatial ? op<BatchNormalizationOp>({x, scale, b, mean, var}, {{"epsilon", epsilon}})
                     : (x - mean) / sqrt(var + epsilon) * scale + b;
    return {y, mean, var, mean, var};
  }];
}

// The type by its name in TensorProto.DataType.
def Cast1Op : LegacyOp<"Cast", [1]> {
  let arguments = (ins Tensor:$input, String:$to);
  let results = (outs Tensor:$output);
  let body = [{
    int64_t number = dataNumber(to);
    if (number == 0)
      return graph.fail("there is no type '" + to + "'");
    return {op<CastOp>(input, {{"to", number}})};
  }];
}

def Clip1Op : LegacyOp<"Clip", [1, 6]> {
  let arguments = (ins FloatTensor:$input, FloatOr<"-std::numeric_limits<float>::max()">:$min,
                   FloatOr<"std::numeric_limits<float>::max()">:$max);
  let results = (outs FloatTensor:$output);
  let formula = "op<ClipOp>({input, constantLike(min, input), constantLike(max, input)})";
}

// The mask had the type of the data until opset 10.
def Dropout1Op : LegacyOp<"Dropout", [1, 6, 7]> {
  let arguments = (ins FloatTensor:$data, FloatOr<"0.5f">:$ratio, IntOr<"0">:$is_test);
  let results = (outs FloatTensor:$output, FloatTensor:$mask);
  let body = [{
    auto results = ops<DropoutOp>(data);
    return {results[0], castLike(results[1], data)};
  }];
}
def Dropout10Op : LegacyOp<"Dropout", [10]> {
  let arguments = (ins FloatTensor:$data, FloatOr<"0.5f">:$ratio);
  let results = (outs FloatTensor:$output, BoolTensor:$mask);
  let body = "return ops<DropoutOp>(data);";
}

// Scale and bias per group.
def GroupNormalization18Op : LegacyOp<"GroupNormalization", [18]> {
  let arguments = (ins FloatTensor:$x, FloatTensor:$scale, FloatTensor:$bias, Int:$num_groups,
                   FloatOr<"1e-5f">:$epsilon);
  let results = (outs FloatTensor:$y);
  let body = [{
    Node groups = reshape(wide(x), {0, num_groups, -1});
    Node centered = groups - reduce<ReduceMeanOp>(groups, {2});
    Node variance = reduce<ReduceMeanOp>(centered * centered, {2});
    Node normal = castLike(centered / sqrt(variance + epsilon), x);
    return {reshapeTo(normal * alignAt(scale, 1, 3) + alignAt(bias, 1, 3), shapeOf(x))};
  }];
}

// The slope of a channel.
def PRelu1Op : LegacyOp<"PRelu", [1, 6]> {
  let arguments = (ins FloatTensor:$x, FloatTensor:$slope);
  let results = (outs FloatTensor:$y);
  let formula = "op<PReluOp>({x, rankOf(slope) == 1 && rankOf(x) > 1 ? alignAt(slope, 1, rankOf(x)) : slope})";
}

// Axes as an attribute.
class ReduceByAttribute<string type, list<int> versions> : LegacyOp<"Reduce" # type, versions> {
  let arguments = (ins NumberTensor:$data, OptionalAttr<Ints>:$axes, IntOr<"1">:$keepdims);
  let results = (outs NumberTensor:$reduced);
  let formula = "op<Reduce" # type # [{Op>({data, axes ? graph.ints(*axes) : Node()}, {{"keepdims", keepdims}})}];
}
foreach type = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare"] in
  def "Reduce" # type # "1Op" : ReduceByAttribute<type, [1, 11, 12, 13]>;
def ReduceSum1Op : ReduceByAttribute<"Sum", [1, 11]>;

def Reshape1Op : LegacyOp<"Reshape", [1]> {
  let arguments = (ins Tensor:$data, IntsOr<"{}">:$shape);
  let results = (outs Tensor:$reshaped);
  let formula = "op<ReshapeOp>({data, graph.ints(shape)})";
}

// A Scan for each sequence of a batch, which may end before the longest.
def Scan8Op : CompositeOp<"Scan", [8], [DeclareOpInterfaceMethods<SubgraphOpInterface>]> {
  let opName = "Scan.8";
  let family = "legacy";
  let arguments = (ins Optional<IntTensor>:$sequence_lens, Variadic<AnyType>:$inputs, Int:$num_scan_inputs,
                   IntsOr<"{}">:$directions);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let body = "return batchedScan(graph, {sequence_lens, inputs, num_scan_inputs, directions, adaptor.getBody()});";
}

// All dimensions from `axis` on are one.
foreach type = ["Softmax", "LogSoftmax"] in
  def type # "1Op" : LegacyOp<type, [1, 11]> {
    let arguments = (ins FloatTensor:$input, IntOr<"1">:$axis);
    let results = (outs FloatTensor:$output);
    let formula = "castLike(" # !if(!eq(type, "Softmax"), "softmax", "logSoftmax")
                  # "(wide(input), range(axisOf(input, axis), rankOf(input))), input)";
  }

def Hardmax1Op : LegacyOp<"Hardmax", [1, 11]> {
  let arguments = (ins FloatTensor:$input, IntOr<"1">:$axis);
  let results = (outs FloatTensor:$output);
  let body = [{
    llvm::SmallVector<int64_t> sizes(axisOf(input, axis), 0);
    sizes.push_back(-1);
    return {reshapeTo(op<HardmaxOp>(reshape(input, sizes)), shapeOf(input))};
  }];
}

// The scales as attributes: of all dimensions, or of an image's.
def Upsample7Op : LegacyOp<"Upsample", [7]> {
  let arguments = (ins Tensor:$x, Floats:$scales, StringOr<"nearest">:$mode);
  let results = (outs Tensor:$y);
  let formula = [{op<Upsample9Op>({x, graph.floats(scales)}, {{"mode", mode}})}];
}
def Upsample1Op : LegacyOp<"Upsample", [1]> {
  let arguments = (ins Tensor:$x, Float:$height_scale, Float:$width_scale, StringOr<"nearest">:$mode);
  let results = (outs Tensor:$y);
  let formula = [{op<Upsample9Op>({x, graph.floats({1, 1, float(height_scale), float(width_scale)})},
                                  {{"mode", mode == "bilinear" ? "linear" : mode}})}];
}
def Upsample9Op : LegacyOp<"Upsample", [9, 10]> {
  let arguments = (ins Tensor:$x, FloatTensor:$scales, ResizeMode:$mode);
  let results = (outs Tensor:$y);
  let formula = [{op<ResizeOp>({x, Node(), scales}, {{"mode", mode},
      {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}})}];
}
