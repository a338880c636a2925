// RUN: onnxc-opt %s --expand-composite --split-input-file --verify-diagnostics | FileCheck %s

// Integers become floats before they are scaled.
// CHECK-LABEL: @integers_are_scaled_as_floats
// CHECK: "onnx.Cast"
// CHECK: "onnx.Sub"
// CHECK: "onnx.Mul"
func.func @integers_are_scaled_as_floats(%x: tensor<4x2xi64>) -> tensor<4x2xf32> {
  %0 = "onnx.ml.Scaler"(%x) {offset = array<f32: 1.0, 2.0>, scale = array<f32: 0.5>} : (tensor<4x2xi64>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

func.func @one_kind_of_imputed_values(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // expected-error @+2 {{expected either 'imputed_value_floats' or 'imputed_value_int64s'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "onnx.ml.Imputer"(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
