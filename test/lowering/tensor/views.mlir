// RUN: onnxc-opt %s --onnx-to-linalg --canonicalize --cse | FileCheck %s

// Names tell that the first two dimensions stay.
// CHECK-LABEL: @heads_are_a_view
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1], [2, 3]]
// CHECK-NOT: tensor.reshape
func.func @heads_are_a_view(%x: tensor<?x?x768xf32, ["N", "S", ""]>) -> tensor<?x?x12x64xf32, ["N", "S", "", ""]> {
  %shape = "onnx.Constant"() {value = dense<[0, 0, 12, 64]> : tensor<4xi64>} : () -> tensor<4xi64>
  %y = "onnx.Reshape"(%x, %shape) : (tensor<?x?x768xf32, ["N", "S", ""]>, tensor<4xi64>) -> tensor<?x?x12x64xf32, ["N", "S", "", ""]>
  return %y : tensor<?x?x12x64xf32, ["N", "S", "", ""]>
}

// Run-time axes choose the offset of each dimension.
// CHECK-LABEL: @slice_with_axes_at_run_time
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, %{{.*}}] [%{{.*}}, %{{.*}}] [1, 1]
func.func @slice_with_axes_at_run_time(%x: tensor<4x5xf32>, %starts: tensor<1xi64>, %ends: tensor<1xi64>,
                                       %axes: tensor<1xi64>) -> tensor<?x?xf32> {
  %y = "onnx.Slice"(%x, %starts, %ends, %axes) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}
      : (tensor<4x5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// CHECK-LABEL: @gather_checks_before_it_reads
// CHECK: onnxc.check %{{.*}}, 2, {{.*}}, "indices"
// CHECK: linalg.generic
func.func @gather_checks_before_it_reads(%x: tensor<9x3xf32>, %i: tensor<2xi64>) -> tensor<2x3xf32> {
  %y = "onnx.Gather"(%x, %i) : (tensor<9x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// An empty part may lie behind the last element, where no view can begin.
// CHECK-LABEL: @empty_parts_are_no_views
// CHECK-NOT: tensor.extract_slice
// CHECK: tensor.empty() : tensor<0xf32>
func.func @empty_parts_are_no_views(%x: tensor<2xf32>) -> tensor<0xf32> {
  %sizes = "onnx.Constant"() {value = dense<[2, 0]> : tensor<2xi64>} : () -> tensor<2xi64>
  %y:2 = "onnx.Split"(%x, %sizes) {axis = 0 : i64} : (tensor<2xf32>, tensor<2xi64>) -> (tensor<2xf32>, tensor<0xf32>)
  return %y#1 : tensor<0xf32>
}

// Which dimension goes is known to the run alone.
// CHECK-LABEL: @squeeze_with_axes_at_run_time
// CHECK: onnxc.check
// CHECK: tensor.expand_shape
func.func @squeeze_with_axes_at_run_time(%x: tensor<1x5x3xf32>, %axes: tensor<1xi64>) -> tensor<?x?xf32> {
  %y = "onnx.Squeeze"(%x, %axes) : (tensor<1x5x3xf32>, tensor<1xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// Columns that repeat others are looked up, one by itself is a slice, and the
// rest is copied.
// CHECK-LABEL: @reflected_columns
// CHECK: arith.constant dense<[2, 1]> : tensor<2xi64>
// CHECK: linalg.generic
// CHECK: tensor.extract %arg0
// CHECK: tensor.extract_slice %arg0[0, 5] [4, 1] [1, 1]
// CHECK: tensor.insert_slice %arg0 into %{{.*}}[0, 2] [4, 7] [1, 1] : tensor<4x7xf32> into tensor<4x10xf32>
func.func @reflected_columns(%x: tensor<4x7xf32>) -> tensor<4x10xf32> {
  %pads = "onnx.Constant"() {value = dense<[0, 2, 0, 1]> : tensor<4xi64>} : () -> tensor<4xi64>
  %y = "onnx.Pad"(%x, %pads) {mode = "reflect", operandSegmentSizes = array<i32: 1, 1, 0, 0>}
      : (tensor<4x7xf32>, tensor<4xi64>) -> tensor<4x10xf32>
  return %y : tensor<4x10xf32>
}
