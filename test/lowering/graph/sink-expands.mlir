// RUN: onnxc-opt %s --sink-expands | FileCheck %s

// Learned queries: the layer is computed for one sequence.
// CHECK-LABEL: @queries
// CHECK-SAME: %[[Q:[^:]*]]: tensor<1x100x8xf32>, %[[SIZES:[^:]*]]: tensor<3xi64>
// CHECK-DAG: %[[TAKEN:.*]] = "onnx.Slice"(%[[SIZES]],
// CHECK-DAG: %[[ALL:.*]] = "onnx.Concat"(%[[TAKEN]],
// CHECK-DAG: %[[M:.*]] = "onnx.MatMul"(%[[Q]], %{{.*}}) : (tensor<1x100x8xf32>, tensor<8x16xf32>) -> tensor<1x100x16xf32>
// CHECK: %[[A:.*]] = "onnx.Add"(%[[M]], %{{.*}}) : {{.*}} -> tensor<1x100x16xf32>
// CHECK: %[[R:.*]] = "onnx.Relu"(%[[A]]) : {{.*}} -> tensor<1x100x16xf32>
// CHECK: %[[T:.*]] = "onnx.Transpose"(%[[R]]) {{.*}} -> tensor<100x1x16xf32>
// CHECK: %[[TURNED:.*]] = "onnx.Gather"(%[[ALL]],
// CHECK: %[[Y:.*]] = "onnx.Expand"(%[[T]], %[[TURNED]]) : {{.*}} -> tensor<100x?x16xf32>
// CHECK: return %[[Y]]
func.func @queries(%q: tensor<1x100x8xf32>, %sizes: tensor<3xi64>, %w: tensor<8x16xf32>, %b: tensor<16xf32>)
    -> tensor<100x?x16xf32> {
  %e = "onnx.Expand"(%q, %sizes) : (tensor<1x100x8xf32>, tensor<3xi64>) -> tensor<?x100x8xf32>
  %m = "onnx.MatMul"(%e, %w) : (tensor<?x100x8xf32>, tensor<8x16xf32>) -> tensor<?x100x16xf32>
  %a = "onnx.Add"(%m, %b) : (tensor<?x100x16xf32>, tensor<16xf32>) -> tensor<?x100x16xf32>
  %r = "onnx.Relu"(%a) : (tensor<?x100x16xf32>) -> tensor<?x100x16xf32>
  %t = "onnx.Transpose"(%r) {perm = array<i64: 1, 0, 2>} : (tensor<?x100x16xf32>) -> tensor<100x?x16xf32>
  return %t : tensor<100x?x16xf32>
}

// What is as long as the batch keeps it.
// CHECK-LABEL: @other_operand
// CHECK: %[[E:.*]] = "onnx.Expand"
// CHECK: "onnx.Add"(%[[E]],
func.func @other_operand(%q: tensor<1x8xf32>, %sizes: tensor<2xi64>, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %e = "onnx.Expand"(%q, %sizes) : (tensor<1x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  %a = "onnx.Add"(%e, %x) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %a : tensor<?x8xf32>
}

// So does what is summed.
// CHECK-LABEL: @summed
// CHECK: %[[E:.*]] = "onnx.Expand"
// CHECK: "onnx.MatMul"(%[[E]],
func.func @summed(%q: tensor<4x1xf32>, %sizes: tensor<2xi64>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %e = "onnx.Expand"(%q, %sizes) : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  %m = "onnx.MatMul"(%e, %w) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %m : tensor<4x16xf32>
}

// Relative positions: the labels of one operand alone may be repeated.
// CHECK-LABEL: @positions
// CHECK-SAME: %[[P:[^:]*]]: tensor<?x1x8xf32>, %[[SIZES:[^:]*]]: tensor<3xi64>
// CHECK-DAG: %[[ONCE:.*]] = "onnx.Einsum"(%[[P]], %{{.*}}) {{.*}} -> tensor<?x1x4x2xf32>
// CHECK-DAG: %[[ALL:.*]] = "onnx.Concat"(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}})
// CHECK: "onnx.Expand"(%[[ONCE]], %[[ALL]]) : {{.*}} -> tensor<?x?x4x2xf32>
func.func @positions(%p: tensor<?x1x8xf32>, %sizes: tensor<3xi64>, %w: tensor<8x4x2xf32>) -> tensor<?x?x4x2xf32> {
  %e = "onnx.Expand"(%p, %sizes) : (tensor<?x1x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
  %y = "onnx.Einsum"(%e, %w) {equation = "ibh,hnd->ibnd"} : (tensor<?x?x8xf32>, tensor<8x4x2xf32>) -> tensor<?x?x4x2xf32>
  return %y : tensor<?x?x4x2xf32>
}

// CHECK-LABEL: @shared_label
// CHECK: %[[E:.*]] = "onnx.Expand"
// CHECK: "onnx.Einsum"(%[[E]],
func.func @shared_label(%p: tensor<1x8xf32>, %sizes: tensor<2xi64>, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %e = "onnx.Expand"(%p, %sizes) : (tensor<1x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  %y = "onnx.Einsum"(%e, %x) {equation = "bd,bd->bd"} : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
