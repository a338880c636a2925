// RUN: onnxc-opt %s --onnx-to-linalg --split-input-file --verify-diagnostics | FileCheck %s

// As many boxes as were found: the result is a part of what could have been.
// CHECK-LABEL: @boxes_found_are_counted
// CHECK: %[[FOUND:.*]]:8 = scf.for
// CHECK: tensor.extract_slice %[[FOUND]]#0[0, 0] [%[[FOUND]]#1, 3] [1, 1]
func.func @boxes_found_are_counted(%boxes: tensor<1x6x4xf32>, %scores: tensor<1x2x6xf32>, %most: tensor<1xi64>)
    -> tensor<?x3xi64> {
  %0 = "onnx.NonMaxSuppression"(%boxes, %scores, %most) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}
      : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<1xi64>) -> tensor<?x3xi64>
  return %0 : tensor<?x3xi64>
}

// -----

// CHECK-LABEL: @images_of_regions_are_checked
// CHECK: onnxc.check {{.*}} 2, "node 'r' (RoiAlign): is outside the batch", "batch_indices"
// CHECK: scf.for
func.func @images_of_regions_are_checked(%x: tensor<2x3x8x8xf32>, %rois: tensor<4x4xf32>, %batch: tensor<4xi64>)
    -> tensor<4x3x2x2xf32> {
  %0 = "onnx.RoiAlign"(%x, %rois, %batch) {output_height = 2 : i64, output_width = 2 : i64}
      : (tensor<2x3x8x8xf32>, tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x3x2x2xf32> loc("r")
  return %0 : tensor<4x3x2x2xf32>
}

// -----

// All regions at once, with the channels last.
// CHECK-LABEL: @as_many_samples_in_each_region
// CHECK: linalg.transpose {{.*}} permutation = [0, 2, 3, 1]
// CHECK-NOT: scf.for
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
// CHECK: } -> tensor<4x2x5x8xf32>
func.func @as_many_samples_in_each_region(%x: tensor<2x8x8x8xf32>, %rois: tensor<4x4xf32>, %batch: tensor<4xi64>)
    -> tensor<4x8x2x5xf32> {
  %0 = "onnx.RoiAlign"(%x, %rois, %batch) {output_height = 2 : i64, output_width = 5 : i64, sampling_ratio = 2 : i64}
      : (tensor<2x8x8x8xf32>, tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x8x2x5xf32>
  return %0 : tensor<4x8x2x5xf32>
}

// -----

// CHECK-LABEL: @a_large_image_is_not_turned_for_a_sample
// CHECK-NOT: permutation = [0, 2, 3, 1]
// CHECK: return
func.func @a_large_image_is_not_turned_for_a_sample(
    %x: tensor<1x8x90x90xf32>, %rois: tensor<1x4xf32>, %batch: tensor<1xi64>) -> tensor<1x8x1x1xf32> {
  %0 = "onnx.RoiAlign"(%x, %rois, %batch) {sampling_ratio = 1 : i64}
      : (tensor<1x8x90x90xf32>, tensor<1x4xf32>, tensor<1xi64>) -> tensor<1x8x1x1xf32>
  return %0 : tensor<1x8x1x1xf32>
}

// -----

func.func @scores_fit_the_boxes(%boxes: tensor<1x6x4xf32>, %scores: tensor<1x2x5xf32>) -> tensor<?x3xi64> {
  // expected-error @+2 {{'scores': does not fit the boxes}}
  // expected-error @+1 {{NonMaxSuppression is not supported in this form}}
  %0 = "onnx.NonMaxSuppression"(%boxes, %scores) {operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>}
      : (tensor<1x6x4xf32>, tensor<1x2x5xf32>) -> tensor<?x3xi64>
  return %0 : tensor<?x3xi64>
}
