// RUN: onnxc-opt %s --onnx-to-linalg --propagate-layouts --canonicalize --cse --turn-lone-windows --propagate-layouts \
// RUN:     --canonicalize --cse | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 49152, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true, memory_bytes_per_cycle = 3>} {

// An image that is moved there and back passes L2, and what is behind it comes late.
// CHECK-LABEL: @behind_l2
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @behind_l2(%x: tensor<1x256x16x16xf32>) -> tensor<1x256x16x16xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<256x1x3x3xf32>}> : () -> tensor<256x1x3x3xf32>
  %y = "onnx.Conv"(%x, %w) {group = 256 : i64, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x256x16x16xf32>, tensor<256x1x3x3xf32>) -> tensor<1x256x16x16xf32>
  return %y : tensor<1x256x16x16xf32>
}

// CHECK-LABEL: @in_l2
// CHECK: linalg.transpose
func.func @in_l2(%x: tensor<1x128x16x16xf32>) -> tensor<1x128x16x16xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<128x1x3x3xf32>}> : () -> tensor<128x1x3x3xf32>
  %y = "onnx.Conv"(%x, %w) {group = 128 : i64, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x128x16x16xf32>, tensor<128x1x3x3xf32>) -> tensor<1x128x16x16xf32>
  return %y : tensor<1x128x16x16xf32>
}

// Of many taps nearly every vector lies in two lines.
// CHECK-LABEL: @many_taps
// CHECK: linalg.transpose
func.func @many_taps(%x: tensor<1x256x64x64xf32>) -> tensor<1x256x64x64xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<256x1x7x7xf32>}> : () -> tensor<256x1x7x7xf32>
  %y = "onnx.Conv"(%x, %w) {group = 256 : i64, pads = array<i64: 3, 3, 3, 3>}
      : (tensor<1x256x64x64xf32>, tensor<256x1x7x7xf32>) -> tensor<1x256x64x64xf32>
  return %y : tensor<1x256x64x64xf32>
}
}
