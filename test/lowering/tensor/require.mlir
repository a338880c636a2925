// RUN: onnxc-opt %s --onnx-to-linalg --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @a_fault_has_the_words_of_the_composite
// CHECK: onnxc.check {{.*}}, 2, "node 'g' (Group): a sequence ends outside", "lengths"
func.func @a_fault_has_the_words_of_the_composite(%x: tensor<2xi64>, %c: tensor<2xi1>) -> tensor<2xi64> {
  %y = "onnx.x.Require"(%x, %c) {status = 2 : i64, operand = "lengths", message = "a sequence ends outside"}
      : (tensor<2xi64>, tensor<2xi1>) -> tensor<2xi64> loc("g"("Group"))
  return %y : tensor<2xi64>
}

// -----

// CHECK-LABEL: @what_is_known_to_hold_is_not_checked
// CHECK-NOT: onnxc.check
func.func @what_is_known_to_hold_is_not_checked(%x: tensor<2xi64>) -> tensor<2xi64> {
  %c = "onnx.Constant"() {value = dense<true> : tensor<2xi1>} : () -> tensor<2xi1>
  %y = "onnx.x.Require"(%x, %c) {status = 2 : i64, operand = "lengths", message = "a sequence ends outside"}
      : (tensor<2xi64>, tensor<2xi1>) -> tensor<2xi64>
  return %y : tensor<2xi64>
}

// -----

func.func @what_is_known_to_fail_is_an_error(%x: tensor<2xi64>) -> tensor<2xi64> {
  %c = "onnx.Constant"() {value = dense<[true, false]> : tensor<2xi1>} : () -> tensor<2xi1>
  // expected-error @+2 {{'lengths': a sequence ends outside}}
  // expected-error @+1 {{Require is not supported in this form}}
  %y = "onnx.x.Require"(%x, %c) {status = 2 : i64, operand = "lengths", message = "a sequence ends outside"}
      : (tensor<2xi64>, tensor<2xi1>) -> tensor<2xi64>
  return %y : tensor<2xi64>
}

// -----

// CHECK-LABEL: @batches_of_indices_are_those_of_the_data
// CHECK: %[[SAME:.*]] = arith.cmpi eq
// CHECK: onnxc.check %[[SAME]], 1, "node 'g' (GatherND): has batches of other sizes than the data", "indices"
func.func @batches_of_indices_are_those_of_the_data(%x: tensor<?x7xf32>, %i: tensor<2x1xi64>) -> tensor<2xf32> {
  %y = "onnx.GatherND"(%x, %i) {batch_dims = 1 : i64} : (tensor<?x7xf32>, tensor<2x1xi64>) -> tensor<2xf32>
      loc("g"("GatherND"))
  return %y : tensor<2xf32>
}

// -----

func.func @batches_that_are_known_to_differ(%x: tensor<1x7xf32>, %i: tensor<2x1xi64>) -> tensor<2xf32> {
  // expected-error @+2 {{'indices': has batches of other sizes than the data}}
  // expected-error @+1 {{GatherND is not supported in this form}}
  %y = "onnx.GatherND"(%x, %i) {batch_dims = 1 : i64} : (tensor<1x7xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
