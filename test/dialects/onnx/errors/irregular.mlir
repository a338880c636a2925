// RUN: onnxc-opt %s --split-input-file --verify-diagnostics

func.func @rnn_with_an_unknown_activation(%x: tensor<2x1x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error @+2 {{activation 'Foo' is unknown}}
  // expected-error @+1 {{failed to infer returned types}}
  %y, %h = "onnx.RNN"(%x, %w, %r) {activations = ["Foo"], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<2x1x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<2x1x1x4xf32>, tensor<1x1x4xf32>)
  return
}
