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

// -----

// Each step of many sequences multiplies its own inputs.
// CHECK-LABEL: @near
// CHECK-NOT: arith.mulf
// CHECK: scf.for
// CHECK-COUNT-2: iterator_types = ["parallel", "parallel", "reduction"]
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 262144, index_bits = 64, heap = true,
    has_f16 = true>} {
func.func @near(%x: tensor<4x16x256xf32>, %w: tensor<1x128x256xf32>, %r: tensor<1x128x32xf32>)
    -> tensor<4x1x16x32xf32> {
  %y:3 = "onnx.LSTM"(%x, %w, %r) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, hidden_size = 32 : i64}
      : (tensor<4x16x256xf32>, tensor<1x128x256xf32>, tensor<1x128x32xf32>)
      -> (tensor<4x1x16x32xf32>, tensor<1x16x32xf32>, tensor<1x16x32xf32>)
  return %y#0 : tensor<4x1x16x32xf32>
}
}

// -----

// Not where memory is far away and L2 does not hold the weights.
// CHECK-LABEL: @far
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: scf.for
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-NOT: "reduction"]
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 262144, index_bits = 64, heap = true,
    has_f16 = true, memory_bytes_per_cycle = 3>} {
func.func @far(%x: tensor<4x16x256xf32>, %w: tensor<1x128x256xf32>, %r: tensor<1x128x32xf32>)
    -> tensor<4x1x16x32xf32> {
  %y:3 = "onnx.LSTM"(%x, %w, %r) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, hidden_size = 32 : i64}
      : (tensor<4x16x256xf32>, tensor<1x128x256xf32>, tensor<1x128x32xf32>)
      -> (tensor<4x1x16x32xf32>, tensor<1x16x32xf32>, tensor<1x16x32xf32>)
  return %y#0 : tensor<4x1x16x32xf32>
}
}

// -----

// Steps end where the longest sequence does; what lies behind is zero.
// CHECK-LABEL: @sequences_that_end
// CHECK: arith.maxsi
// CHECK: %[[LAST:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK: %[[END:.*]] = arith.maxsi %[[LAST]]
// The products of 60 steps in ten pieces.
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]] step %c6
// CHECK-SAME: tensor<60x4x64xf32>
// CHECK: arith.minsi %{{.*}}, %c54
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: %[[STEPS:.*]]:3 = scf.for %{{.*}} = %{{.*}} to %[[END]] step %c1
// CHECK: %[[COUNT:.*]] = arith.subi %c60, %[[END]]
// CHECK: %[[BEHIND:.*]] = tensor.extract_slice %[[STEPS]]#0[%[[END]], 0, 0] [%[[COUNT]], 4, 16]
// CHECK: linalg.fill ins(%{{.*}}) outs(%[[BEHIND]]
func.func @sequences_that_end(%x: tensor<60x4x8xf32>, %r: tensor<1x64x16xf32>, %lengths: tensor<4xi32>)
    -> tensor<60x1x4x16xf32> {
  %w = "onnx.Constant"() {value = dense<0.5> : tensor<1x64x8xf32>} : () -> tensor<1x64x8xf32>
  %y:3 = "onnx.LSTM"(%x, %w, %r, %lengths) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0>, hidden_size = 16 : i64}
      : (tensor<60x4x8xf32>, tensor<1x64x8xf32>, tensor<1x64x16xf32>, tensor<4xi32>)
      -> (tensor<60x1x4x16xf32>, tensor<1x4x16xf32>, tensor<1x4x16xf32>)
  return %y#0 : tensor<60x1x4x16xf32>
}

// -----

// Of weights that the run computes, one product up to there packs them once.
// CHECK-LABEL: @weights_of_the_run
// CHECK: %[[LAST:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK: %[[END:.*]] = arith.maxsi %[[LAST]]
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0] [%[[END]], 4, 8]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0] [%[[END]], 4, 64] [1, 1, 1] : tensor<?x4x64xf32> into tensor<60x4x64xf32>
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]] step %c1
func.func @weights_of_the_run(%x: tensor<60x4x8xf32>, %w: tensor<1x64x8xf32>, %r: tensor<1x64x16xf32>,
                              %lengths: tensor<4xi32>) -> tensor<60x1x4x16xf32> {
  %y:3 = "onnx.LSTM"(%x, %w, %r, %lengths) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0>, hidden_size = 16 : i64}
      : (tensor<60x4x8xf32>, tensor<1x64x8xf32>, tensor<1x64x16xf32>, tensor<4xi32>)
      -> (tensor<60x1x4x16xf32>, tensor<1x4x16xf32>, tensor<1x4x16xf32>)
  return %y#0 : tensor<60x1x4x16xf32>
}
