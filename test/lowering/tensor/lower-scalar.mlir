// RUN: onnxc-opt --onnx-to-linalg --split-input-file --verify-diagnostics %s | FileCheck %s

// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (0, d1)>
// CHECK-LABEL: @size_one_is_repeated_by_the_map
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[ROW]], #{{.*}}]
// CHECK: arith.addf
func.func @size_one_is_repeated_by_the_map(%a: tensor<2x3xf32>, %b: tensor<1x3xf32>) -> tensor<2x3xf32> {
  %0 = "onnx.Add"(%a, %b) : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: @equal_names_need_no_check
// CHECK-NOT: onnxc.check
// CHECK: linalg.generic
func.func @equal_names_need_no_check(%a: tensor<?xf32, ["N"]>, %b: tensor<?xf32, ["N"]>) -> tensor<?xf32, ["N"]> {
  %0 = "onnx.Add"(%a, %b) : (tensor<?xf32, ["N"]>, tensor<?xf32, ["N"]>) -> tensor<?xf32, ["N"]>
  return %0 : tensor<?xf32, ["N"]>
}

// -----

// CHECK-LABEL: @other_names_are_compared_at_run_time
// CHECK: onnxc.check {{.*}} "node 'sum' (Add): shapes do not broadcast"
// CHECK: scf.if
func.func @other_names_are_compared_at_run_time(%a: tensor<?xf32, ["N"]>, %b: tensor<?xf32, ["M"]>)
    -> tensor<?xf32, ["M|N"]> {
  %0 = "onnx.Add"(%a, %b) : (tensor<?xf32, ["N"]>, tensor<?xf32, ["M"]>) -> tensor<?xf32, ["M|N"]> loc("sum")
  return %0 : tensor<?xf32, ["M|N"]>
}

// -----

// What is never 1 has to fit; what may be is repeated where it is.
// CHECK-LABEL: @what_is_never_1_is_not_repeated
// CHECK: onnxc.check {{.*}} "node 'sum' (Add): shapes do not broadcast"
// CHECK-NOT: scf.if
// CHECK: linalg.generic
func.func @what_is_never_1_is_not_repeated(%a: tensor<?xf32, ["2*N"]>, %b: tensor<?xf32, ["4*M"]>)
    -> tensor<?xf32, ["4*M"]> {
  %0 = "onnx.Add"(%a, %b) : (tensor<?xf32, ["2*N"]>, tensor<?xf32, ["4*M"]>) -> tensor<?xf32, ["4*M"]> loc("sum")
  return %0 : tensor<?xf32, ["4*M"]>
}

// -----

// CHECK-LABEL: @bools_are_bytes
// CHECK-SAME: -> (tensor<4xi8> {onnxc.element = i1})
// CHECK: arith.cmpf olt
// CHECK: arith.extui {{.*}} : i1 to i8
func.func @bools_are_bytes(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xi1> {
  %0 = "onnx.Less"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

// CHECK-LABEL: @unsigned_types_divide_unsigned
// CHECK: arith.divui
func.func @unsigned_types_divide_unsigned(%a: tensor<4xui8>, %b: tensor<4xui8>) -> tensor<4xui8> {
  %0 = "onnx.Div"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// -----

// CHECK-LABEL: @half_is_computed_in_single
// CHECK: arith.extf {{.*}} : f16 to f32
// CHECK: math.exp {{.*}} : f32
// CHECK: arith.truncf {{.*}} : f32 to f16
func.func @half_is_computed_in_single(%a: tensor<4xf16>) -> tensor<4xf16> {
  %0 = "onnx.Exp"(%a) : (tensor<4xf16>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// CHECK-DAG: #[[BLOCKS:.*]] = affine_map<(d0, d1) -> (d0, d1 floordiv 2)>
// CHECK-LABEL: @a_block_shares_a_scale
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[BLOCKS]], #{{.*}}]
func.func @a_block_shares_a_scale(%x: tensor<3x4xui8>, %scale: tensor<3x2xf32>) -> tensor<3x4xf32> {
  %0 = "onnx.DequantizeLinear"(%x, %scale) {axis = 1 : i64, block_size = 2 : i64}
      : (tensor<3x4xui8>, tensor<3x2xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

// A signed number of bits may be negative: then, too, everything is shifted out.
// CHECK-LABEL: @signed_shifts_have_two_limits
// CHECK: arith.shli
// CHECK-DAG: arith.cmpi slt
// CHECK-DAG: arith.cmpi sle
func.func @signed_shifts_have_two_limits(%a: tensor<3xi32>, %b: tensor<3xi32>) -> tensor<3xi32> {
  %0 = "onnx.BitShift"(%a, %b) {direction = "LEFT"} : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// -----

// CHECK-LABEL: @a_bias_and_a_residual
// CHECK: %[[SUM:.*]] = arith.addf %in, %in_0 : f32
// CHECK-NEXT: arith.addf %[[SUM]], %in_1 : f32
func.func @a_bias_and_a_residual(%x: tensor<2x9x8xf32>, %b: tensor<8xf32>, %s: tensor<2x9x8xf32>)
    -> tensor<2x9x8xf32> {
  %0 = "onnx.ms.BiasAdd"(%x, %b, %s) : (tensor<2x9x8xf32>, tensor<8xf32>, tensor<2x9x8xf32>) -> tensor<2x9x8xf32>
  return %0 : tensor<2x9x8xf32>
}

// -----

// Only where N is 0 do they differ, and then the result has no element.
// CHECK-LABEL: @longer_only_where_nothing_is_left
// CHECK-NOT: onnxc.check
// CHECK-NOT: scf.if
// CHECK: tensor.extract_slice %{{.*}}[0] [%{{.*}}] [1]
// CHECK: linalg.generic
func.func @longer_only_where_nothing_is_left(%a: tensor<?xf32, ["N"]>, %b: tensor<?xf32, ["max(1,N)"]>) -> tensor<?xf32, ["N"]> {
  %0 = "onnx.Add"(%a, %b) : (tensor<?xf32, ["N"]>, tensor<?xf32, ["max(1,N)"]>) -> tensor<?xf32, ["N"]>
  return %0 : tensor<?xf32, ["N"]>
}

// -----

// Nor is more computed than what is read.
// CHECK-LABEL: @only_what_is_read_is_computed
// CHECK: %[[B:.*]] = tensor.extract_slice %arg1[0] [%{{.*}}] [1]
// CHECK: %[[TANH:.*]] = linalg.generic {{.*}} ins(%[[B]] :
// CHECK-NEXT: ^bb0
// CHECK-NEXT: math.tanh
// CHECK-NOT: tensor.extract_slice
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[TANH]] :
func.func @only_what_is_read_is_computed(%a: tensor<?xf32, ["N"]>, %b: tensor<?xf32, ["max(1,N)"]>) -> tensor<?xf32, ["N"]> {
  %0 = "onnx.Tanh"(%b) : (tensor<?xf32, ["max(1,N)"]>) -> tensor<?xf32, ["max(1,N)"]>
  %1 = "onnx.Add"(%a, %0) : (tensor<?xf32, ["N"]>, tensor<?xf32, ["max(1,N)"]>) -> tensor<?xf32, ["N"]>
  return %1 : tensor<?xf32, ["N"]>
}
