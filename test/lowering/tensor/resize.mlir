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

// Shares that f32 rounds are constants too. Positions advance by one or two.
// CHECK-LABEL: @shares_that_are_rounded
// CHECK-DAG: arith.constant dense<[0, 1, 3, 4, 6, 7]> : tensor<6xi32>
// CHECK-DAG: arith.constant dense<[1.000000e+00, 6.000000e-01, 2.000000e-01, 8.000000e-01, 4.000000e-01, 1.000000e+00]> : tensor<6xf32>
// CHECK: onnxc.creep %{{.*}} by 2
// CHECK: return
func.func @shares_that_are_rounded(%x: tensor<3x9xf32>) -> tensor<3x6xf32> {
  %sizes = "onnx.Constant"() {value = dense<[3, 6]> : tensor<2xi64>} : () -> tensor<2xi64>
  %y = "onnx.Resize"(%x, %sizes) {operandSegmentSizes = array<i32: 1, 0, 0, 1>, mode = "linear",
      coordinate_transformation_mode = "align_corners"} : (tensor<3x9xf32>, tensor<2xi64>) -> tensor<3x6xf32>
  return %y : tensor<3x6xf32>
}

// The run makes the tables of an axis of any size; the scale says by how much positions mostly advance.
// CHECK-LABEL: @axis_of_any_size
// CHECK: onnxc.check {{.*}}has too many elements along an axis
// CHECK: tensor.empty(%{{.*}}) : tensor<?xi32>
// CHECK: onnxc.creep %{{.*}} by 2 mostly : index
// CHECK: return
func.func @axis_of_any_size(%x: tensor<3x?xf32>) -> tensor<3x?xf32> {
  %scales = "onnx.Constant"() {value = dense<[1.0, 0.7]> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = "onnx.Resize"(%x, %scales) {operandSegmentSizes = array<i32: 1, 0, 1, 0>, mode = "nearest"}
      : (tensor<3x?xf32>, tensor<2xf32>) -> tensor<3x?xf32>
  return %y : tensor<3x?xf32>
}
