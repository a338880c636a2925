// RUN: onnxc-opt --widen-columns %s | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {

// Five rows of three leave one lane of 16 empty; nothing that divides 1000
// fits better.
// CHECK-LABEL: @three_columns
// CHECK: "onnx.Reshape"(%arg0, {{.*}} -> tensor<64x200x15xf32>
// CHECK: "onnx.ReduceMax"{{.*}} -> tensor<64x1x15xf32>
// CHECK: "onnx.ReduceMax"{{.*}} -> tensor<64x1x3xf32>
// CHECK: "onnx.ReduceSum"{{.*}} -> tensor<64x1x15xf32>
// CHECK: "onnx.ReduceSum"{{.*}} -> tensor<64x1x3xf32>
func.func @three_columns(%x: tensor<64x1000x3xf32>) -> tensor<64x1000x3xf32> {
  %y = "onnx.Softmax"(%x) <{axis = 1 : i64}> : (tensor<64x1000x3xf32>) -> tensor<64x1000x3xf32>
  return %y : tensor<64x1000x3xf32>
}

// CHECK-LABEL: @any_number_of_matrices
// CHECK: "onnx.ReduceMax"{{.*}} -> tensor<?x1x16xf32, ["N", "", ""]>
// CHECK: "onnx.Log"
// CHECK-NOT: onnx.LogSoftmax
func.func @any_number_of_matrices(%x: tensor<?x64x4xf32, ["N", "", ""]>) -> tensor<?x64x4xf32, ["N", "", ""]> {
  %y = "onnx.LogSoftmax"(%x) <{axis = 1 : i64}> : (tensor<?x64x4xf32, ["N", "", ""]>) -> tensor<?x64x4xf32, ["N", "", ""]>
  return %y : tensor<?x64x4xf32, ["N", "", ""]>
}

// 197 rows are no whole number of others; three more are padding.
// CHECK-LABEL: @prime
// CHECK: "onnx.Pad"{{.*}} -> tensor<2x200x6xf32>
// CHECK: "onnx.ReduceMax"{{.*}} -> tensor<2x1x48xf32>
// CHECK: "onnx.Slice"{{.*}} -> tensor<2x197x6xf32>
func.func @prime(%x: tensor<2x197x6xf32>) -> tensor<2x197x6xf32> {
  %y = "onnx.Softmax"(%x) <{axis = 1 : i64}> : (tensor<2x197x6xf32>) -> tensor<2x197x6xf32>
  return %y : tensor<2x197x6xf32>
}

// A few rows of a prime number, a row that fills a vector, no columns at all.
// CHECK-LABEL: @stays
// CHECK-COUNT-3: onnx.Softmax
func.func @stays(%x: tensor<2x7x3xf32>, %y: tensor<2x64x16xf32>, %z: tensor<2x64xf32>) -> (tensor<2x7x3xf32>, tensor<2x64x16xf32>, tensor<2x64xf32>) {
  %a = "onnx.Softmax"(%x) <{axis = 1 : i64}> : (tensor<2x7x3xf32>) -> tensor<2x7x3xf32>
  %b = "onnx.Softmax"(%y) <{axis = 1 : i64}> : (tensor<2x64x16xf32>) -> tensor<2x64x16xf32>
  %c = "onnx.Softmax"(%z) <{axis = -1 : i64}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  return %a, %b, %c : tensor<2x7x3xf32>, tensor<2x64x16xf32>, tensor<2x64xf32>
}

// The product is written with the rows innermost.
// CHECK-LABEL: @attention
// CHECK: onnx.Softmax
func.func @attention(%q: tensor<2x64x3x32xf32>, %scale: tensor<f32>) -> tensor<2x64x64x3xf32> {
  %s = "onnx.Einsum"(%q, %q) <{equation = "bihd,bjhd->bijh"}> : (tensor<2x64x3x32xf32>, tensor<2x64x3x32xf32>) -> tensor<2x64x64x3xf32>
  %m = "onnx.Mul"(%s, %scale) : (tensor<2x64x64x3xf32>, tensor<f32>) -> tensor<2x64x64x3xf32>
  %y = "onnx.Softmax"(%m) <{axis = 2 : i64}> : (tensor<2x64x64x3xf32>) -> tensor<2x64x64x3xf32>
  return %y : tensor<2x64x64x3xf32>
}

// Weights of a network make no rows that are worth it.
// CHECK-LABEL: @pooled_by_attention
// CHECK-NOT: onnx.Softmax
// CHECK: return
func.func @pooled_by_attention(%x: tensor<2x64x32xf32>) -> tensor<2x64x3xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<32x3xf32>}> : () -> tensor<32x3xf32>
  %s = "onnx.MatMul"(%x, %w) : (tensor<2x64x32xf32>, tensor<32x3xf32>) -> tensor<2x64x3xf32>
  %y = "onnx.Softmax"(%s) <{axis = 1 : i64}> : (tensor<2x64x3xf32>) -> tensor<2x64x3xf32>
  return %y : tensor<2x64x3xf32>
}
}
