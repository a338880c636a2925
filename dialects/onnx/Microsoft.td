// Operators of ONNX Runtime's domain com.microsoft that exporters write.
include "dialects/onnx/OnnxElementwise.td"

class MsComposite<string type> : CompositeOp<type, [1]> {
  let opName = "ms." # type;
  let domain = "com.microsoft";
}
class MsElementwise<string type> : ElementwiseOp<type, [1]> {
  let opName = "ms." # type;
  let domain = "com.microsoft";
}

def MsBiasGeluOp : MsElementwise<"BiasGelu"> {
  let arguments = (ins FloatTensor:$a, FloatTensor:$b);
  let results = (outs FloatTensor:$c);
  let scalar = "gelu(a + b)";
}

def MsEmbedLayerNormalizationOp : MsComposite<"EmbedLayerNormalization"> {
  let arguments = (ins PositionTensor:$input_ids, Optional<PositionTensor>:$segment_ids, FloatTensor:$word_embedding,
                   FloatTensor:$position_embedding, Optional<FloatTensor>:$segment_embedding, FloatTensor:$gamma,
                   FloatTensor:$beta, Optional<PositionTensor>:$mask, Optional<PositionTensor>:$position_ids,
                   FloatOr<"1e-12f">:$epsilon, IntOr<"0">:$mask_index_type);
  let results = (outs FloatTensor:$output, PositionTensor:$mask_index, FloatTensor:$embedding_sum);
  let body = [{
    Node place = position_ids.given() ? position_ids : position(input_ids, 1);
    Node sum = gather(word_embedding, input_ids, 0) + gather(position_embedding, place, 0);
    if (segment_embedding.given() && segment_ids.given())
      sum = sum + gather(segment_embedding, segment_ids, 0);
    Node y = op<LayerNormalizationOp>({sum, gamma, beta}, {{"epsilon", epsilon}});
    Node counted = cast(mask.given() ? mask : input_ids * 0, 6);
    Node length = op<ReduceSumOp>({counted, graph.ints(1)}, {{"keepdims", 0}});
    return {y, length, sum};
  }];
}

def MsFastGeluOp : MsElementwise<"FastGelu"> {
  let arguments = (ins FloatTensor:$x, Optional<FloatTensor>:$bias);
  let results = (outs FloatTensor:$y);
  let scalar = "tanhGelu(bias.isGiven() ? x + bias : x)";
}

def MsFusedMatMulOp : MsComposite<"FusedMatMul"> {
  let arguments = (ins FloatTensor:$a, FloatTensor:$b, FloatOr<"1.0f">:$alpha, IntOr<"0">:$transA, IntOr<"0">:$transB,
                   IntOr<"0">:$transBatchA, IntOr<"0">:$transBatchB);
  let results = (outs FloatTensor:$y);
  let body = [{
    if (transBatchA || transBatchB)
      return graph.fail("batch dimensions cannot be transposed");
    auto turned = [](Node x) {
      llvm::SmallVector<int64_t> permutation = range(0, rankOf(x));
      if (permutation.size() > 1)
        std::swap(permutation.back(), permutation[permutation.size() - 2]);
      return transpose(x, permutation);
    };
    Node product = matmul(transA ? turned(a) : a, transB ? turned(b) : b);
    return {alpha == 1 ? product : product * constantLike(alpha, product)};
  }];
}

def MsGeluOp : MsElementwise<"Gelu"> {
  let arguments = (ins FloatTensor:$x);
  let results = (outs FloatTensor:$y);
  let scalar = "gelu(x)";
}

class QLinearBinary<string type, string operation> : MsElementwise<type> {
  let arguments = (ins NumberTensor:$a, FloatTensor:$a_scale, Optional<NumberTensor>:$a_zero_point, NumberTensor:$b,
                   FloatTensor:$b_scale, Optional<NumberTensor>:$b_zero_point, FloatTensor:$c_scale,
                   Optional<NumberTensor>:$c_zero_point);
  let results = (outs NumberTensor:$c);
  let scalar = "quantize((dequantize(a, a_scale, a_zero_point) " # operation #
               " dequantize(b, b_scale, b_zero_point)) / c_scale, either(c_zero_point, 0), true)";
}
def MsQLinearAddOp : QLinearBinary<"QLinearAdd", "+">;
def MsQLinearMulOp : QLinearBinary<"QLinearMul", "*">;

class QLinearUnary<string type, string formula> : MsElementwise<type> {
  let arguments = (ins NumberTensor:$x, FloatTensor:$x_scale, Optional<NumberTensor>:$x_zero_point,
                   FloatTensor:$y_scale, Optional<NumberTensor>:$y_zero_point, FloatOr<"0.01f">:$alpha);
  let results = (outs NumberTensor:$y);
  let scalar = "[&] { Scalar real = dequantize(x, x_scale, x_zero_point); return quantize((" # formula #
               ") / y_scale, either(y_zero_point, 0), true); }()";
}
def MsQLinearLeakyReluOp : QLinearUnary<"QLinearLeakyRelu", "select(real < 0, alpha * real, real)">;
def MsQLinearSigmoidOp : QLinearUnary<"QLinearSigmoid", "sigmoid(real)">;

def MsQuickGeluOp : MsElementwise<"QuickGelu"> {
  let arguments = (ins FloatTensor:$x, FloatOr<"1.702f">:$alpha);
  let results = (outs FloatTensor:$y);
  let scalar = "x * sigmoid(alpha * x)";
}

// ONNX Runtime registers it in the default domain; some models name the other.
class SimplifiedLayerNormalization : CompositeOp<"SimplifiedLayerNormalization", [1]> {
  let arguments = (ins FloatTensor:$x, FloatTensor:$scale, IntOr<"-1">:$axis, FloatOr<"1e-5f">:$epsilon,
                   IntOr<"1">:$stash_type);
  let results = (outs FloatTensor:$y, FloatTensor:$inv_std_var);
  let body = "return rmsNormalization(x, scale, axis, epsilon);";
}
def SimplifiedLayerNormalizationOp : SimplifiedLayerNormalization;
def MsSimplifiedLayerNormalizationOp : SimplifiedLayerNormalization {
  let opName = "ms.SimplifiedLayerNormalization";
  let domain = "com.microsoft";
}

def MsSkipLayerNormalizationOp : MsComposite<"SkipLayerNormalization"> {
  let arguments = (ins FloatTensor:$input, FloatTensor:$skip, FloatTensor:$gamma, Optional<FloatTensor>:$beta,
                   Optional<FloatTensor>:$bias, FloatOr<"1e-12f">:$epsilon);
  let results = (outs FloatTensor:$output, FloatTensor:$mean, FloatTensor:$inv_std_var, FloatTensor:$input_skip_bias_sum);
  let body = [{
    Node sum = bias.given() ? input + skip + bias : input + skip;
    auto y = ops<LayerNormalizationOp>({sum, gamma, beta}, {{"epsilon", epsilon}});
    if (graph.failed)
      return {};
    return {y[0], y[1], y[2], sum};
  }];
}

def MsSkipSimplifiedLayerNormalizationOp : MsComposite<"SkipSimplifiedLayerNormalization"> {
  let arguments = (ins FloatTensor:$input, FloatTensor:$skip, FloatTensor:$gamma, Optional<FloatTensor>:$bias,
                   FloatOr<"1e-12f">:$epsilon);
  let results = (outs FloatTensor:$output, FloatTensor:$mean, FloatTensor:$inv_std_var, FloatTensor:$input_skip_bias_sum);
  let body = [{
    Node sum = bias.given() ? input + skip + bias : input + skip;
    auto y = rmsNormalization(sum, gamma, -1, epsilon);
    return {y[0], y[1], y[1], sum};
  }];
}

def MsAttentionOp : MsComposite<"Attention"> {
  let arguments = (ins FloatTensor:$input, FloatTensor:$weights, Optional<FloatTensor>:$bias,
                   Optional<PositionTensor>:$mask_index, Optional<FloatTensor>:$past,
                   Int:$num_heads, IntOr<"0">:$unidirectional, FloatOr<"-10000.0f">:$mask_filter_value,
                   OptionalAttr<Float>:$scale);
  let results = (outs FloatTensor:$output, FloatTensor:$present);
  let body = [{
    return projectedAttention(graph, {input, weights, bias, mask_index, past, num_heads, unidirectional != 0, scale});
  }];
}

// The keys of the past fill their tensor; the lengths hide what is beyond.
def MsGroupQueryAttentionOp : MsComposite<"GroupQueryAttention"> {
  let arguments = (ins FloatTensor:$query, Optional<FloatTensor>:$key, Optional<FloatTensor>:$value,
                   Optional<FloatTensor>:$past_key, Optional<FloatTensor>:$past_value, PositionTensor:$seqlens_k,
                   PositionTensor:$total_sequence_length, Optional<FloatTensor>:$cos_cache,
                   Optional<FloatTensor>:$sin_cache, Optional<IntTensor>:$position_ids,
                   Optional<FloatTensor>:$attention_bias, Int:$num_heads, Int:$kv_num_heads, IntOr<"0">:$do_rotary,
                   IntOr<"-1">:$local_window_size, IntOr<"0">:$rotary_interleaved, FloatOr<"0.0f">:$scale,
                   FloatOr<"0.0f">:$softcap);
  let results = (outs FloatTensor:$output, FloatTensor:$present_key, FloatTensor:$present_value);
  let body = [{
    return groupQueryAttention(graph, {query, key, value, past_key, past_value, seqlens_k, cos_cache, sin_cache,
                                       attention_bias, num_heads, kv_num_heads, local_window_size, scale, softcap,
                                       do_rotary != 0, rotary_interleaved != 0});
  }];
}
