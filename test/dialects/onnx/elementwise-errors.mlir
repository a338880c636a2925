// RUN: onnxc-opt --split-input-file --verify-diagnostics %s

func.func @bits_of_another_width(%x: tensor<4xf32>) -> tensor<4xi64> {
  // expected-error @+2 {{the element type is not known}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "onnx.BitCast"(%x) {to = 7 : i64} : (tensor<4xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @operands_of_two_types(%a: tensor<4xf32>, %b: tensor<4xi64>) -> tensor<4xf32> {
  // expected-error @+1 {{inputs 'a' and 'b' differ in type: float and int64}}
  %0 = "onnx.Add"(%a, %b) : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @a_sum_of_nothing() -> tensor<4xf32> {
  // expected-error @+2 {{expected an input}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "onnx.Sum"() : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @a_step_of_zero() -> tensor<?xi64> {
  %0 = "onnx.Constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  // expected-error @+2 {{the step of a range is zero}}
  // expected-error @+1 {{failed to infer returned types}}
  %1 = "onnx.Range"(%0, %0, %0) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  return %1 : tensor<?xi64>
}
