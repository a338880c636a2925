// RUN: onnxc-opt %s --expand-composite | FileCheck %s

// What changes the scores is between the product and the softmax; no subgraph, no change.
// CHECK-LABEL: @scores_are_changed_before_the_softmax
// CHECK: "onnx.MatMul"
// CHECK: "onnx.Tanh"
// CHECK: "onnx.Exp"
// CHECK: "onnx.MatMul"
// CHECK-NOT: FlexAttention
func.func @scores_are_changed_before_the_softmax(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>,
                                                 %v: tensor<1x2x5x4xf32>) -> tensor<1x2x3x4xf32> {
  %0 = "onnx.preview.FlexAttention"(%q, %k, %v) ({
  ^bb0(%scores: tensor<1x2x3x5xf32>):
    %1 = "onnx.Tanh"(%scores) : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
    onnx.Yield %1 : tensor<1x2x3x5xf32>
  }, {}) : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x3x4xf32>
  return %0 : tensor<1x2x3x4xf32>
}
