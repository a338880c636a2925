// RUN: onnxc-opt --verify-diagnostics --lower-control-flow --split-input-file %s

func.func @ranks_differ(%cond: tensor<i8>, %a: tensor<2xf32>,
    %b: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{needs tensors whose ranks are the same in every branch and iteration}}
  %y = "onnx.If"(%cond) ({
    "onnx.Yield"(%a) : (tensor<2xf32>) -> ()
  }, {
    "onnx.Yield"(%b) : (tensor<2x3xf32>) -> ()
  }) : (tensor<i8>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @lengths_differ(%x: tensor<3xf32>, %y: tensor<1xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'initial_state_and_scan_inputs': scanned inputs differ in length}}
  %z = "onnx.Scan"(%x, %y) <{num_scan_inputs = 2 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "onnx.Yield"(%b) : (tensor<f32>) -> ()
  }) : (tensor<3xf32>, tensor<1xf32>) -> tensor<3xf32>
  return %z : tensor<3xf32>
}
