// RUN: onnxc-opt %s --split-input-file --verify-diagnostics

func.func @rnn_with_an_unknown_activation(%x: tensor<2x1x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error @+2 {{activation 'Foo' is unknown}}
  // expected-error @+1 {{failed to infer returned types}}
  %y, %h = "onnx.RNN"(%x, %w, %r) {activations = ["Foo"], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<2x1x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<2x1x1x4xf32>, tensor<1x1x4xf32>)
  return
}

// -----

func.func @image_and_block_of_other_ranks(%x: tensor<1x5x5xf32>, %image: tensor<3xi64>, %block: tensor<2xi64>) {
  // expected-error @+2 {{image and block must have the same rank}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = "onnx.Col2Im"(%x, %image, %block) : (tensor<1x5x5xf32>, tensor<3xi64>, tensor<2xi64>) -> tensor<1x1x5x5xf32>
  return
}

// -----

func.func @grid_of_unknown_rank(%theta: tensor<1x?x?xf32>, %size: tensor<?xi64>) {
  // expected-error @+2 {{'theta' of an unknown number of rows and 'size' of an unknown number of elements are not supported}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = "onnx.AffineGrid"(%theta, %size) : (tensor<1x?x?xf32>, tensor<?xi64>) -> tensor<1x4x4x2xf32>
  return
}

// -----

func.func @spectrum_of_three_parts(%x: tensor<1x6x3xf32>) {
  // expected-error @+2 {{the last dimension must be 1 or 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = "onnx.DFT"(%x) {operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<1x6x3xf32>) -> tensor<1x6x2xf32>
  return
}
