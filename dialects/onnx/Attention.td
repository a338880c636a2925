// Attention and its kin. The bodies are in Attention.cpp.
include "dialects/onnx/OnnxBase.td"

def AttentionOp : CompositeOp<"Attention", [23, 24, 25]> {
  let arguments = (ins FloatTensor:$q, FloatTensor:$k, FloatTensor:$v, Optional<Tensor>:$attn_mask,
                   Optional<FloatTensor>:$past_key, Optional<FloatTensor>:$past_value,
                   Optional<IntTensor>:$nonpad_kv_seqlen, IntOr<"0">:$is_causal, IntOr<"0">:$q_num_heads,
                   IntOr<"0">:$kv_num_heads, IntOr<"0">:$qk_matmul_output_mode, OptionalAttr<Float>:$scale,
                   FloatOr<"0.0f">:$softcap, OptionalAttr<Int>:$softmax_precision, IntOr<"-1">:$left_window_size,
                   IntOr<"-1">:$right_window_size);
  let results = (outs FloatTensor:$y, FloatTensor:$present_key, FloatTensor:$present_value,
                 FloatTensor:$qk_matmul_output);
  let body = [{
    return attention(graph, {q, k, v, attn_mask, past_key, past_value, nonpad_kv_seqlen, is_causal != 0, q_num_heads,
                             kv_num_heads, left_window_size, right_window_size, qk_matmul_output_mode,
                             scale, softcap});
  }];
}

def CausalConvWithStateOp : CompositeOp<"CausalConvWithState", [27]> {
  let arguments = (ins FloatTensor:$input, FloatTensor:$weight, Optional<FloatTensor>:$bias,
                   Optional<FloatTensor>:$past_state, StringOr<"none">:$activation);
  let results = (outs FloatTensor:$output, FloatTensor:$present_state);
  let body = "return causalConvolution(graph, input, weight, bias, past_state, activation);";
}

def LinearAttentionOp : CompositeOp<"LinearAttention", [27]> {
  let arguments = (ins FloatTensor:$query, FloatTensor:$key, FloatTensor:$value, Optional<FloatTensor>:$past_state,
                   Optional<FloatTensor>:$decay, Optional<FloatTensor>:$beta, Int:$q_num_heads, Int:$kv_num_heads,
                   IntOr<"64">:$chunk_size, FloatOr<"0.0f">:$scale, StringOr<"gated_delta">:$update_rule);
  let results = (outs FloatTensor:$output, FloatTensor:$present_state);
  let body = [{
    return linearAttention(graph, {query, key, value, past_state, decay, beta, q_num_heads, kv_num_heads, scale,
                                   update_rule});
  }];
}

def RotaryEmbeddingOp : CompositeOp<"RotaryEmbedding", [23]> {
  let arguments = (ins FloatTensor:$x, FloatTensor:$cos_cache, FloatTensor:$sin_cache,
                   Optional<IntTensor>:$position_ids, IntOr<"0">:$interleaved, IntOr<"0">:$num_heads,
                   IntOr<"0">:$rotary_embedding_dim);
  let results = (outs FloatTensor:$y);
  let body = [{
    return rotaryEmbedding(graph, {x, cos_cache, sin_cache, position_ids, num_heads, rotary_embedding_dim,
                                   interleaved != 0});
  }];
}
