// RUN: onnxc-opt %s --onnx-to-linalg --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @inference_passes_the_data_on
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: return %[[X]]
func.func @inference_passes_the_data_on(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y, %mask = "onnx.Dropout"(%x) {operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>)
  return %y : tensor<4xf32>
}

// -----

// Where nothing is dropped, training is no error.
// CHECK-LABEL: @training_is_found_at_run_time
// CHECK: onnxc.check {{.*}}, 9, "node 'd' (Dropout): training is not supported", "training_mode"
func.func @training_is_found_at_run_time(%x: tensor<4xf32>, %ratio: tensor<f32>, %training: tensor<i1>) -> tensor<4xf32> {
  %y, %mask = "onnx.Dropout"(%x, %ratio, %training) {operandSegmentSizes = array<i32: 1, 1, 1>}
      : (tensor<4xf32>, tensor<f32>, tensor<i1>) -> (tensor<4xf32>, tensor<4xi1>) loc("d")
  return %y : tensor<4xf32>
}

// -----

func.func @training_is_an_error(%x: tensor<4xf32>) -> tensor<4xf32> {
  %ratio = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %training = "onnx.Constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  // expected-error @+2 {{Dropout in training mode is not supported}}
  // expected-error @+1 {{Dropout is not supported in this form}}
  %y, %mask = "onnx.Dropout"(%x, %ratio, %training) {operandSegmentSizes = array<i32: 1, 1, 1>}
      : (tensor<4xf32>, tensor<f32>, tensor<i1>) -> (tensor<4xf32>, tensor<4xi1>)
  return %y : tensor<4xf32>
}

// -----

func.func @strings_are_an_error(%a: tensor<2x!onnx.string>, %b: tensor<2x!onnx.string>) -> tensor<2xi1> {
  // expected-error @+1 {{tensors of strings are not supported}}
  %0 = "onnx.Equal"(%a, %b) : (tensor<2x!onnx.string>, tensor<2x!onnx.string>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}
