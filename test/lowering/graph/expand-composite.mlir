// RUN: onnxc-opt --expand-composite --split-input-file --verify-diagnostics %s | FileCheck %s

// CHECK-LABEL: @softmax_subtracts_the_greatest_first
// CHECK: "onnx.ReduceMax"
// CHECK: "onnx.Sub"
// CHECK: "onnx.Exp"
// CHECK: "onnx.ReduceSum"
// CHECK: "onnx.Div"
func.func @softmax_subtracts_the_greatest_first(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "onnx.Softmax"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: @superseded_forms_become_todays
// CHECK-NOT: onnx.ReduceMean.1
// CHECK: "onnx.ReduceMean"
func.func @superseded_forms_become_todays(%x: tensor<2x3xf32>) -> tensor<2x1xf32> {
  %0 = "onnx.ReduceMean.1"(%x) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

// -----

// CHECK-LABEL: @elementwise_operators_stay
// CHECK: "onnx.Add"
func.func @elementwise_operators_stay(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "onnx.Add"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @an_inner_error_is_at_the_composite(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+2 {{axis 5 is outside [-2, 2)}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "onnx.Softmax"(%x) {axis = 5 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// A step of a recurrence of any length.
// CHECK-LABEL: @linear_attention_is_a_scan
// CHECK: "onnx.Scan"
// CHECK: ^bb0(%{{.*}}: tensor<?x2x4x3xf32>, %{{.*}}: tensor<?x4x1x4xf32>
func.func @linear_attention_is_a_scan(%query: tensor<?x?x16xf32>, %key: tensor<?x?x8xf32>, %value: tensor<?x?x6xf32>)
    -> (tensor<?x?x12xf32>, tensor<?x2x4x3xf32>) {
  %0:2 = "onnx.LinearAttention"(%query, %key, %value)
      {q_num_heads = 4 : i64, kv_num_heads = 2 : i64, update_rule = "linear", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<?x?x16xf32>, tensor<?x?x8xf32>, tensor<?x?x6xf32>) -> (tensor<?x?x12xf32>, tensor<?x2x4x3xf32>)
  return %0#0, %0#1 : tensor<?x?x12xf32>, tensor<?x2x4x3xf32>
}

// -----

// Few maps: the phases of all residues are maps of one convolution, one of them with a zero for the tap of the other.
// CHECK-LABEL: @phases_of_few_maps
// CHECK-COUNT-1: "onnx.Conv"
// CHECK-NOT: "onnx.Conv"
// CHECK: return
func.func @phases_of_few_maps(%x: tensor<1x4x8xf32>, %w: tensor<4x1x3xf32>) -> tensor<1x1x17xf32> {
  %0 = "onnx.ConvTranspose"(%x, %w) {strides = array<i64: 2>} : (tensor<1x4x8xf32>, tensor<4x1x3xf32>) -> tensor<1x1x17xf32>
  return %0 : tensor<1x1x17xf32>
}

// -----

// Not where zeros may meet no infinity.
module attributes {onnxc.numerics = "strict"} {
// CHECK-LABEL: @phases_of_strict_numerics
// CHECK-COUNT-2: "onnx.Conv"
// CHECK-NOT: "onnx.Conv"
// CHECK: return
func.func @phases_of_strict_numerics(%x: tensor<1x4x8xf32>, %w: tensor<4x1x3xf32>) -> tensor<1x1x17xf32> {
  %0 = "onnx.ConvTranspose"(%x, %w) {strides = array<i64: 2>} : (tensor<1x4x8xf32>, tensor<4x1x3xf32>) -> tensor<1x1x17xf32>
  return %0 : tensor<1x1x17xf32>
}
}

// -----

// A label of one factor alone is summed first.
// CHECK-LABEL: @label_of_one_factor
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x6x5xf32>, %[[A:.*]]: tensor<3x5x5xf32>)
// CHECK: %[[S:.*]] = "onnx.ReduceSum"(%[[A]]
// CHECK: "onnx.Einsum"(%[[X]], %[[S]])
func.func @label_of_one_factor(%x: tensor<1x4x6x5xf32>, %a: tensor<3x5x5xf32>) -> tensor<1x4x6x5xf32> {
  %0 = "onnx.Einsum"(%x, %a) {equation = "nctv,kvw->nctw"} : (tensor<1x4x6x5xf32>, tensor<3x5x5xf32>) -> tensor<1x4x6x5xf32>
  return %0 : tensor<1x4x6x5xf32>
}

// -----

// CHECK-LABEL: @the_largest_of_a_row
// CHECK-NOT: "onnx.TopK"
// CHECK-DAG: %[[VALUE:.*]] = "onnx.ReduceMax"(%arg0
// CHECK-DAG: %[[PLACE:.*]] = "onnx.ArgMax"(%arg0) <{axis = 1 : i64
// CHECK: return %[[VALUE]], %[[PLACE]]
func.func @the_largest_of_a_row(%x: tensor<?x9xf32>) -> (tensor<?x1xf32>, tensor<?x1xi64>) {
  %k = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %v, %i = "onnx.TopK"(%x, %k) : (tensor<?x9xf32>, tensor<1xi64>) -> (tensor<?x1xf32>, tensor<?x1xi64>)
  return %v, %i : tensor<?x1xf32>, tensor<?x1xi64>
}

// -----

// Two of them, the smallest, which NaN is not, those across rows and of rows that may be empty.
// CHECK-LABEL: @others
// CHECK-COUNT-4: "onnx.TopK"
func.func @others(%x: tensor<9x9xf32>, %y: tensor<9x?xf32>) -> (tensor<9x2xf32>, tensor<9x1xf32>, tensor<1x9xf32>, tensor<9x1xf32>) {
  %one = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %two = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %0:2 = "onnx.TopK"(%x, %two) : (tensor<9x9xf32>, tensor<1xi64>) -> (tensor<9x2xf32>, tensor<9x2xi64>)
  %1:2 = "onnx.TopK"(%x, %one) {largest = 0 : i64} : (tensor<9x9xf32>, tensor<1xi64>) -> (tensor<9x1xf32>, tensor<9x1xi64>)
  %2:2 = "onnx.TopK"(%x, %one) {axis = 0 : i64} : (tensor<9x9xf32>, tensor<1xi64>) -> (tensor<1x9xf32>, tensor<1x9xi64>)
  %3:2 = "onnx.TopK"(%y, %one) : (tensor<9x?xf32>, tensor<1xi64>) -> (tensor<9x1xf32>, tensor<9x1xi64>)
  return %0#0, %1#0, %2#0, %3#0 : tensor<9x2xf32>, tensor<9x1xf32>, tensor<1x9xf32>, tensor<9x1xf32>
}
