// A shape that is computed from sizes, as exporters write it: nobody is asked for memory, and what the shape was made of is
// not computed.
// RUN: onnxc %s --stop-after=memory -o - | FileCheck %s --implicit-check-not=onnxc.allocate --implicit-check-not=memref.alloc --implicit-check-not=xi64
// CHECK: func.func @model(
// CHECK: onnxc.kernel
func.func @model(%x: tensor<?x4x8xf32, ["N", "", ""]> {onnxc.name = "x"}, %w: tensor<32x16xf32> {onnxc.name = "w"})
    -> (tensor<?x16xf32, ["N", ""]> {onnxc.name = "y"}) {
  %zero = "onnx.Constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %first = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %rest = "onnx.Constant"() {value = dense<32> : tensor<1xi64>} : () -> tensor<1xi64>
  %e = "onnx.Exp"(%x) : (tensor<?x4x8xf32, ["N", "", ""]>) -> tensor<?x4x8xf32, ["N", "", ""]>
  %shape = "onnx.Shape"(%e) : (tensor<?x4x8xf32, ["N", "", ""]>) -> tensor<3xi64>
  %n = "onnx.Gather"(%shape, %zero) {axis = 0 : i64} : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %one = "onnx.Unsqueeze"(%n, %first) : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
  %wanted = "onnx.Concat"(%one, %rest) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %flat = "onnx.Reshape"(%e, %wanted) : (tensor<?x4x8xf32, ["N", "", ""]>, tensor<2xi64>) -> tensor<?x32xf32, ["N", ""]>
  %y = "onnx.MatMul"(%flat, %w) : (tensor<?x32xf32, ["N", ""]>, tensor<32x16xf32>) -> tensor<?x16xf32, ["N", ""]>
  return %y : tensor<?x16xf32, ["N", ""]>
}
