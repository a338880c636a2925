// RUN: onnxc-opt %s --expand-composite --split-input-file --verify-diagnostics | FileCheck %s

// 1024 is 32 * 32: no matrix is larger.
// CHECK-LABEL: @long_transforms_are_two
// CHECK-NOT: tensor<1024x
// CHECK: "onnx.MatMul"{{.*}} tensor<32x32xf64>
// CHECK: "onnx.MatMul"{{.*}} tensor<32x32xf64>
func.func @long_transforms_are_two(%x: tensor<3x1024x1xf32>) -> tensor<3x1024x2xf32> {
  %0 = "onnx.DFT"(%x) {operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<3x1024x1xf32>) -> tensor<3x1024x2xf32>
  return %0 : tensor<3x1024x2xf32>
}

// -----

// 8198 is 2 * 4099: a convolution of 16384 elements, in 14 steps.
// CHECK-LABEL: @long_prime_factors
// CHECK-NOT: "onnx.MatMul"
// CHECK: "onnx.Scan"
// CHECK-NOT: "onnx.MatMul"
func.func @long_prime_factors(%x: tensor<1x8198x1xf32>) -> tensor<1x8198x2xf32> {
  %0 = "onnx.DFT"(%x) {operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<1x8198x1xf32>) -> tensor<1x8198x2xf32>
  return %0 : tensor<1x8198x2xf32>
}

// -----

// The length is that of the window, and so are the frames.
// CHECK-LABEL: @frames_of_a_window
// CHECK-NOT: "onnx.Scan"
// CHECK: "onnx.MatMul"{{.*}} tensor<32x32xf64>
// CHECK-NOT: "onnx.Scan"
// CHECK: return
func.func @frames_of_a_window(%x: tensor<1x4096x1xf32>, %window: tensor<1024xf32>) -> tensor<1x13x513x2xf32> {
  %step = "onnx.Constant"() {value = dense<256> : tensor<i64>} : () -> tensor<i64>
  %0 = "onnx.STFT"(%x, %step, %window) {operandSegmentSizes = array<i32: 1, 1, 1, 0>}
      : (tensor<1x4096x1xf32>, tensor<i64>, tensor<1024xf32>) -> tensor<1x13x513x2xf32>
  return %0 : tensor<1x13x513x2xf32>
}

// -----

func.func @an_axis_of_the_signal(%x: tensor<3x8x1xf32>) -> tensor<3x8x2xf32> {
  %axis = "onnx.Constant"() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  // expected-error @+2 {{axis 2 is no dimension of the signal}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "onnx.DFT"(%x, %axis) {operandSegmentSizes = array<i32: 1, 0, 1>}
      : (tensor<3x8x1xf32>, tensor<i64>) -> tensor<3x8x2xf32>
  return %0 : tensor<3x8x2xf32>
}
