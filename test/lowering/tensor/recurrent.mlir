// RUN: onnxc-opt --split-input-file %s --onnx-to-linalg --canonicalize --cse | FileCheck %s

// Every tensor of a step has the batch of X: no size of 1 has to be expected.
// CHECK-LABEL: @batch_with_a_name
// CHECK-NOT: unrealized_conversion_cast
// CHECK: scf.for
// CHECK-NOT: tensor.generate
// CHECK: scf.yield
func.func @batch_with_a_name(%x: tensor<?x?x8xf32, ["T", "N", ""]>, %w: tensor<1x64x8xf32>, %r: tensor<1x64x16xf32>,
                             %b: tensor<1x128xf32>) -> tensor<?x1x?x16xf32, ["T", "", "N", ""]> {
  %y:3 = "onnx.LSTM"(%x, %w, %r, %b) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0>, hidden_size = 16 : i64}
      : (tensor<?x?x8xf32, ["T", "N", ""]>, tensor<1x64x8xf32>, tensor<1x64x16xf32>, tensor<1x128xf32>)
      -> (tensor<?x1x?x16xf32, ["T", "", "N", ""]>, tensor<1x?x16xf32, ["", "N", ""]>, tensor<1x?x16xf32, ["", "N", ""]>)
  return %y#0 : tensor<?x1x?x16xf32, ["T", "", "N", ""]>
}

// -----

// The states are checked against X once, before the steps.
// CHECK-LABEL: @batch_without_a_name
// CHECK: onnxc.check %{{.*}}, {{.*}}does not fit the other operands", "initial_h"
// CHECK: scf.for
// CHECK-NOT: tensor.generate
// CHECK: scf.yield
// CHECK-NOT: unrealized_conversion_cast
func.func @batch_without_a_name(%x: tensor<?x?x8xf32>, %w: tensor<1x48x8xf32>, %r: tensor<1x48x16xf32>,
                                %b: tensor<1x96xf32>, %lengths: tensor<?xi32>, %h: tensor<1x?x16xf32>)
    -> tensor<1x?x16xf32> {
  %y:2 = "onnx.GRU"(%x, %w, %r, %b, %lengths, %h) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>,
                                                   hidden_size = 16 : i64}
      : (tensor<?x?x8xf32>, tensor<1x48x8xf32>, tensor<1x48x16xf32>, tensor<1x96xf32>, tensor<?xi32>,
         tensor<1x?x16xf32>) -> (tensor<?x1x?x16xf32>, tensor<1x?x16xf32>)
  return %y#1 : tensor<1x?x16xf32>
}
