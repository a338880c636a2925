// com.microsoft's attention and its kin. The bodies are in MicrosoftAttention.cpp.
include "dialects/onnx/OnnxMicrosoft.td"

def MsAttentionOp : MsComposite<"Attention"> {
  let arguments = (ins FloatTensor:$input, FloatTensor:$weights, Optional<FloatTensor>:$bias,
                   Optional<PositionTensor>:$mask_index, Optional<FloatTensor>:$past,
                   Optional<FloatTensor>:$attention_bias, Optional<PositionTensor>:$past_sequence_length,
                   IntOr<"0">:$do_rotary, Int:$num_heads, IntOr<"0">:$unidirectional,
                   FloatOr<"-10000.0f">:$mask_filter_value, IntOr<"0">:$past_present_share_buffer,
                   OptionalAttr<Ints>:$qkv_hidden_sizes, IntOr<"0">:$rotary_embedding_dim,
                   OptionalAttr<Float>:$scale, OptionalAttr<Int>:$result_count);
  let results = (outs FloatTensor:$output, FloatTensor:$present);
  let body = [{
    if (do_rotary || past_present_share_buffer || past_sequence_length.given())
      return graph.fail("rotary positions, and a past that shares its buffer, are not supported");
    Node all = bias.given() ? matmul(input, weights) + bias : matmul(input, weights);
    return projectedAttention(graph, {all, mask_index, attention_bias, past, qkv_hidden_sizes, num_heads,
                                      unidirectional != 0, mask_filter_value, scale, result_count.value_or(2) > 1});
  }];
}

// The past fills its tensor, or that has the size of the longest one: then the present has it too.
def MsGroupQueryAttentionOp : MsComposite<"GroupQueryAttention"> {
  let alike = [["query", "key", "value"], ["past_key", "past_value"]];
  let arguments = (ins FloatTensor:$query, Optional<FloatTensor>:$key, Optional<FloatTensor>:$value,
                   Optional<FloatTensor>:$past_key, Optional<FloatTensor>:$past_value, PositionTensor:$seqlens_k,
                   PositionTensor:$total_sequence_length, Optional<FloatTensor>:$cos_cache,
                   Optional<FloatTensor>:$sin_cache, Optional<IntTensor>:$position_ids,
                   Optional<FloatTensor>:$attention_bias, Optional<FloatTensor>:$head_sink,
                   Optional<FloatTensor>:$k_scale, Optional<FloatTensor>:$v_scale,
                   Optional<FloatTensor>:$q_norm_weight, Optional<FloatTensor>:$k_norm_weight, IntOr<"1">:$causal,
                   Int:$num_heads, Int:$kv_num_heads, IntOr<"0">:$do_rotary, StringOr<"NONE">:$k_quant_type,
                   IntOr<"0">:$kv_cache_bit_width, IntOr<"-1">:$local_window_size, FloatOr<"1e-6f">:$qk_norm_epsilon,
                   IntOr<"0">:$qk_output, IntOr<"0">:$rotary_interleaved, FloatOr<"0.0f">:$scale,
                   IntOr<"0">:$sliding_window_cache, IntOr<"-1">:$smooth_softmax, FloatOr<"0.0f">:$softcap,
                   StringOr<"NONE">:$v_quant_type);
  let results = (outs FloatTensor:$output, FloatTensor:$present_key, FloatTensor:$present_value);
  let body = [{
    if (k_scale.given() || v_scale.given() || k_quant_type != "NONE" || v_quant_type != "NONE" || sliding_window_cache)
      return graph.fail("caches that are quantized or slide are not supported");
    if (qk_output)
      return graph.fail("scores as an output are not supported");
    return groupQueryAttention(graph, {query, key, value, past_key, past_value, seqlens_k,
                                       total_sequence_length, cos_cache, sin_cache, position_ids, attention_bias,
                                       head_sink, q_norm_weight, k_norm_weight, qk_norm_epsilon, num_heads,
                                       kv_num_heads, local_window_size, scale, softcap,
                                       causal != 0, do_rotary != 0, rotary_interleaved != 0, smooth_softmax == 1});
  }];
}

def MsMultiHeadAttentionOp : MsComposite<"MultiHeadAttention"> {
  let arguments = (ins FloatTensor:$query, Optional<FloatTensor>:$key, Optional<FloatTensor>:$value,
                   Optional<FloatTensor>:$bias, Optional<PositionTensor>:$key_padding_mask,
                   Optional<FloatTensor>:$attention_bias, Optional<FloatTensor>:$past_key,
                   Optional<FloatTensor>:$past_value, Optional<Int32Tensor>:$past_sequence_length,
                   Optional<Int32Tensor>:$cache_indirection, FloatOr<"-10000.0f">:$mask_filter_value, Int:$num_heads,
                   OptionalAttr<Float>:$scale, IntOr<"0">:$unidirectional);
  let results = (outs FloatTensor:$output, FloatTensor:$present_key, FloatTensor:$present_value, FloatTensor:$qk);
  let body = [{
    if (past_sequence_length.given() || cache_indirection.given())
      return graph.fail("a past that shares its buffer is not supported");
    return multiHeadAttention(graph, {query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value,
                                      num_heads, unidirectional != 0, mask_filter_value, scale});
  }];
}

// The product of quantized input and weights, then as Attention.
def MsQAttentionOp : MsComposite<"QAttention"> {
  let arguments = (ins NumberTensor:$input, NumberTensor:$weight, FloatTensor:$bias, FloatTensor:$input_scale,
                   FloatTensor:$weight_scale, Optional<PositionTensor>:$mask_index,
                   Optional<NumberTensor>:$input_zero_point, Optional<NumberTensor>:$weight_zero_point,
                   Optional<FloatTensor>:$past, IntOr<"0">:$do_rotary, Int:$num_heads,
                   IntOr<"0">:$past_present_share_buffer, IntOr<"0">:$unidirectional,
                   FloatOr<"-10000.0f">:$mask_filter_value, OptionalAttr<Float>:$scale);
  let results = (outs FloatTensor:$output, FloatTensor:$present);
  let body = [{
    if (do_rotary || past_present_share_buffer)
      return graph.fail("rotary positions, and a past that shares its buffer, are not supported");
    Node all = scaledProduct({input, input_zero_point, input_scale}, {weight, weight_zero_point, weight_scale}) + bias;
    return projectedAttention(graph, {all, mask_index, Node(), past, std::nullopt, num_heads, unidirectional != 0,
                                      mask_filter_value, scale, true});
  }];
}

def MsRotaryEmbeddingOp : MsComposite<"RotaryEmbedding"> {
  let arguments = (ins FloatTensor:$input, PositionTensor:$position_ids, FloatTensor:$cos_cache, FloatTensor:$sin_cache,
                   IntOr<"0">:$interleaved, IntOr<"0">:$is_packed_batching, IntOr<"0">:$num_heads,
                   IntOr<"0">:$rotary_embedding_dim, FloatOr<"1.0f">:$scale);
  let results = (outs FloatTensor:$output);
  let body = [{
    if (is_packed_batching)
      return graph.fail("packed batches are not supported");
    return microsoftRotation(graph, {input, cos_cache, sin_cache, position_ids, num_heads, rotary_embedding_dim,
                                     interleaved != 0});
  }];
}
