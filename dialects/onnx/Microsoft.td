// Operators of ONNX Runtime's domain com.microsoft that exporters write.
include "dialects/onnx/OnnxMicrosoft.td"

def MsBiasAddOp : MsElementwise<"BiasAdd"> {
  let arguments = (ins FloatTensor:$x, FloatTensor:$bias, FloatTensor:$skip);
  let results = (outs FloatTensor:$y);
  let scalar = "x + bias + skip";
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

// Activations that ONNX Runtime fuses into what is before them.
def MsFusedConvOp : MsComposite<"FusedConv"> {
  let arguments = (ins FloatTensor:$x, FloatTensor:$w, Optional<FloatTensor>:$b, Optional<FloatTensor>:$z,
                   StringOr<"">:$activation, OptionalAttr<Floats>:$activation_params, AutoPad:$auto_pad,
                   OptionalAttr<Ints>:$dilations, IntOr<"1">:$group, OptionalAttr<Ints>:$kernel_shape,
                   OptionalAttr<Ints>:$pads, OptionalAttr<Ints>:$strides);
  let results = (outs FloatTensor:$y);
  let body = [{
    Node sum = op<ConvOp>({x, w, b}, windowAttributes(auto_pad, dilations, group, kernel_shape, pads, strides));
    return {activated(z.given() ? sum + z : sum, activation, activation_params.value_or(llvm::ArrayRef<float>()))};
  }];
}

def MsFusedGemmOp : MsComposite<"FusedGemm"> {
  let arguments = (ins FloatTensor:$a, FloatTensor:$b, Optional<FloatTensor>:$c, StringOr<"">:$activation,
                   FloatOr<"0.0f">:$activation_alpha, FloatOr<"0.0f">:$activation_beta,
                   FloatOr<"0.0f">:$activation_gamma, FloatOr<"1.0f">:$alpha, FloatOr<"1.0f">:$beta,
                   IntOr<"0">:$transA, IntOr<"0">:$transB);
  let results = (outs FloatTensor:$y);
  let body = [{
    Node y = op<GemmOp>({a, b, c}, {{"alpha", alpha}, {"beta", beta}, {"transA", transA}, {"transB", transB}});
    return {activated(y, activation, {float(activation_alpha), float(activation_beta)})};
  }];
}

class FusedMatMul<string type> : MsComposite<type> {
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
def MsFusedMatMulOp : FusedMatMul<"FusedMatMul">;
def MsTransposeMatMulOp : FusedMatMul<"TransposeMatMul">; // its old name

def MsGeluOp : MsElementwise<"Gelu"> {
  let arguments = (ins FloatTensor:$x);
  let results = (outs FloatTensor:$y);
  let scalar = "gelu(x)";
}

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
