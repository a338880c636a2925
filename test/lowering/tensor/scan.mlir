// RUN: onnxc-opt --onnx-to-linalg %s | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {

// Three rows of sums at once become the next ones, 40 columns side by side.
// CHECK-LABEL: @columns
// CHECK: scf.for %[[AT:.*]] = {{.*}} iter_args(%[[SUMS:.*]] = %inserted_slice) -> (tensor<3x6x40xf32>)
// CHECK: %[[BEFORE:.*]] = tensor.extract_slice %[[SUMS]][%{{.*}}, %[[AT]], %{{.*}}] [3, 1, 40]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[BEFORE]] : tensor<3x40xf32>, tensor<3x40xf32>) outs({{.*}} : tensor<3x40xf32>)
// CHECK: arith.addf
func.func @columns(%x: tensor<3x6x5x8xf32>) -> tensor<3x6x5x8xf32> {
  %axis = "onnx.Constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
  %y = "onnx.CumSum"(%x, %axis) <{exclusive = 0 : i64, reverse = 0 : i64}> : (tensor<3x6x5x8xf32>, tensor<i64>) -> tensor<3x6x5x8xf32>
  return %y : tensor<3x6x5x8xf32>
}

// Nothing lies behind the axis.
// CHECK-LABEL: @rows
// CHECK-NOT: linalg.generic
// CHECK: tensor.insert %
func.func @rows(%x: tensor<3x40xf32>) -> tensor<3x40xf32> {
  %axis = "onnx.Constant"() <{value = dense<-1> : tensor<i64>}> : () -> tensor<i64>
  %y = "onnx.CumSum"(%x, %axis) <{exclusive = 0 : i64, reverse = 0 : i64}> : (tensor<3x40xf32>, tensor<i64>) -> tensor<3x40xf32>
  return %y : tensor<3x40xf32>
}

// Any axis may be meant.
// CHECK-LABEL: @axis_of_the_run
// CHECK: tensor.insert %
func.func @axis_of_the_run(%x: tensor<3x40xf32>, %axis: tensor<i64>) -> tensor<3x40xf32> {
  %y = "onnx.CumSum"(%x, %axis) <{exclusive = 0 : i64, reverse = 0 : i64}> : (tensor<3x40xf32>, tensor<i64>) -> tensor<3x40xf32>
  return %y : tensor<3x40xf32>
}

// An axis of unknown length may have no first row, and then no column is visited.
// CHECK-LABEL: @columns_of_any_length
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %{{.*}}, %c0{{.*}} : index
// CHECK: arith.select %[[NONE]]
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<3x40xf32>) outs({{.*}} : tensor<3x40xf32>)
// CHECK: scf.for {{.*}} -> (tensor<3x?x40xf32>)
func.func @columns_of_any_length(%x: tensor<3x?x5x8xf32>) -> tensor<3x?x5x8xf32> {
  %axis = "onnx.Constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
  %y = "onnx.CumSum"(%x, %axis) <{exclusive = 0 : i64, reverse = 0 : i64}> : (tensor<3x?x5x8xf32>, tensor<i64>) -> tensor<3x?x5x8xf32>
  return %y : tensor<3x?x5x8xf32>
}
}
