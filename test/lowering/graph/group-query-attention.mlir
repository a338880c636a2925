// RUN: onnxc-opt --expand-composite --split-input-file --verify-diagnostics %s | FileCheck %s

// The present has the size of a past that has room, and the keys go where their sequence ends.
// CHECK-LABEL: @keys_go_where_their_sequence_ends
// CHECK-DAG: "onnx.x.Require"{{.*}}operand = "total_sequence_length", status = 9
// CHECK-DAG: "onnx.x.Require"{{.*}}operand = "seqlens_k", status = 2
// CHECK-COUNT-2: "onnx.TensorScatter"
func.func @keys_go_where_their_sequence_ends(%q: tensor<2x1x32xf32>, %k: tensor<2x1x16xf32>, %past: tensor<2x1x8x16xf32>, %lengths: tensor<2xi32>, %total: tensor<i32>) -> (tensor<2x1x32xf32>, tensor<2x1x?x16xf32>) {
  %y, %key, %value = "onnx.ms.GroupQueryAttention"(%q, %k, %k, %past, %past, %lengths, %total) {num_heads = 2 : i64, kv_num_heads = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x1x32xf32>, tensor<2x1x16xf32>, tensor<2x1x16xf32>, tensor<2x1x8x16xf32>, tensor<2x1x8x16xf32>, tensor<2xi32>, tensor<i32>) -> (tensor<2x1x32xf32>, tensor<2x1x?x16xf32>, tensor<2x1x?x16xf32>)
  return %y, %key : tensor<2x1x32xf32>, tensor<2x1x?x16xf32>
}

// -----

// CHECK-LABEL: @without_a_past_the_keys_are_the_present
// CHECK-NOT: "onnx.TensorScatter"
func.func @without_a_past_the_keys_are_the_present(%q: tensor<2x4x32xf32>, %k: tensor<2x4x16xf32>, %lengths: tensor<2xi32>, %total: tensor<i32>) -> tensor<2x4x32xf32> {
  %y, %key, %value = "onnx.ms.GroupQueryAttention"(%q, %k, %k, %lengths, %total) {num_heads = 2 : i64, kv_num_heads = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x4x32xf32>, tensor<2x4x16xf32>, tensor<2x4x16xf32>, tensor<2xi32>, tensor<i32>) -> (tensor<2x4x32xf32>, tensor<2x1x4x16xf32>, tensor<2x1x4x16xf32>)
  return %y : tensor<2x4x32xf32>
}

// -----

func.func @heads_are_counted(%q: tensor<2x4x32xf32>, %lengths: tensor<2xi32>, %total: tensor<i32>) -> tensor<2x4x32xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'num_heads' and 'kv_num_heads' must be positive}}
  %y, %key, %value = "onnx.ms.GroupQueryAttention"(%q, %lengths, %total) {num_heads = 2 : i64, kv_num_heads = -1 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x4x32xf32>, tensor<2xi32>, tensor<i32>) -> (tensor<2x4x32xf32>, tensor<2x1x4x16xf32>, tensor<2x1x4x16xf32>)
  return %y : tensor<2x4x32xf32>
}
