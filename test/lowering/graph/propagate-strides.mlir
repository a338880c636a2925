// RUN: onnxc-opt %s --propagate-strides | FileCheck %s

// CHECK-LABEL: @convolutions_of_an_image_that_is_read_with_strides
// CHECK: %[[A:.*]] = "onnx.Conv"(%{{.*}}, %{{.*}}) {{.*}}pads = array<i64: 1, 1, 1, 1>{{.*}}strides = array<i64: 2, 2>
// CHECK-SAME: -> tensor<1x8x4x3xf32>
// CHECK: %[[R:.*]] = "onnx.Relu"(%[[A]]) {{.*}}tensor<1x8x4x3xf32>
// CHECK: "onnx.Conv"(%[[R]], %{{.*}}) {{.*}}strides = array<i64: 1, 1>
func.func @convolutions_of_an_image_that_is_read_with_strides(
    %x: tensor<1x4x7x6xf32>, %v: tensor<8x4x3x3xf32>, %w: tensor<2x8x1x1xf32>) -> tensor<1x2x4x3xf32> {
  %a = "onnx.Conv"(%x, %v) {auto_pad = "SAME_UPPER"} : (tensor<1x4x7x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x7x6xf32>
  %r = "onnx.Relu"(%a) : (tensor<1x8x7x6xf32>) -> tensor<1x8x7x6xf32>
  %y = "onnx.Conv"(%r, %w) {strides = array<i64: 2, 2>} : (tensor<1x8x7x6xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x4x3xf32>
  return %y : tensor<1x2x4x3xf32>
}

// Neither the factor, one number for a channel, nor the residual is read by a convolution with strides.
// CHECK-LABEL: @residual
// CHECK: %[[A:.*]] = "onnx.Conv"({{.*}}strides = array<i64: 2>
// CHECK: %[[M:.*]] = "onnx.Mul"(%[[A]], %arg2)
// CHECK: %[[S:.*]] = "onnx.Slice"(%arg0
// CHECK: %[[B:.*]] = "onnx.Add"(%[[M]], %[[S]])
// CHECK: "onnx.Conv"(%[[B]], %{{.*}}) {{.*}}strides = array<i64: 1>
func.func @residual(%x: tensor<1x8x?xf32, ["", "", "w"]>, %v: tensor<8x8x1xf32>, %f: tensor<8x1xf32>)
    -> tensor<1x8x?xf32> {
  %a = "onnx.Conv"(%x, %v) : (tensor<1x8x?xf32, ["", "", "w"]>, tensor<8x8x1xf32>) -> tensor<1x8x?xf32, ["", "", "w"]>
  %m = "onnx.Mul"(%a, %f) : (tensor<1x8x?xf32, ["", "", "w"]>, tensor<8x1xf32>) -> tensor<1x8x?xf32, ["", "", "w"]>
  %b = "onnx.Add"(%m, %x) : (tensor<1x8x?xf32, ["", "", "w"]>, tensor<1x8x?xf32, ["", "", "w"]>)
      -> tensor<1x8x?xf32, ["", "", "w"]>
  %y = "onnx.Conv"(%b, %v) {strides = array<i64: 2>} : (tensor<1x8x?xf32, ["", "", "w"]>, tensor<8x8x1xf32>)
      -> tensor<1x8x?xf32>
  return %y : tensor<1x8x?xf32>
}

// CHECK-LABEL: @readers_of_different_strides
// CHECK: %[[P:[0-9a-z]+]], {{.*}} = "onnx.MaxPool"({{.*}}strides = array<i64: 2>
// CHECK: "onnx.Conv"(%[[P]], %{{.*}}) {{.*}}strides = array<i64: 1>
// CHECK: "onnx.Conv"(%[[P]], %{{.*}}) {{.*}}strides = array<i64: 2>
func.func @readers_of_different_strides(%x: tensor<1x8x9xf32>, %v: tensor<8x8x1xf32>)
    -> (tensor<1x8x4xf32>, tensor<1x8x2xf32>) {
  %p, %i = "onnx.MaxPool"(%x) {kernel_shape = array<i64: 2>} : (tensor<1x8x9xf32>) -> (tensor<1x8x8xf32>, tensor<1x8x8xi64>)
  %y = "onnx.Conv"(%p, %v) {strides = array<i64: 2>} : (tensor<1x8x8xf32>, tensor<8x8x1xf32>) -> tensor<1x8x4xf32>
  %z = "onnx.Conv"(%p, %v) {strides = array<i64: 4>} : (tensor<1x8x8xf32>, tensor<8x8x1xf32>) -> tensor<1x8x2xf32>
  return %y, %z : tensor<1x8x4xf32>, tensor<1x8x2xf32>
}

// CHECK-LABEL: @a_result_of_the_model_needs_all
// CHECK: "onnx.Conv"(%arg0, %arg1) {{.*}} -> tensor<1x8x8xf32>
// CHECK: strides = array<i64: 2>
func.func @a_result_of_the_model_needs_all(%x: tensor<1x8x8xf32>, %v: tensor<8x8x1xf32>)
    -> (tensor<1x8x4xf32>, tensor<1x8x8xf32>) {
  %a = "onnx.Conv"(%x, %v) : (tensor<1x8x8xf32>, tensor<8x8x1xf32>) -> tensor<1x8x8xf32>
  %y = "onnx.Conv"(%a, %v) {strides = array<i64: 2>} : (tensor<1x8x8xf32>, tensor<8x8x1xf32>) -> tensor<1x8x4xf32>
  return %y, %a : tensor<1x8x4xf32>, tensor<1x8x8xf32>
}

// CHECK-LABEL: @another_reader_needs_all
// CHECK-NOT: onnx.Slice
// CHECK: "onnx.Conv"(%arg0, %arg1) {{.*}} -> tensor<1x8x8xf32>
// CHECK: strides = array<i64: 2>
func.func @another_reader_needs_all(%x: tensor<1x8x8xf32>, %v: tensor<8x8x1xf32>, %u: tensor<8x8x3xf32>)
    -> (tensor<1x8x4xf32>, tensor<1x8x3xf32>) {
  %a = "onnx.Conv"(%x, %v) : (tensor<1x8x8xf32>, tensor<8x8x1xf32>) -> tensor<1x8x8xf32>
  %y = "onnx.Conv"(%a, %v) {strides = array<i64: 2>} : (tensor<1x8x8xf32>, tensor<8x8x1xf32>) -> tensor<1x8x4xf32>
  %z = "onnx.Conv"(%a, %u) {strides = array<i64: 2>} : (tensor<1x8x8xf32>, tensor<8x8x3xf32>) -> tensor<1x8x3xf32>
  return %y, %z : tensor<1x8x4xf32>, tensor<1x8x3xf32>
}

// CHECK-LABEL: @windows_over_padding_read_all
// CHECK: "onnx.Conv"(%arg0, %arg1) {{.*}} -> tensor<1x8x8xf32>
// CHECK: strides = array<i64: 2>
func.func @windows_over_padding_read_all(%x: tensor<1x8x8xf32>, %v: tensor<8x8x1xf32>) -> tensor<1x8x5xf32> {
  %a = "onnx.Conv"(%x, %v) : (tensor<1x8x8xf32>, tensor<8x8x1xf32>) -> tensor<1x8x8xf32>
  %y = "onnx.Conv"(%a, %v) {pads = array<i64: 1, 0>, strides = array<i64: 2>} : (tensor<1x8x8xf32>, tensor<8x8x1xf32>)
      -> tensor<1x8x5xf32>
  return %y : tensor<1x8x5xf32>
}

// An image of one pixel is repeated, or is not.
// CHECK-LABEL: @what_may_be_repeated
// CHECK: "onnx.Conv"(%arg0, %arg2) {{.*}} -> tensor<1x8x?xf32, ["", "", "w"]>
// CHECK: strides = array<i64: 2>
func.func @what_may_be_repeated(%x: tensor<1x8x?xf32, ["", "", "w"]>, %r: tensor<1x8x?xf32, ["", "", "v"]>,
    %v: tensor<8x8x1xf32>) -> tensor<1x8x?xf32> {
  %a = "onnx.Conv"(%x, %v) : (tensor<1x8x?xf32, ["", "", "w"]>, tensor<8x8x1xf32>) -> tensor<1x8x?xf32, ["", "", "w"]>
  %b = "onnx.Add"(%a, %r) : (tensor<1x8x?xf32, ["", "", "w"]>, tensor<1x8x?xf32, ["", "", "v"]>)
      -> tensor<1x8x?xf32, ["", "", "w|v"]>
  %y = "onnx.Conv"(%b, %v) {strides = array<i64: 2>} : (tensor<1x8x?xf32, ["", "", "w|v"]>, tensor<8x8x1xf32>)
      -> tensor<1x8x?xf32>
  return %y : tensor<1x8x?xf32>
}

// What is read by elementwise operations alone has no pixel to leave out.
// CHECK-LABEL: @nothing_to_stride
// CHECK-NOT: onnx.Slice
// CHECK: strides = array<i64: 2>
func.func @nothing_to_stride(%x: tensor<1x8x8xf32>, %v: tensor<8x8x1xf32>) -> tensor<1x8x4xf32> {
  %a = "onnx.Relu"(%x) : (tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  %y = "onnx.Conv"(%a, %v) {strides = array<i64: 2>} : (tensor<1x8x8xf32>, tensor<8x8x1xf32>) -> tensor<1x8x4xf32>
  return %y : tensor<1x8x4xf32>
}

// CHECK-LABEL: @too_large_a_stride
// CHECK-COUNT-2: strides = array<i64: 65536>
func.func @too_large_a_stride(%x: tensor<1x1x9xf32>, %v: tensor<1x1x1xf32>) -> tensor<1x1x1xf32> {
  %a = "onnx.Conv"(%x, %v) {strides = array<i64: 65536>} : (tensor<1x1x9xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %y = "onnx.Conv"(%a, %v) {strides = array<i64: 65536>} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  return %y : tensor<1x1x1xf32>
}
