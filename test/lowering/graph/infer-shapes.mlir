// RUN: onnxc-opt --infer-shapes --split-input-file --verify-diagnostics %s | FileCheck %s

// CHECK-LABEL: @constant_shape_operand_gives_static_sizes
// CHECK-SAME: -> tensor<3x4xf32>
func.func @constant_shape_operand_gives_static_sizes(%x: tensor<2x6xf32>) -> tensor<?x?xf32> {
  %shape = "onnx.Constant"() {value = dense<[3, -1]> : tensor<2xi64>} : () -> tensor<2xi64>
  // CHECK: "onnx.Reshape"{{.*}} -> tensor<3x4xf32>
  %y = "onnx.Reshape"(%x, %shape) : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: @names_go_through_elementwise_operators
// CHECK-SAME: -> tensor<?x3xf32, ["N", ""]>
func.func @names_go_through_elementwise_operators(%x: tensor<?x3xf32, ["N", ""]>) -> tensor<*xf32> {
  %y = "onnx.Relu"(%x) : (tensor<?x3xf32, ["N", ""]>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: @unknown_sizes_get_a_name
// CHECK-SAME: -> tensor<?x?xf32, ["?3", "?4"]>
func.func @unknown_sizes_get_a_name(%x: tensor<?x3xf32, ["?2", ""]>, %axes: tensor<1xi64>) -> tensor<*xf32> {
  // CHECK: "onnx.ReduceSum"{{.*}} -> tensor<?x?xf32, ["?3", "?4"]>
  %y = "onnx.ReduceSum"(%x, %axes) : (tensor<?x3xf32, ["?2", ""]>, tensor<1xi64>) -> tensor<*xf32>
  %z = "onnx.Add"(%y, %y) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %z : tensor<*xf32>
}

// -----

func.func @sizes_that_do_not_broadcast(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @+2 {{cannot broadcast}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = "onnx.Add"(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: @computed_shapes_become_constants
// CHECK: "onnx.Constant"() <{value = dense<[4, 6]> : tensor<2xi64>}>
func.func @computed_shapes_become_constants(%x: tensor<2x3xf32>) -> tensor<2xi64> {
  %two = "onnx.Constant"() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %shape = "onnx.Shape"(%x) : (tensor<2x3xf32>) -> tensor<2xi64>
  %twice = "onnx.Mul"(%shape, %two) : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  return %twice : tensor<2xi64>
}
