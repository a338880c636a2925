// RUN: onnxc-opt --verify-diagnostics --lower-control-flow %s

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
