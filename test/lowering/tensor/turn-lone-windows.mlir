// RUN: onnxc-opt %s --onnx-to-linalg --propagate-layouts --canonicalize --cse --turn-lone-windows --propagate-layouts \
// RUN:     --canonicalize --cse | FileCheck %s
// RUN: onnxc-opt %s --onnx-to-linalg --propagate-layouts --canonicalize --cse --turn-lone-windows --propagate-layouts \
// RUN:     --canonicalize --cse --pack-layouts --fuse-elementwise --form-kernels --bufferize --expand-kernels \
// RUN:     | FileCheck %s --check-prefix=CODE

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {

// One element of each two: two loads, which are masked at both ends of the row.
// CHECK-LABEL: @pool_alone
// CHECK-NOT: linalg.transpose
// CHECK: return
// CODE-LABEL: func.func private @k_
// CODE: vector.maskedload {{.*}} : memref<{{.*}}>, vector<16xi1>, vector<16xf32> into vector<16xf32>
// CODE: vector.shuffle {{.*}} [0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31] : vector<16xf32>, vector<16xf32>
func.func @pool_alone(%x: tensor<1x8x64x64xf32>) -> tensor<1x8x32x32xf32> {
  %y, %places = "onnx.MaxPool"(%x) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
      : (tensor<1x8x64x64xf32>) -> (tensor<1x8x32x32xf32>, tensor<1x8x32x32xi64>)
  return %y : tensor<1x8x32x32xf32>
}

// CHECK-LABEL: @depthwise_alone
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @depthwise_alone(%x: tensor<1x8x64x64xf32>) -> tensor<1x8x62x62xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<8x1x3x3xf32>}> : () -> tensor<8x1x3x3xf32>
  %b = "onnx.Constant"() <{value = dense<0.5> : tensor<8xf32>}> : () -> tensor<8xf32>
  %c = "onnx.Conv"(%x, %w, %b) {group = 8 : i64} : (tensor<1x8x64x64xf32>, tensor<8x1x3x3xf32>, tensor<8xf32>) -> tensor<1x8x62x62xf32>
  %y = "onnx.Relu"(%c) : (tensor<1x8x62x62xf32>) -> tensor<1x8x62x62xf32>
  return %y : tensor<1x8x62x62xf32>
}

// Padding by reflection has borders of its own.
// CHECK-LABEL: @depthwise_between_borders
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @depthwise_between_borders(%x: tensor<1x8x64x64xf32>) -> tensor<1x8x74x74xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<8x1x3x3xf32>}> : () -> tensor<8x1x3x3xf32>
  %p = "onnx.Constant"() <{value = dense<[0, 0, 6, 6, 0, 0, 6, 6]> : tensor<8xi64>}> : () -> tensor<8xi64>
  %c = "onnx.Conv"(%x, %w) {group = 8 : i64} : (tensor<1x8x64x64xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x62x62xf32>
  %y = "onnx.Pad"(%c, %p) {mode = "reflect", operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<1x8x62x62xf32>, tensor<8xi64>) -> tensor<1x8x74x74xf32>
  return %y : tensor<1x8x74x74xf32>
}

// Rows of nine fill half a vector, and each sum would wait for the one before.
// CHECK-LABEL: @short_rows
// CHECK: linalg.transpose
func.func @short_rows(%x: tensor<1x8x18x18xf32>) -> tensor<1x8x9x9xf32> {
  %y, %places = "onnx.MaxPool"(%x) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>}
      : (tensor<1x8x18x18xf32>) -> (tensor<1x8x9x9xf32>, tensor<1x8x9x9xi64>)
  return %y : tensor<1x8x9x9xf32>
}

// Seven rows of a pool that moves by one are a tile, so that no sum waits.
// CHECK-LABEL: @short_rows_at_once
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @short_rows_at_once(%x: tensor<1x8x14x14xf32>) -> tensor<1x8x14x14xf32> {
  %y, %places = "onnx.MaxPool"(%x) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x8x14x14xf32>) -> (tensor<1x8x14x14xf32>, tensor<1x8x14x14xi64>)
  return %y : tensor<1x8x14x14xf32>
}

// Behind a convolution channels are last anyway.
// CHECK-LABEL: @behind_a_convolution
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<1x64x64x8xf32>, tensor<2x2xf32>) outs({{.*}} : tensor<1x32x32x8xf32>)
func.func @behind_a_convolution(%x: tensor<1x8x64x64xf32>) -> tensor<1x8x32x32xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<8x8x1x1xf32>}> : () -> tensor<8x8x1x1xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x8x64x64xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x64x64xf32>
  %y, %places = "onnx.MaxPool"(%c) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>}
      : (tensor<1x8x64x64xf32>) -> (tensor<1x8x32x32xf32>, tensor<1x8x32x32xi64>)
  return %y : tensor<1x8x32x32xf32>
}

// Rows of unknown length are taken for long ones. At their ends lanes are told from what is beside the image; in between
// nothing is masked.
// CHECK-LABEL: @pool_of_any_image
// CHECK-NOT: linalg.transpose
// CHECK: return
// CODE-LABEL: func.func private @k_{{.*}}memref<1x8x?x?xf32>
// CODE: vector.maskedload
// CODE: vector.store
// CODE: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1
// CODE-NOT: vector.maskedload
// CODE: vector.store
// CODE: vector.maskedload
// CODE: vector.store
func.func @pool_of_any_image(%x: tensor<1x8x?x?xf32>) -> tensor<1x8x?x?xf32> {
  %y, %places = "onnx.MaxPool"(%x) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x8x?x?xf32>) -> (tensor<1x8x?x?xf32>, tensor<1x8x?x?xi64>)
  return %y : tensor<1x8x?x?xf32>
}

// How many elements a window has is a factor of each row and of each column.
// CHECK-LABEL: @mean_of_any_image
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @mean_of_any_image(%x: tensor<1x8x?x?xf32>) -> tensor<1x8x?x?xf32> {
  %y = "onnx.AveragePool"(%x) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x8x?x?xf32>) -> tensor<1x8x?x?xf32>
  return %y : tensor<1x8x?x?xf32>
}

// No tile has several of these rows, each of which would ask.
// CHECK-LABEL: @strided_pool_of_any_image
// CHECK: linalg.transpose
func.func @strided_pool_of_any_image(%x: tensor<1x8x?x?xf32>) -> tensor<1x8x?x?xf32> {
  %y, %places = "onnx.MaxPool"(%x) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
      : (tensor<1x8x?x?xf32>) -> (tensor<1x8x?x?xf32>, tensor<1x8x?x?xi64>)
  return %y : tensor<1x8x?x?xf32>
}
}
