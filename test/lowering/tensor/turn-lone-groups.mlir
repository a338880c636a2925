// RUN: onnxc-opt %s --onnx-to-linalg --propagate-layouts --canonicalize --cse --turn-lone-groups --propagate-layouts \
// RUN:     --canonicalize --cse --sink-reshapes | FileCheck %s
// RUN: onnxc-opt %s --onnx-to-linalg --propagate-layouts --canonicalize --cse --turn-lone-groups --propagate-layouts \
// RUN:     --canonicalize --cse --sink-reshapes --pack-layouts --fuse-elementwise --form-kernels \
// RUN:     | FileCheck %s --check-prefix=TILE

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {

// The four maps of a group are the rows of a tile, whose vectors lie along a row of 56 pixels. What follows is told apart
// by groups, too, and is the kernel's epilogue.
// CHECK-LABEL: @alone
// CHECK-NOT: linalg.transpose
// CHECK: tensor.pad {{.*}} low[0, 0, 0, 1, 1] high[0, 0, 0, 1, 1]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x16x4x56x56xf32>)
// CHECK: tensor.collapse_shape
// CHECK-NEXT: return
// TILE-LABEL: @alone
// TILE-COUNT-1: onnxc.kernel #onnxc.contraction<rows = 4, columns = 64, vector = 16, outer = pixels>
// TILE-NOT: onnxc.kernel
// TILE: return
func.func @alone(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<64x4x3x3xf32>}> : () -> tensor<64x4x3x3xf32>
  %b = "onnx.Constant"() <{value = dense<0.5> : tensor<64xf32>}> : () -> tensor<64xf32>
  %c = "onnx.Conv"(%x, %w, %b) {group = 16 : i64, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x64x56x56xf32>, tensor<64x4x3x3xf32>, tensor<64xf32>) -> tensor<1x64x56x56xf32>
  %y = "onnx.Relu"(%c) : (tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  return %y : tensor<1x64x56x56xf32>
}

// Two channels and eight maps to a group, and a batch that the run knows.
// CHECK-LABEL: @more_maps
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x16x8x1x56xf32>)
func.func @more_maps(%x: tensor<?x32x1x56xf32>) -> tensor<?x128x1x56xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<128x2x1x1xf32>}> : () -> tensor<128x2x1x1xf32>
  %y = "onnx.Conv"(%x, %w) {group = 16 : i64}
      : (tensor<?x32x1x56xf32>, tensor<128x2x1x1xf32>) -> tensor<?x128x1x56xf32>
  return %y : tensor<?x128x1x56xf32>
}

// Seven pixels leave more than half of a vector empty.
// CHECK-LABEL: @few_pixels
// CHECK: linalg.transpose
func.func @few_pixels(%x: tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<64x4x3x3xf32>}> : () -> tensor<64x4x3x3xf32>
  %y = "onnx.Conv"(%x, %w) {group = 16 : i64, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x64x7x7xf32>, tensor<64x4x3x3xf32>) -> tensor<1x64x7x7xf32>
  return %y : tensor<1x64x7x7xf32>
}

// Every other element would be gathered.
// CHECK-LABEL: @stride
// CHECK: linalg.transpose
func.func @stride(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x28x28xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<64x4x2x2xf32>}> : () -> tensor<64x4x2x2xf32>
  %y = "onnx.Conv"(%x, %w) {group = 16 : i64, strides = array<i64: 2, 2>}
      : (tensor<1x64x56x56xf32>, tensor<64x4x2x2xf32>) -> tensor<1x64x28x28xf32>
  return %y : tensor<1x64x28x28xf32>
}

// What follows reads channels last.
// CHECK-LABEL: @two_layers
// CHECK: linalg.transpose
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x56x56x64xf32>)
func.func @two_layers(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<64x4x3x3xf32>}> : () -> tensor<64x4x3x3xf32>
  %v = "onnx.Constant"() <{value = dense<0.5> : tensor<64x64x1x1xf32>}> : () -> tensor<64x64x1x1xf32>
  %c = "onnx.Conv"(%x, %w) {group = 16 : i64, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x64x56x56xf32>, tensor<64x4x3x3xf32>) -> tensor<1x64x56x56xf32>
  %y = "onnx.Conv"(%c, %v) : (tensor<1x64x56x56xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x56x56xf32>
  return %y : tensor<1x64x56x56xf32>
}

// Channels that padding adds, or that the run counts, are no whole groups.
// CHECK-LABEL: @padded_channels
// CHECK: linalg.transpose
func.func @padded_channels(%x: tensor<1x48x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<64x4x3x3xf32>}> : () -> tensor<64x4x3x3xf32>
  %p = "onnx.Constant"() <{value = dense<[0, 16, 0, 0, 0, 0, 0, 0]> : tensor<8xi64>}> : () -> tensor<8xi64>
  %q = "onnx.Pad"(%x, %p) {mode = "constant", operandSegmentSizes = array<i32: 1, 1, 0, 0>}
      : (tensor<1x48x56x56xf32>, tensor<8xi64>) -> tensor<1x64x56x56xf32>
  %y = "onnx.Conv"(%q, %w) {group = 16 : i64, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x64x56x56xf32>, tensor<64x4x3x3xf32>) -> tensor<1x64x56x56xf32>
  return %y : tensor<1x64x56x56xf32>
}

// CHECK-LABEL: @counted_channels
// CHECK: linalg.transpose
func.func @counted_channels(%x: tensor<1x?x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<64x4x3x3xf32>}> : () -> tensor<64x4x3x3xf32>
  %y = "onnx.Conv"(%x, %w) {group = 16 : i64, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x?x56x56xf32>, tensor<64x4x3x3xf32>) -> tensor<1x64x56x56xf32>
  return %y : tensor<1x64x56x56xf32>
}
}
