// RUN: onnxc-opt %s --onnx-to-linalg --propagate-layouts --canonicalize --cse --turn-lone-convolutions \
// RUN:     --propagate-layouts --canonicalize --cse | FileCheck %s
// RUN: onnxc-opt %s --onnx-to-linalg --propagate-layouts --canonicalize --cse --turn-lone-convolutions \
// RUN:     --propagate-layouts --canonicalize --cse --pack-layouts --fuse-elementwise --form-kernels --bufferize \
// RUN:     --expand-kernels | FileCheck %s --check-prefix=CODE
// RUN: onnxc-opt %s --onnx-to-linalg --propagate-layouts --canonicalize --cse --turn-lone-convolutions \
// RUN:     --propagate-layouts --canonicalize --cse --form-kernels | FileCheck %s --check-prefix=TILE

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {

// All pixels are one row: seven vectors of 112 elements, whole ones. What is added is read along them.
// CHECK-LABEL: @product
// CHECK-NOT: linalg.transpose
// CHECK: return
// CODE-LABEL: func.func private @k_
// CODE-NOT: mask
// CODE: vector.fma {{.*}} : vector<16xf32>
// CODE-NOT: mask
// CODE-LABEL: func.func private @k_
func.func @product(%x: tensor<1x16x14x8xf32>, %r: tensor<1x32x14x8xf32>) -> tensor<1x32x14x8xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<32x16x1x1xf32>}> : () -> tensor<32x16x1x1xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x16x14x8xf32>, tensor<32x16x1x1xf32>) -> tensor<1x32x14x8xf32>
  %y = "onnx.Add"(%c, %r) : (tensor<1x32x14x8xf32>, tensor<1x32x14x8xf32>) -> tensor<1x32x14x8xf32>
  return %y : tensor<1x32x14x8xf32>
}

// Through an activation that reads the result twice.
// CHECK-LABEL: @first_layer
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @first_layer(%x: tensor<2x3x64x64xf32>) -> tensor<2x16x64x64xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<16x3x3x3xf32>}> : () -> tensor<16x3x3x3xf32>
  %c = "onnx.Conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>}
      : (tensor<2x3x64x64xf32>, tensor<16x3x3x3xf32>) -> tensor<2x16x64x64xf32>
  %s = "onnx.Sigmoid"(%c) : (tensor<2x16x64x64xf32>) -> tensor<2x16x64x64xf32>
  %y = "onnx.Mul"(%c, %s) : (tensor<2x16x64x64xf32>, tensor<2x16x64x64xf32>) -> tensor<2x16x64x64xf32>
  return %y : tensor<2x16x64x64xf32>
}

// The taps along a row read the same vectors: four of them for each other tap stay in the first cache.
// TILE-LABEL: @wide_tile
// TILE: onnxc.kernel #onnxc.contraction<rows = 4, columns = 64, vector = 16, outer = pixels>
func.func @wide_tile(%x: tensor<1x16x16x112xf32>, %w: tensor<16x16x3x3xf32>) -> tensor<1x16x16x112xf32> {
  %y = "onnx.Conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x16x16x112xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x16x112xf32>
  return %y : tensor<1x16x16x112xf32>
}

// Maps that are phases of a larger image are moved whatever their order is: twelve of them fill no vector.
// CHECK-LABEL: @phases
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<1x12x32x64xf32>)
// CHECK: linalg.transpose {{.*}} permutation = [0, 3, 4, 1, 5, 2]
// CHECK: return
func.func @phases(%x: tensor<1x4x32x64xf32>) -> tensor<1x3x32x2x64x2xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<12x4x3x3xf32>}> : () -> tensor<12x4x3x3xf32>
  %c = "onnx.Conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x4x32x64xf32>, tensor<12x4x3x3xf32>) -> tensor<1x12x32x64xf32>
  %shape = "onnx.Constant"() <{value = dense<[1, 2, 2, 3, 32, 64]> : tensor<6xi64>}> : () -> tensor<6xi64>
  %r = "onnx.Reshape"(%c, %shape) : (tensor<1x12x32x64xf32>, tensor<6xi64>) -> tensor<1x2x2x3x32x64xf32>
  %y = "onnx.Transpose"(%r) {perm = array<i64: 0, 3, 4, 1, 5, 2>}
      : (tensor<1x2x2x3x32x64xf32>) -> tensor<1x3x32x2x64x2xf32>
  return %y : tensor<1x3x32x2x64x2xf32>
}

// 49 pixels leave a quarter of the lanes empty, for all of 512 channels.
// CHECK-LABEL: @few_pixels
// CHECK: linalg.transpose
func.func @few_pixels(%x: tensor<1x512x7x7xf32>) -> tensor<1x64x7x7xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<64x512x1x1xf32>}> : () -> tensor<64x512x1x1xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<1x512x7x7xf32>, tensor<64x512x1x1xf32>) -> tensor<1x64x7x7xf32>
  return %y : tensor<1x64x7x7xf32>
}

// Every other element: two loads and a shuffle for each vector.
// CHECK-LABEL: @stride
// CHECK: linalg.transpose
func.func @stride(%x: tensor<1x3x64x64xf32>) -> tensor<1x16x31x31xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<16x3x3x3xf32>}> : () -> tensor<16x3x3x3xf32>
  %y = "onnx.Conv"(%x, %w) {strides = array<i64: 2, 2>}
      : (tensor<1x3x64x64xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x31x31xf32>
  return %y : tensor<1x16x31x31xf32>
}

// A window that leaps along the only row: a panel of what it reads is gathered onto the stack, once for all channels.
// CHECK-LABEL: @leaping_window
// CHECK-NOT: linalg.transpose
// CHECK: return
// TILE-LABEL: @leaping_window
// TILE: onnxc.kernel #onnxc.contraction<rows = 9, columns = 48, vector = 16, outer = panels>
// CODE-LABEL: func.func private @k_{{.*}}(%{{.*}}: memref<1x1x4004xf32
// CODE: memref.alloca() {{.*}} : memref<384xf32>
// CODE: vector.gather
// CODE: vector.store
// CODE: scf.for
// CODE-NOT: vector.gather
// CODE: vector.fma
func.func @leaping_window(%x: tensor<1x1x4004xf32>) -> tensor<1x100x1000xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<100x1x8xf32>}> : () -> tensor<100x1x8xf32>
  %y = "onnx.Conv"(%x, %w) {strides = array<i64: 4>}
      : (tensor<1x1x4004xf32>, tensor<100x1x8xf32>) -> tensor<1x100x1000xf32>
  return %y : tensor<1x100x1000xf32>
}

// The stack does not hold a panel of what all taps read.
// CHECK-LABEL: @leaping_window_of_many_taps
// CHECK: linalg.transpose
func.func @leaping_window_of_many_taps(%x: tensor<1x1x4196xf32>) -> tensor<1x100x1000xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<100x1x200xf32>}> : () -> tensor<100x1x200xf32>
  %y = "onnx.Conv"(%x, %w) {strides = array<i64: 4>}
      : (tensor<1x1x4196xf32>, tensor<100x1x200xf32>) -> tensor<1x100x1000xf32>
  return %y : tensor<1x100x1000xf32>
}

// For a few channels gathering takes longer than moving what they are.
// CHECK-LABEL: @leaping_window_to_few_channels
// CHECK: linalg.transpose
func.func @leaping_window_to_few_channels(%x: tensor<1x1x4004xf32>) -> tensor<1x16x1000xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<16x1x8xf32>}> : () -> tensor<16x1x8xf32>
  %y = "onnx.Conv"(%x, %w) {strides = array<i64: 4>}
      : (tensor<1x1x4004xf32>, tensor<16x1x8xf32>) -> tensor<1x16x1000xf32>
  return %y : tensor<1x16x1000xf32>
}

// Winograd's vectors are of channels.
// CHECK-LABEL: @filtered
// CHECK: linalg.transpose
func.func @filtered(%x: tensor<1x32x64x64xf32>) -> tensor<1x32x64x64xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<32x32x3x3xf32>}> : () -> tensor<32x32x3x3xf32>
  %y = "onnx.Conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x32x64x64xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x64x64xf32>
  return %y : tensor<1x32x64x64xf32>
}

// What follows reads channels last.
// CHECK-LABEL: @two_layers
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x64x64x16xf32>)
func.func @two_layers(%x: tensor<1x3x64x64xf32>) -> tensor<1x24x62x62xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<16x3x3x3xf32>}> : () -> tensor<16x3x3x3xf32>
  %v = "onnx.Constant"() <{value = dense<0.5> : tensor<24x16x3x3xf32>}> : () -> tensor<24x16x3x3xf32>
  %z = "onnx.Conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x3x64x64xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x64x64xf32>
  %y = "onnx.Conv"(%z, %v) : (tensor<1x16x64x64xf32>, tensor<24x16x3x3xf32>) -> tensor<1x24x62x62xf32>
  return %y : tensor<1x24x62x62xf32>
}
}
