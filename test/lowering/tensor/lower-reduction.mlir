// RUN: onnxc-opt --onnx-to-linalg --split-input-file --verify-diagnostics %s | FileCheck %s

// CHECK-LABEL: @accumulates_as_wide_as_it_computes
// CHECK: linalg.fill {{.*}} -> tensor<2xf32>
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK: arith.truncf {{.*}} : f32 to f16
func.func @accumulates_as_wide_as_it_computes(%x: tensor<2x3xf16>) -> tensor<2x1xf16> {
  %axes = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "onnx.ReduceSum"(%x, %axes) : (tensor<2x3xf16>, tensor<1xi64>) -> tensor<2x1xf16>
  return %0 : tensor<2x1xf16>
}

// -----

// Every dimension is split into a kept and a folded one.
// CHECK-DAG: #[[SUMS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 + d2, d1 + d3)>
// CHECK-LABEL: @run_time_axes_make_one_nest_of_static_rank
// CHECK: onnxc.check {{.*}}axis is out of range
// CHECK: linalg.generic {indexing_maps = [#[[SUMS]],
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction", "reduction"]
// CHECK: tensor.reshape
func.func @run_time_axes_make_one_nest_of_static_rank(%x: tensor<4x3xf32>, %axes: tensor<1xi64>) -> tensor<?xf32> {
  %0 = "onnx.ReduceSum"(%x, %axes) {keepdims = 0 : i64} : (tensor<4x3xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: @position_and_value_are_folded_together
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<2xf32>, tensor<2xi32>)
// CHECK: arith.maximumf
// CHECK: arith.select
func.func @position_and_value_are_folded_together(%x: tensor<2x3xf32>) -> tensor<2x1xi64> {
  %0 = "onnx.ArgMax"(%x) {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x1xi64>
  return %0 : tensor<2x1xi64>
}

// -----

// Along vectors: the greatest, then the first place that is as great or NaN.
// CHECK-LABEL: @positions_along_vectors_are_found_in_two_folds
// CHECK: %[[MOST:.*]] = linalg.generic {{.*}} ins(%[[X:.*]] : tensor<2x99xf32>) outs({{.*}} : tensor<2xf32>)
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[MOST]] : tensor<2x99xf32>, tensor<2xf32>) outs({{.*}} : tensor<2xi32>)
// CHECK: arith.cmpf oeq
// CHECK: arith.cmpf une
// CHECK: arith.select
// CHECK: arith.minsi
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {
func.func @positions_along_vectors_are_found_in_two_folds(%x: tensor<2x99xf32>) -> tensor<2x1xi64> {
  %0 = "onnx.ArgMax"(%x) {axis = 1 : i64} : (tensor<2x99xf32>) -> tensor<2x1xi64>
  return %0 : tensor<2x1xi64>
}
}

// -----

// Lanes of 64 bits are half as many.
// CHECK-LABEL: @positions_across_vectors_are_narrow
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<20xf32>, tensor<20xi32>)
// CHECK: arith.extsi {{.*}} : i32 to i64
func.func @positions_across_vectors_are_narrow(%x: tensor<3x20xf32>) -> tensor<1x20xi64> {
  %0 = "onnx.ArgMax"(%x) {axis = 0 : i64} : (tensor<3x20xf32>) -> tensor<1x20xi64>
  return %0 : tensor<1x20xi64>
}
