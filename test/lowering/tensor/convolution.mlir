// RUN: onnxc-opt %s --onnx-to-linalg --canonicalize --cse | FileCheck %s

// Channels last, between two transposes; only padding that a window reaches.
// CHECK-LABEL: @strided
// CHECK: linalg.transpose {{.*}} permutation = [0, 2, 3, 1]
// CHECK: tensor.pad %{{.*}} low[0, 3, 3, 0] high[0, 2, 2, 0]
// CHECK: linalg.generic
// CHECK: arith.mulf
// CHECK: linalg.transpose {{.*}} permutation = [0, 3, 1, 2]
func.func @strided(%x: tensor<1x3x224x224xf32>, %w: tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32> {
  %y = "onnx.Conv"(%x, %w) {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>}
      : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
  return %y : tensor<1x64x112x112xf32>
}

// The size of the image is checked where it is not known.
// CHECK-LABEL: @depthwise_of_unknown_size
// CHECK: onnxc.check
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
func.func @depthwise_of_unknown_size(%x: tensor<1x32x?x8xf32, ["", "", "H", ""]>, %w: tensor<32x1x3x3xf32>)
    -> tensor<1x32x?x6xf32, ["", "", "H-2", ""]> {
  %y = "onnx.Conv"(%x, %w) {group = 32 : i64}
      : (tensor<1x32x?x8xf32, ["", "", "H", ""]>, tensor<32x1x3x3xf32>) -> tensor<1x32x?x6xf32, ["", "", "H-2", ""]>
  return %y : tensor<1x32x?x6xf32, ["", "", "H-2", ""]>
}

// Groups that fill no vector are loops of their own: this machine is not known to have any.
// CHECK-LABEL: @grouped_without_vectors
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
func.func @grouped_without_vectors(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x6x6xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<16x4x3x3xf32>}> : () -> tensor<16x4x3x3xf32>
  %y = "onnx.Conv"(%x, %w) {group = 4 : i64} : (tensor<1x16x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<1x16x6x6xf32>
  return %y : tensor<1x16x6x6xf32>
}
