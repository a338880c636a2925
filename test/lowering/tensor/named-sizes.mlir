// RUN: onnxc-opt --split-input-file %s --onnx-to-linalg --canonicalize --cse | FileCheck %s

// A name of the operand, which no input of the model has.
// CHECK-LABEL: @size_of_an_operand
// CHECK: linalg.transpose
// CHECK-NOT: tensor.extract %
// CHECK: tensor.collapse_shape
// CHECK: return
func.func @size_of_an_operand(%x: tensor<3x4xf32>) -> tensor<?xi64, ["?7*2"]> {
  %zero = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %two = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = "onnx.NonZero"(%x) : (tensor<3x4xf32>) -> tensor<2x?xi64, ["", "?7"]>
  %t = "onnx.Transpose"(%y) {perm = array<i64: 1, 0>} : (tensor<2x?xi64, ["", "?7"]>) -> tensor<?x2xi64, ["?7", ""]>
  %shape = "onnx.Shape"(%t) {start = 0 : i64, end = 1 : i64} : (tensor<?x2xi64, ["?7", ""]>) -> tensor<1xi64>
  %wanted = "onnx.Concat"(%two, %shape) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %z = "onnx.Reshape"(%t, %wanted) : (tensor<?x2xi64, ["?7", ""]>, tensor<2xi64>) -> tensor<2x?xi64, ["", "?7"]>
  %flat = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %w = "onnx.Reshape"(%z, %flat) : (tensor<2x?xi64, ["", "?7"]>, tensor<1xi64>) -> tensor<?xi64, ["?7*2"]>
  return %w : tensor<?xi64, ["?7*2"]>
}

// -----

// A formula of the inputs' sizes; nothing asks whether it is negative.
// CHECK-LABEL: @size_of_a_formula
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x?xf32>
// CHECK-NOT: tensor.extract
// CHECK-NOT: onnxc.check
// CHECK: %[[M:.*]] = tensor.dim %[[X]], %c1
// CHECK: %[[SUM:.*]] = arith.addi %[[M]], %c3
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[SIZE:.*]] = arith.muli %[[SUM]], %[[N]]
// CHECK: tensor.empty(%[[SIZE]])
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @size_of_a_formula(%x: tensor<?x?xf32, ["N", "M"]>) -> tensor<?xf32, ["(M+3)*N"]> {
  %three = "onnx.Constant"() {value = dense<3> : tensor<1xi64>} : () -> tensor<1xi64>
  %n = "onnx.Shape"(%x) {start = 0 : i64, end = 1 : i64} : (tensor<?x?xf32, ["N", "M"]>) -> tensor<1xi64>
  %m = "onnx.Shape"(%x) {start = 1 : i64, end = 2 : i64} : (tensor<?x?xf32, ["N", "M"]>) -> tensor<1xi64>
  %longer = "onnx.Add"(%m, %three) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %all = "onnx.Mul"(%n, %longer) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %y = "onnx.ConstantOfShape"(%all) {value = dense<1.0> : tensor<1xf32>} : (tensor<1xi64>) -> tensor<?xf32, ["(M+3)*N"]>
  return %y : tensor<?xf32, ["(M+3)*N"]>
}

// -----

// Names tell that pairs of dimensions join, and that others part again.
// CHECK-LABEL: @products_are_groups
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3, 4]]
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2], [3, 4]]
func.func @products_are_groups(%x: tensor<?x?x2x?x4xf32, ["N", "H", "", "W", ""]>)
    -> (tensor<?x?x?xf32, ["N", "2*H", "4*W"]>, tensor<?x2x?x?x4xf32, ["N", "", "H", "W", ""]>) {
  %two = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %four = "onnx.Constant"() {value = dense<4> : tensor<1xi64>} : () -> tensor<1xi64>
  %n = "onnx.Shape"(%x) {start = 0 : i64, end = 1 : i64} : (tensor<?x?x2x?x4xf32, ["N", "H", "", "W", ""]>) -> tensor<1xi64>
  %h = "onnx.Shape"(%x) {start = 1 : i64, end = 2 : i64} : (tensor<?x?x2x?x4xf32, ["N", "H", "", "W", ""]>) -> tensor<1xi64>
  %w = "onnx.Shape"(%x) {start = 3 : i64, end = 4 : i64} : (tensor<?x?x2x?x4xf32, ["N", "H", "", "W", ""]>) -> tensor<1xi64>
  %h2 = "onnx.Mul"(%h, %two) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %w4 = "onnx.Mul"(%w, %four) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %joined = "onnx.Concat"(%n, %h2, %w4) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %y = "onnx.Reshape"(%x, %joined) : (tensor<?x?x2x?x4xf32, ["N", "H", "", "W", ""]>, tensor<3xi64>) -> tensor<?x?x?xf32, ["N", "2*H", "4*W"]>
  %parted = "onnx.Concat"(%n, %two, %h, %w, %four) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5xi64>
  %z = "onnx.Reshape"(%y, %parted) : (tensor<?x?x?xf32, ["N", "2*H", "4*W"]>, tensor<5xi64>) -> tensor<?x2x?x?x4xf32, ["N", "", "H", "W", ""]>
  return %y, %z : tensor<?x?x?xf32, ["N", "2*H", "4*W"]>, tensor<?x2x?x?x4xf32, ["N", "", "H", "W", ""]>
}

// -----

// Scales are floating point, and so would be the sizes that they make.
// CHECK-LABEL: @size_of_a_scale
// CHECK: %[[H:.*]] = tensor.dim
// CHECK: %[[SIZE:.*]] = arith.muli %[[H]], %c2
// CHECK: tensor.empty(%[[SIZE]]) : tensor<1x3x?x8xf32>
func.func @size_of_a_scale(%x: tensor<1x3x?x8xf32, ["", "", "H", ""]>) -> tensor<1x3x?x8xf32, ["", "", "H*2", ""]> {
  %scales = "onnx.Constant"() {value = dense<[1.0, 1.0, 2.0, 1.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %y = "onnx.Resize"(%x, %scales) {mode = "nearest", operandSegmentSizes = array<i32: 1, 0, 1, 0>}
      : (tensor<1x3x?x8xf32, ["", "", "H", ""]>, tensor<4xf32>) -> tensor<1x3x?x8xf32, ["", "", "H*2", ""]>
  return %y : tensor<1x3x?x8xf32, ["", "", "H*2", ""]>
}
