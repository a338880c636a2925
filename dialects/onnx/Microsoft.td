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

def MsCDistOp : MsComposite<"CDist"> {
  let summary = "The distance of every row of A to every row of B";
  let arguments = (ins FloatTensor:$a, FloatTensor:$b, StringOr<"sqeuclidean">:$metric);
  let results = (outs FloatTensor:$c);
  let body = [{
    Node apart = unsqueeze(a, {1}) - unsqueeze(b, {0});
    Node squares = op<ReduceSumOp>({apart * apart, graph.ints(2)}, {{"keepdims", 0}});
    return {metric == "euclidean" ? sqrt(squares) : squares};
  }];
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

def MsExpandDimsOp : MsComposite<"ExpandDims"> {
  let arguments = (ins Tensor:$x, PositionTensor:$axis);
  let results = (outs Tensor:$y);
  let formula = "op<UnsqueezeOp>({x, reshape(cast(axis, 7), {1})})";
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
    // The first dimension goes behind the batch dimensions, then the last two change places.
    auto turned = [](Node x, bool batch, bool matrix) {
      llvm::SmallVector<int64_t> permutation = range(0, rankOf(x));
      if (batch && permutation.size() > 1)
        std::rotate(permutation.begin(), permutation.begin() + 1, permutation.end() - 1);
      if (matrix && permutation.size() > 1)
        std::swap(permutation.back(), permutation[permutation.size() - 2]);
      return transpose(x, permutation);
    };
    Node product = matmul(turned(a, transBatchA, transA), turned(b, transBatchB, transB));
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

def MsGridSampleOp : MsComposite<"GridSample"> {
  let summary = "GridSample as the standard took it over";
  let arguments = (ins Tensor:$x, FloatTensor:$grid, IntOr<"0">:$align_corners, StringOr<"bilinear">:$mode,
                   StringOr<"zeros">:$padding_mode);
  let results = (outs Tensor:$y);
  let formula = [{op<GridSampleOp>({x, grid}, {{"align_corners", align_corners}, {"mode", mode},
                                               {"padding_mode", padding_mode}})}];
}

def MsInverseOp : SizedOp<"Inverse", [1]> {
  let summary = "Inverses of square matrices";
  let opName = "ms.Inverse";
  let domain = "com.microsoft";
  let family = "irregular";
  let arguments = (ins FloatTensor:$x);
  let results = (outs FloatTensor:$y);
  let sizes = "x.sizes";
}

def MsPadOp : MsComposite<"Pad"> {
  let arguments = (ins Tensor:$data, IntTensor:$pads, Optional<Tensor>:$value, StringOr<"constant">:$mode);
  let results = (outs Tensor:$output);
  let formula = [{op<PadOp>({data, pads, value.given() ? scalar(value) : value}, {{"mode", mode}})}];
}

def MsQuickGeluOp : MsElementwise<"QuickGelu"> {
  let arguments = (ins FloatTensor:$x, FloatOr<"1.702f">:$alpha);
  let results = (outs FloatTensor:$y);
  let scalar = "x * sigmoid(alpha * x)";
}

def MsRangeOp : MsComposite<"Range"> {
  let arguments = (ins NumberTensor:$start, NumberTensor:$limit, Optional<NumberTensor>:$delta);
  let results = (outs NumberTensor:$y);
  let formula = "range(scalar(start), scalar(limit), delta.given() ? scalar(delta) : constantLike(1, start))";
}

def MsTriluOp : MsComposite<"Trilu"> {
  let arguments = (ins Tensor:$x, Optional<IntTensor>:$k, IntOr<"1">:$upper);
  let results = (outs Tensor:$y);
  let formula = [{op<TriluOp>({x, k}, {{"upper", upper}})}];
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
