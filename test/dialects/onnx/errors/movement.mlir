// RUN: onnxc-opt %s --split-input-file --verify-diagnostics

func.func @concat_axis_too_large(%a: tensor<2x2xf32>) {
  // expected-error @+2 {{axis 3 is outside [-2, 2)}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = "onnx.Concat"(%a, %a) {axis = 3 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @conv_window_does_not_fit(%x: tensor<1x3x4x4xf32>, %w: tensor<8x3x7x7xf32>) {
  // expected-error @+2 {{a window of 7 does not fit 4 elements and their padding}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = "onnx.Conv"(%x, %w) : (tensor<1x3x4x4xf32>, tensor<8x3x7x7xf32>) -> tensor<1x8x1x1xf32>
  return
}
