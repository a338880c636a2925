// com.microsoft's operators on quantized tensors, as what the standard's say of the same numbers.
include "dialects/onnx/OnnxMicrosoft.td"

def MsDynamicQuantizeMatMulOp : MsComposite<"DynamicQuantizeMatMul"> {
  let arguments = (ins FloatTensor:$a, NumberTensor:$b, FloatTensor:$b_scale, Optional<NumberTensor>:$b_zero_point,
                   Optional<FloatTensor>:$bias);
  let results = (outs FloatTensor:$y);
  let body = [{
    Node product = dynamicProduct(a, {b, b_zero_point, b_scale});
    return {bias.given() ? product + bias : product};
  }];
}

// Rows of a quantized table. Blocks of the other dimension share a scale.
def MsGatherBlockQuantizedOp : MsComposite<"GatherBlockQuantized"> {
  let arguments = (ins QuantizedTensor:$data, PositionTensor:$indices, FloatTensor:$scales,
                   Optional<QuantizedTensor>:$zero_points, IntOr<"4">:$bits, IntOr<"128">:$block_size,
                   IntOr<"0">:$gather_axis, IntOr<"1">:$quantize_axis);
  let results = (outs FloatTensor:$output);
  let body = [{
    return {blockRows(graph, {data, scales, zero_points, indices, bits, block_size, wrap(gather_axis, rankOf(data)),
                              wrap(quantize_axis, rankOf(data))})};
  }];
}

def MsMatMulInteger16Op : MsComposite<"MatMulInteger16"> {
  let arguments = (ins NumberTensor:$a, NumberTensor:$b);
  let results = (outs NumberTensor:$y);
  let formula = "matmul(cast(a, 6), cast(b, 6))";
}

def MsMatMulIntegerToFloatOp : MsComposite<"MatMulIntegerToFloat"> {
  let arguments = (ins NumberTensor:$a, NumberTensor:$b, FloatTensor:$a_scale, FloatTensor:$b_scale,
                   Optional<NumberTensor>:$a_zero_point, Optional<NumberTensor>:$b_zero_point,
                   Optional<FloatTensor>:$bias);
  let results = (outs FloatTensor:$y);
  let body = [{
    Node product = scaledProduct({a, a_zero_point, a_scale}, {b, b_zero_point, b_scale});
    return {bias.given() ? product + bias : product};
  }];
}

// The columns of B lie in blocks that share a scale and a zero point.
def MsMatMulNBitsOp : MsComposite<"MatMulNBits"> {
  let arguments = (ins FloatTensor:$a, NumberTensor:$b, FloatTensor:$scales, Optional<NumberTensor>:$zero_points,
                   Optional<PositionTensor>:$g_idx, Optional<FloatTensor>:$bias, Int:$K, Int:$N, IntOr<"4">:$bits,
                   Int:$block_size, IntOr<"0">:$accuracy_level, IntOr<"0">:$weight_prepacked);
  let results = (outs FloatTensor:$y);
  let body = [{
    Node weights = unpackedWeights(graph, {b, scales, zero_points, g_idx, K, N, bits, block_size});
    if (graph.failed)
      return {};
    Node product = matmul(a, transpose(castLike(weights, a), {1, 0}));
    return {bias.given() ? product + bias : product};
  }];
}

def MsNhwcMaxPoolOp : MsComposite<"NhwcMaxPool"> {
  let arguments = (ins NumberTensor:$x, StringOr<"NOTSET">:$auto_pad, IntOr<"0">:$ceil_mode,
                   OptionalAttr<Ints>:$dilations, Ints:$kernel_shape, OptionalAttr<Ints>:$pads,
                   OptionalAttr<Ints>:$strides);
  let results = (outs NumberTensor:$y);
  let body = [{
    Attributes attributes = poolAttributes(auto_pad, dilations, kernel_shape, pads, strides);
    attributes.push_back({"ceil_mode", ceil_mode});
    return {channelsLast(op<MaxPoolOp>({channelsFirst(x)}, attributes))};
  }];
}

def MsQGemmOp : MsComposite<"QGemm"> {
  let arguments = (ins NumberTensor:$a, FloatTensor:$a_scale, NumberTensor:$a_zero_point, NumberTensor:$b,
                   FloatTensor:$b_scale, NumberTensor:$b_zero_point, Optional<NumberTensor>:$c,
                   Optional<FloatTensor>:$y_scale, Optional<NumberTensor>:$y_zero_point, FloatOr<"1.0f">:$alpha,
                   IntOr<"0">:$transA, IntOr<"0">:$transB);
  let results = (outs NumberTensor:$y);
  let body = [{
    Node left = transA ? transpose(a, {1, 0}) : a, right = transB ? transpose(b, {1, 0}) : b;
    Node sum = integerMatMul({left, a_zero_point, right, b_zero_point, c});
    Node scale = a_scale * b_scale;
    Node real = castLike(sum, scale) * (alpha == 1 ? scale : scale * alpha);
    return {y_scale.given() ? op<QuantizeLinearOp>({real, y_scale, y_zero_point}) : real};
  }];
}

class QLinearBinary<string type, string formula> : MsElementwise<type> {
  let arguments = (ins NumberTensor:$a, FloatTensor:$a_scale, Optional<NumberTensor>:$a_zero_point, NumberTensor:$b,
                   FloatTensor:$b_scale, Optional<NumberTensor>:$b_zero_point, FloatTensor:$c_scale,
                   Optional<NumberTensor>:$c_zero_point);
  let results = (outs NumberTensor:$c);
  let scalar = formula;
}
def MsQLinearAddOp : QLinearBinary<"QLinearAdd", [{
  quantize((dequantize(a, a_scale, a_zero_point) + dequantize(b, b_scale, b_zero_point)) / c_scale,
           either(c_zero_point, 0), true)}]>;
// The zero point is added before the rounding, which decides where halves go.
def MsQLinearMulOp : QLinearBinary<"QLinearMul", [{
  quantize((cast(a, a_scale) - cast(either(a_zero_point, 0), a_scale)) *
               (cast(b, b_scale) - cast(either(b_zero_point, 0), b_scale)) * (a_scale * b_scale / c_scale) +
               cast(either(c_zero_point, 0), c_scale), 0, true)}]>;

def MsQLinearAveragePoolOp : MsComposite<"QLinearAveragePool"> {
  let arguments = (ins NumberTensor:$x, FloatTensor:$x_scale, Optional<NumberTensor>:$x_zero_point,
                   FloatTensor:$y_scale, Optional<NumberTensor>:$y_zero_point, AutoPad:$auto_pad,
                   IntOr<"0">:$ceil_mode, IntOr<"0">:$channels_last, IntOr<"0">:$count_include_pad,
                   Ints:$kernel_shape, OptionalAttr<Ints>:$pads, OptionalAttr<Ints>:$strides);
  let results = (outs NumberTensor:$y);
  let body = [{
    Node image = channels_last ? channelsFirst(x) : x;
    Node real = op<DequantizeLinearOp>({image, x_scale, x_zero_point}), mean;
    Attributes attributes = poolAttributes(auto_pad, std::nullopt, kernel_shape, pads, strides);
    attributes.push_back({"ceil_mode", ceil_mode});
    if (ceil_mode && count_include_pad) { // all of the kernel counts, also where it reaches beyond the pads
      Attributes counting = attributes;
      counting.push_back({"p", 1});
      Node ones = expand(constantLike(1, real), shapeOf(real));
      double taps = 1;
      for (int64_t size : kernel_shape)
        taps *= size;
      mean = op<AveragePoolOp>(real, attributes) * (op<LpPoolOp>(ones, counting) / taps);
    } else {
      attributes.push_back({"count_include_pad", count_include_pad});
      mean = op<AveragePoolOp>(real, attributes);
    }
    Node zero = y_zero_point.given() ? y_zero_point : constantLike(0, image);
    Node y = op<QuantizeLinearOp>({mean, y_scale, zero});
    return {channels_last ? channelsLast(y) : y};
  }];
}

def MsQLinearConcatOp : MsComposite<"QLinearConcat"> {
  let summary = "Concat of tensors with a scale and a zero point each";
  let arguments = (ins FloatTensor:$y_scale, NumberTensor:$y_zero_point, Variadic<Tensor>:$inputs, Int:$axis);
  let results = (outs NumberTensor:$y);
  let body = [{
    if (inputs.empty() || inputs.size() % 3)
      return graph.fail("expected a tensor, a scale and a zero point each");
    llvm::SmallVector<Node> parts;
    for (size_t i = 0; i < inputs.size(); i += 3) {
      Node real = op<DequantizeLinearOp>({inputs[i], inputs[i + 1], inputs[i + 2]});
      parts.push_back(op<QuantizeLinearOp>({real, y_scale, y_zero_point}));
    }
    return {concat(parts, axis)};
  }];
}

def MsQLinearConvOp : MsComposite<"QLinearConv"> {
  let arguments = (ins NumberTensor:$x, FloatTensor:$x_scale, NumberTensor:$x_zero_point, NumberTensor:$w,
                   FloatTensor:$w_scale, NumberTensor:$w_zero_point, FloatTensor:$y_scale, NumberTensor:$y_zero_point,
                   Optional<NumberTensor>:$b, AutoPad:$auto_pad, IntOr<"0">:$channels_last,
                   OptionalAttr<Ints>:$dilations, IntOr<"1">:$group, OptionalAttr<Ints>:$kernel_shape,
                   OptionalAttr<Ints>:$pads, OptionalAttr<Ints>:$strides);
  let results = (outs NumberTensor:$y);
  let body = [{
    Node image = channels_last ? channelsFirst(x) : x;
    Node y = op<QLinearConvOp>({image, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, b},
                               windowAttributes(auto_pad, dilations, group, kernel_shape, pads, strides));
    return {channels_last ? channelsLast(y) : y};
  }];
}

// As ONNX Runtime rounds: the sum of integers times one factor.
def MsQLinearGlobalAveragePoolOp : MsComposite<"QLinearGlobalAveragePool"> {
  let arguments = (ins NumberTensor:$x, FloatTensor:$x_scale, NumberTensor:$x_zero_point, FloatTensor:$y_scale,
                   NumberTensor:$y_zero_point, IntOr<"0">:$channels_last);
  let results = (outs NumberTensor:$y);
  let body = [{
    int64_t first = channels_last ? 1 : 2, end = rankOf(x) - (channels_last ? 1 : 0);
    constexpr int64_t int32 = 6;
    Node sum = reduce<ReduceSumOp>(cast(x, int32) - cast(x_zero_point, int32), range(first, end));
    Node count = op<ReduceProdOp>(slice(shapeOf(x), 0, first, end));
    Node factor = x_scale / (y_scale * castLike(count, y_scale));
    return {op<QuantizeLinearOp>({castLike(sum, factor) * factor, 1, y_zero_point})};
  }];
}

// ONNX Runtime divides 1 in a whole number of steps.
def MsQLinearSoftmaxOp : MsComposite<"QLinearSoftmax"> {
  let summary = "Softmax of the given opset: before 13 over all dimensions from the axis on";
  let arguments = (ins NumberTensor:$x, FloatTensor:$x_scale, Optional<NumberTensor>:$x_zero_point,
                   FloatTensor:$y_scale, NumberTensor:$y_zero_point, IntOr<"-1">:$axis, Int:$opset);
  let results = (outs NumberTensor:$y);
  let body = [{
    int64_t first = axisOf(x, axis);
    Node y = softmax(op<DequantizeLinearOp>({x, x_scale, x_zero_point}),
                     range(first, opset < 13 ? rankOf(x) : first + 1));
    y = select(y == y, y, constantLike(1, y)); // quantizers give masked scores an infinite scale
    Node steps = op<FloorOp>(1 / y_scale);
    return {op<QuantizeLinearOp>({y, 1 / steps, y_zero_point})};
  }];
}

class QLinearUnary<string type, string formula> : MsElementwise<type> {
  let arguments = (ins NumberTensor:$x, FloatTensor:$x_scale, Optional<NumberTensor>:$x_zero_point,
                   FloatTensor:$y_scale, Optional<NumberTensor>:$y_zero_point, FloatOr<"0.01f">:$alpha);
  let results = (outs NumberTensor:$y);
  let scalar = "[&] { Scalar real = dequantize(x, x_scale, x_zero_point); return quantize((" # formula #
               ") / y_scale, either(y_zero_point, 0), true); }()";
}
def MsQLinearLeakyReluOp : QLinearUnary<"QLinearLeakyRelu", "select(real < 0, alpha * real, real)">;
def MsQLinearSigmoidOp : QLinearUnary<"QLinearSigmoid", "sigmoid(real)">;

def MsQLinearWhereOp : MsElementwise<"QLinearWhere"> {
  let arguments = (ins BoolTensor:$condition, NumberTensor:$x, FloatTensor:$x_scale, NumberTensor:$x_zero_point,
                   NumberTensor:$y, FloatTensor:$y_scale, NumberTensor:$y_zero_point, FloatTensor:$z_scale,
                   NumberTensor:$z_zero_point);
  let results = (outs NumberTensor:$z);
  let elementType = "x";
  let scalar = [{quantize(select(condition, dequantize(x, x_scale, x_zero_point),
                                 dequantize(y, y_scale, y_zero_point)) / z_scale, z_zero_point, true)}];
}
