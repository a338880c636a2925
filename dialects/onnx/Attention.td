// Attention and its kin. The bodies are in Attention.cpp.
include "dialects/onnx/OnnxBase.td"

def AttentionOp : CompositeOp<"Attention", [23, 24, 25]> {
  let alike = [["q", "k", "past_key"], ["v", "past_value"]];
  let arguments = (ins FloatTensor:$q, FloatTensor:$k, FloatTensor:$v, Optional<NumberOrBoolTensor>:$attn_mask,
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
  let alike = [["input", "weight", "bias", "past_state"]];
  let arguments = (ins FloatTensor:$input, FloatTensor:$weight, Optional<FloatTensor>:$bias,
                   Optional<FloatTensor>:$past_state, OneOfOr<"none", ["silu", "swish"]>:$activation);
  let results = (outs FloatTensor:$output, FloatTensor:$present_state);
  let body = "return causalConvolution(graph, input, weight, bias, past_state, activation);";
}

// The subgraphs change the scores before and after they become shares.
def FlexAttentionOp : CompositeOp<"FlexAttention", [1], [DeclareOpInterfaceMethods<SubgraphOpInterface>]> {
  let opName = "preview.FlexAttention";
  let domain = "ai.onnx.preview";
  let alike = [["q", "k", "v"]];
  let arguments = (ins FloatTensor:$q, FloatTensor:$k, FloatTensor:$v, OptionalAttr<Float>:$scale,
                   OptionalAttr<Int>:$softmax_precision);
  let results = (outs FloatTensor:$y);
  let regions = (region MaxSizedRegion<1>:$score_mod, MaxSizedRegion<1>:$prob_mod);
  let body = [{
    return flexAttention(graph, {q, k, v, scale, softmax_precision, adaptor.getScoreMod(), adaptor.getProbMod()});
  }];
}

def LinearAttentionOp : CompositeOp<"LinearAttention", [27]> {
  let alike = [["query", "key", "value", "decay", "beta"]];
  let arguments = (ins FloatTensor:$query, FloatTensor:$key, FloatTensor:$value, Optional<FloatTensor>:$past_state,
                   Optional<FloatTensor>:$decay, Optional<FloatTensor>:$beta, Int:$q_num_heads, Int:$kv_num_heads,
                   IntOr<"64">:$chunk_size, FloatOr<"0.0f">:$scale,
                   OneOfOr<"gated_delta", ["linear", "gated", "delta"]>:$update_rule);
  let results = (outs FloatTensor:$output, FloatTensor:$present_state);
  let body = [{
    return linearAttention(graph, {query, key, value, past_state, decay, beta, q_num_heads, kv_num_heads, scale,
                                   update_rule});
  }];
}

def RotaryEmbeddingOp : CompositeOp<"RotaryEmbedding", [23]> {
  let alike = [["x", "cos_cache", "sin_cache"]];
  let arguments = (ins FloatTensor:$x, FloatTensor:$cos_cache, FloatTensor:$sin_cache,
                   Optional<IntTensor>:$position_ids, IntOr<"0">:$interleaved, IntOr<"0">:$num_heads,
                   IntOr<"0">:$rotary_embedding_dim);
  let results = (outs FloatTensor:$y);
  let body = [{
    return rotaryEmbedding(graph, {x, cos_cache, sin_cache, position_ids, num_heads, rotary_embedding_dim,
                                   interleaved != 0});
  }];
}
