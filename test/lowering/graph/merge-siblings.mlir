// RUN: onnxc-opt --merge-siblings %s | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {

// Two vectors of 16 maps, where there were three. The one without a bias gets zeros.
// CHECK-LABEL: @heads
// CHECK: %[[W:.*]] = "onnx.Concat"({{.*}}) <{axis = 0 : i64}> : (tensor<8x64x3x3xf32>, tensor<20x64x3x3xf32>) -> tensor<28x64x3x3xf32>
// CHECK: %[[B:.*]] = "onnx.Concat"({{.*}}) <{axis = 0 : i64}> : (tensor<8xf32>, tensor<20xf32>) -> tensor<28xf32>
// CHECK: %[[ALL:.*]] = "onnx.Conv"(%arg0, %[[W]], %[[B]]) <{{.*}}pads = array<i64: 1, 1, 1, 1>}>
// CHECK-DAG: %[[Y:.*]] = "onnx.Slice"(%[[ALL]]{{.*}} -> tensor<1x8x?x?xf32
// CHECK-DAG: %[[Z:.*]] = "onnx.Slice"(%[[ALL]]{{.*}} -> tensor<1x20x?x?xf32
// CHECK: return %[[Y]], %[[Z]]
func.func @heads(%x: tensor<1x64x?x?xf32, ["", "", "h", "w"]>) -> (tensor<1x8x?x?xf32>, tensor<1x20x?x?xf32>) {
  %w0 = "onnx.Constant"() <{value = dense<0.5> : tensor<8x64x3x3xf32>}> : () -> tensor<8x64x3x3xf32>
  %b0 = "onnx.Constant"() <{value = dense<0.5> : tensor<8xf32>}> : () -> tensor<8xf32>
  %y = "onnx.Conv"(%x, %w0, %b0) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x64x?x?xf32, ["", "", "h", "w"]>, tensor<8x64x3x3xf32>, tensor<8xf32>) -> tensor<1x8x?x?xf32>
  %w1 = "onnx.Constant"() <{value = dense<0.5> : tensor<20x64x3x3xf32>}> : () -> tensor<20x64x3x3xf32>
  %z = "onnx.Conv"(%x, %w1) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x64x?x?xf32, ["", "", "h", "w"]>, tensor<20x64x3x3xf32>) -> tensor<1x20x?x?xf32>
  return %y, %z : tensor<1x8x?x?xf32>, tensor<1x20x?x?xf32>
}

// Both fill their vectors.
// CHECK-LABEL: @full_vectors
// CHECK-NOT: onnx.Concat
func.func @full_vectors(%x: tensor<1x64x9x9xf32>) -> (tensor<1x16x7x7xf32>, tensor<1x32x7x7xf32>) {
  %w0 = "onnx.Constant"() <{value = dense<0.5> : tensor<16x64x3x3xf32>}> : () -> tensor<16x64x3x3xf32>
  %y = "onnx.Conv"(%x, %w0) : (tensor<1x64x9x9xf32>, tensor<16x64x3x3xf32>) -> tensor<1x16x7x7xf32>
  %w1 = "onnx.Constant"() <{value = dense<0.5> : tensor<32x64x3x3xf32>}> : () -> tensor<32x64x3x3xf32>
  %z = "onnx.Conv"(%x, %w1) : (tensor<1x64x9x9xf32>, tensor<32x64x3x3xf32>) -> tensor<1x32x7x7xf32>
  return %y, %z : tensor<1x16x7x7xf32>, tensor<1x32x7x7xf32>
}

// Other windows.
// CHECK-LABEL: @other_pads
// CHECK-NOT: onnx.Concat
func.func @other_pads(%x: tensor<1x64x9x9xf32>) -> (tensor<1x8x7x7xf32>, tensor<1x8x9x9xf32>) {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<8x64x3x3xf32>}> : () -> tensor<8x64x3x3xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<1x64x9x9xf32>, tensor<8x64x3x3xf32>) -> tensor<1x8x7x7xf32>
  %z = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x64x9x9xf32>, tensor<8x64x3x3xf32>) -> tensor<1x8x9x9xf32>
  return %y, %z : tensor<1x8x7x7xf32>, tensor<1x8x9x9xf32>
}

// A sum of two products is no more than what it costs to read the results once more.
// CHECK-LABEL: @short_sums
// CHECK-NOT: onnx.Concat
func.func @short_sums(%x: tensor<1x2x9x9xf32>) -> (tensor<1x8x9x9xf32>, tensor<1x8x9x9xf32>) {
  %w0 = "onnx.Constant"() <{value = dense<0.5> : tensor<8x2x1x1xf32>}> : () -> tensor<8x2x1x1xf32>
  %y = "onnx.Conv"(%x, %w0) : (tensor<1x2x9x9xf32>, tensor<8x2x1x1xf32>) -> tensor<1x8x9x9xf32>
  %w1 = "onnx.Constant"() <{value = dense<1.5> : tensor<8x2x1x1xf32>}> : () -> tensor<8x2x1x1xf32>
  %z = "onnx.Conv"(%x, %w1) : (tensor<1x2x9x9xf32>, tensor<8x2x1x1xf32>) -> tensor<1x8x9x9xf32>
  return %y, %z : tensor<1x8x9x9xf32>, tensor<1x8x9x9xf32>
}
}
