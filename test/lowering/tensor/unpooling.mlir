// RUN: onnxc-opt %s --onnx-to-linalg | FileCheck %s

// The elements of the kernel that lie on a pixel are added up.
// CHECK-LABEL: @blocks_are_gathered
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
func.func @blocks_are_gathered(%x: tensor<1x5x5xf32>) -> tensor<1x1x5x5xf32> {
  %image = "onnx.Constant"() {value = dense<5> : tensor<2xi64>} : () -> tensor<2xi64>
  %block = "onnx.Constant"() {value = dense<[1, 5]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = "onnx.Col2Im"(%x, %image, %block) : (tensor<1x5x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x1x5x5xf32>
  return %0 : tensor<1x1x5x5xf32>
}

// CHECK-LABEL: @indices_of_the_pool_are_checked
// CHECK: onnxc.check {{.*}} 2, {{.*}}, "I"
// CHECK: tensor.insert
func.func @indices_of_the_pool_are_checked(%x: tensor<1x1x2x2xf32>, %i: tensor<1x1x2x2xi64>) -> tensor<1x1x4x4xf32> {
  %0 = "onnx.MaxUnpool"(%x, %i) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>}
      : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>) -> tensor<1x1x4x4xf32>
  return %0 : tensor<1x1x4x4xf32>
}

// CHECK-LABEL: @slices_are_counted_in_place
// CHECK: scf.for
// CHECK: tensor.empty(%{{.*}}) : tensor<?x3xf32>
func.func @slices_are_counted_in_place(%x: tensor<4x3xf32>) -> tensor<?x3xf32> {
  %0:4 = "onnx.Unique"(%x) {axis = 0 : i64}
      : (tensor<4x3xf32>) -> (tensor<?x3xf32>, tensor<?xi64>, tensor<4xi64>, tensor<?xi64>)
  return %0#0 : tensor<?x3xf32>
}
