// RUN: onnxc-opt %s --onnx-to-linalg --canonicalize | FileCheck %s

// A scale that is known says how many neighbours there are: their positions and shares are constants, and one loop
// reads all of them.
// CHECK-LABEL: @few_smooth_neighbours
// CHECK-DAG: arith.constant dense<{{.*}}> : tensor<4xi32>
// CHECK-DAG: arith.constant dense<{{.*}}> : tensor<4xf32>
// CHECK-NOT: "reduction"
// CHECK: tensor.extract
// CHECK-NOT: "reduction"
// CHECK: return
func.func @few_smooth_neighbours(%x: tensor<3x8xf32>) -> tensor<3x4xf32> {
  %scales = "onnx.Constant"() {value = dense<[1.0, 0.5]> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = "onnx.Resize"(%x, %scales) {operandSegmentSizes = array<i32: 1, 0, 1, 0>, antialias = 1 : i64, mode = "linear"}
      : (tensor<3x8xf32>, tensor<2xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @many_smooth_neighbours
// CHECK: "reduction"
// CHECK: return
func.func @many_smooth_neighbours(%x: tensor<3x80xf32>) -> tensor<3x4xf32> {
  %scales = "onnx.Constant"() {value = dense<[1.0, 0.05]> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = "onnx.Resize"(%x, %scales) {operandSegmentSizes = array<i32: 1, 0, 1, 0>, antialias = 1 : i64, mode = "linear"}
      : (tensor<3x80xf32>, tensor<2xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
