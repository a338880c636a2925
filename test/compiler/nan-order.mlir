// NaN is the greatest for TopK, as in the standard's reference, and both the greatest and the least for ArgMax and
// ArgMin. Constants are folded by running what was compiled.
// RUN: onnxc %s --stop-after=graph -o - | FileCheck %s
// CHECK-DAG: dense<[1, 4, 5, 2]>
// CHECK-DAG: dense<[3, 0, 2, 5, 1, 4]>
// CHECK-DAG: dense<[3, 17, 2]>
// CHECK-DAG: dense<[18, 4, 5]>
// CHECK-DAG: dense<1> : tensor<i64>
// CHECK-DAG: dense<4> : tensor<i64>
func.func @model() -> (tensor<4xi64>, tensor<6xi64>, tensor<3xi64>, tensor<3xi64>, tensor<i64>, tensor<i64>) {
  %x = "onnx.Constant"() {value = dense<[1.0, 0x7FC00000, 3.0, 0xFF800000, 0x7FC00000, 0x7F800000]> : tensor<6xf32>}
      : () -> tensor<6xf32>
  %four = "onnx.Constant"() {value = dense<4> : tensor<1xi64>} : () -> tensor<1xi64>
  %six = "onnx.Constant"() {value = dense<6> : tensor<1xi64>} : () -> tensor<1xi64>
  %v0, %most = "onnx.TopK"(%x, %four) {largest = 1 : i64} : (tensor<6xf32>, tensor<1xi64>) -> (tensor<4xf32>, tensor<4xi64>)
  %v1, %least = "onnx.TopK"(%x, %six) {largest = 0 : i64} : (tensor<6xf32>, tensor<1xi64>) -> (tensor<6xf32>, tensor<6xi64>)
  // The same in vectors; zeros of both signs are equal.
  %y = "onnx.Constant"() {value = dense<[1.0, 2.0, 0x7F800000, 0x7FC00000, 0.0, -0.0, 3.0, 3.0, 1.0, 2.0, 3.0, 4.0, 1.0,
      2.0, 3.0, 4.0, 5.0, 0xFFC00000, 0xFF800000, 1.0]> : tensor<20xf32>} : () -> tensor<20xf32>
  %three = "onnx.Constant"() {value = dense<3> : tensor<1xi64>} : () -> tensor<1xi64>
  %v2, %most3 = "onnx.TopK"(%y, %three) {largest = 1 : i64} : (tensor<20xf32>, tensor<1xi64>) -> (tensor<3xf32>, tensor<3xi64>)
  %v3, %least3 = "onnx.TopK"(%y, %three) {largest = 0 : i64} : (tensor<20xf32>, tensor<1xi64>) -> (tensor<3xf32>, tensor<3xi64>)
  %first = "onnx.ArgMax"(%x) {keepdims = 0 : i64} : (tensor<6xf32>) -> tensor<i64>
  %last = "onnx.ArgMin"(%x) {keepdims = 0 : i64, select_last_index = 1 : i64} : (tensor<6xf32>) -> tensor<i64>
  return %most, %least, %most3, %least3, %first, %last
      : tensor<4xi64>, tensor<6xi64>, tensor<3xi64>, tensor<3xi64>, tensor<i64>, tensor<i64>
}
