// RUN: onnxc-opt %s --scale-behind-products | FileCheck %s

// CHECK-LABEL: @part
// CHECK: %[[PARTS:.*]]:2 = "onnx.Split"
// CHECK: %[[SCORES:.*]] = "onnx.MatMul"(%[[PARTS]]#0, %[[PARTS]]#1)
// CHECK: "onnx.Mul"(%[[SCORES]], %{{.*}})
func.func @part(%x: tensor<2x8x4xf32>, %size: tensor<2xi64>) -> tensor<2x4x4xf32> {
  %c = "onnx.Constant"() {value = dense<0.125> : tensor<f32>} : () -> tensor<f32>
  %q, %k = "onnx.Split"(%x, %size) {axis = 1 : i64} : (tensor<2x8x4xf32>, tensor<2xi64>) -> (tensor<2x4x4xf32>, tensor<2x4x4xf32>)
  %s = "onnx.Mul"(%q, %c) : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4x4xf32>
  %y = "onnx.MatMul"(%s, %k) : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %y : tensor<2x4x4xf32>
}

// What a product computes alone is scaled in its epilogue.
// CHECK-LABEL: @whole
// CHECK: %[[SCALED:.*]] = "onnx.Mul"
// CHECK: "onnx.MatMul"(%[[SCALED]]
func.func @whole(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %k: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %c = "onnx.Constant"() {value = dense<0.125> : tensor<f32>} : () -> tensor<f32>
  %q = "onnx.MatMul"(%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %s = "onnx.Mul"(%q, %c) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %y = "onnx.MatMul"(%s, %k) : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
