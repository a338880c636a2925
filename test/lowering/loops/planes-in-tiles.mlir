// RUN: onnxc-opt %s --onnx-to-linalg --propagate-layouts --canonicalize --cse --turn-lone-windows --propagate-layouts \
// RUN:     --canonicalize --cse --pack-layouts --fuse-elementwise --form-kernels | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 49152, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {

// CHECK-LABEL: @nine_taps
// CHECK: onnxc.kernel #onnxc.contraction<rows = 7, columns = 16,
func.func @nine_taps(%x: tensor<1x8x64x64xf32>) -> tensor<1x8x62x62xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<8x1x3x3xf32>}> : () -> tensor<8x1x3x3xf32>
  %y = "onnx.Conv"(%x, %w) {group = 8 : i64} : (tensor<1x8x64x64xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x62x62xf32>
  return %y : tensor<1x8x62x62xf32>
}

// Two rows have little in common.
// CHECK-LABEL: @four_taps
// CHECK: onnxc.kernel #onnxc.contraction<rows = 1,
func.func @four_taps(%x: tensor<1x8x64x64xf32>) -> tensor<1x8x63x63xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<8x1x2x2xf32>}> : () -> tensor<8x1x2x2xf32>
  %y = "onnx.Conv"(%x, %w) {group = 8 : i64} : (tensor<1x8x64x64xf32>, tensor<8x1x2x2xf32>) -> tensor<1x8x63x63xf32>
  return %y : tensor<1x8x63x63xf32>
}

// What waits for memory takes one line after the other.
// CHECK-LABEL: @long_rows
// CHECK: onnxc.kernel #onnxc.contraction<rows = 1,
func.func @long_rows(%x: tensor<1x32x224x224xf32>) -> tensor<1x32x222x222xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<32x1x3x3xf32>}> : () -> tensor<32x1x3x3xf32>
  %y = "onnx.Conv"(%x, %w) {group = 32 : i64}
      : (tensor<1x32x224x224xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x222x222xf32>
  return %y : tensor<1x32x222x222xf32>
}
}
