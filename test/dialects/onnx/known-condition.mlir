// RUN: onnxc-opt --canonicalize %s | FileCheck %s

// A function returns what the branch yields, of which more is known.
// CHECK-LABEL: func.func @result
// CHECK-SAME: -> tensor<?x8xf32, ["b", ""]>
// CHECK: %[[Y:.*]] = "onnx.Squeeze"
// CHECK-NEXT: return %[[Y]] : tensor<?x8xf32, ["b", ""]>
func.func @result(%x: tensor<1x?x8xf32, ["", "b", ""]>, %axes: tensor<1xi64>) -> tensor<*xf32> {
  %c = "onnx.Constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
  %y = "onnx.If"(%c) ({
    %s = "onnx.Squeeze"(%x, %axes) : (tensor<1x?x8xf32, ["", "b", ""]>, tensor<1xi64>) -> tensor<?x8xf32, ["b", ""]>
    onnx.Yield %s : tensor<?x8xf32, ["b", ""]>
  }, {
    onnx.Yield %x : tensor<1x?x8xf32, ["", "b", ""]>
  }) : (tensor<i1>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
