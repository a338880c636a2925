// RUN: onnxc-opt %s --quantize-to-integer --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @convolution_between_quantizers
// CHECK-SAME: (%[[X:[a-z0-9]*]]: tensor<1x2x4x4xui8>)
// CHECK: %[[Y:.*]] = "onnx.QLinearConv"(%[[X]]
// CHECK-NOT: onnx.Conv
// CHECK: "onnx.Max"(%[[Y]]
func.func @convolution_between_quantizers(%x: tensor<1x2x4x4xui8>) -> tensor<1x1x4x4xui8> {
  %s = "onnx.Constant"() <{value = dense<0.5> : tensor<f32>}> : () -> tensor<f32>
  %z = "onnx.Constant"() <{value = dense<128> : tensor<ui8>}> : () -> tensor<ui8>
  %w = "onnx.Constant"() <{value = dense<3> : tensor<1x2x1x1xi8>}> : () -> tensor<1x2x1x1xi8>
  %wz = "onnx.Constant"() <{value = dense<0> : tensor<i8>}> : () -> tensor<i8>
  %b = "onnx.Constant"() <{value = dense<7> : tensor<1xi32>}> : () -> tensor<1xi32>
  %bs = "onnx.Constant"() <{value = dense<0.25> : tensor<f32>}> : () -> tensor<f32>
  %bz = "onnx.Constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %0 = "onnx.DequantizeLinear"(%x, %s, %z) : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %1 = "onnx.DequantizeLinear"(%w, %s, %wz) : (tensor<1x2x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x1x1xf32>
  %2 = "onnx.DequantizeLinear"(%b, %bs, %bz) : (tensor<1xi32>, tensor<f32>, tensor<i32>) -> tensor<1xf32>
  %3 = "onnx.Conv"(%0, %1, %2) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %4 = "onnx.Relu"(%3) : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %5 = "onnx.QuantizeLinear"(%4, %s, %z) : (tensor<1x1x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x1x4x4xui8>
  return %5 : tensor<1x1x4x4xui8>
}

// -----

// A bias that counts in other steps than the products stays a float.
// CHECK-LABEL: func.func @bias_in_other_steps
// CHECK-NOT: onnx.QLinearConv
// CHECK: "onnx.Conv"
func.func @bias_in_other_steps(%x: tensor<1x2x4x4xui8>) -> tensor<1x1x4x4xui8> {
  %s = "onnx.Constant"() <{value = dense<0.5> : tensor<f32>}> : () -> tensor<f32>
  %z = "onnx.Constant"() <{value = dense<128> : tensor<ui8>}> : () -> tensor<ui8>
  %w = "onnx.Constant"() <{value = dense<3> : tensor<1x2x1x1xi8>}> : () -> tensor<1x2x1x1xi8>
  %wz = "onnx.Constant"() <{value = dense<0> : tensor<i8>}> : () -> tensor<i8>
  %b = "onnx.Constant"() <{value = dense<7> : tensor<1xi32>}> : () -> tensor<1xi32>
  %bs = "onnx.Constant"() <{value = dense<0.3> : tensor<f32>}> : () -> tensor<f32>
  %bz = "onnx.Constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %0 = "onnx.DequantizeLinear"(%x, %s, %z) : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %1 = "onnx.DequantizeLinear"(%w, %s, %wz) : (tensor<1x2x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x1x1xf32>
  %2 = "onnx.DequantizeLinear"(%b, %bs, %bz) : (tensor<1xi32>, tensor<f32>, tensor<i32>) -> tensor<1xf32>
  %3 = "onnx.Conv"(%0, %1, %2) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %4 = "onnx.QuantizeLinear"(%3, %s, %z) : (tensor<1x1x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x1x4x4xui8>
  return %4 : tensor<1x1x4x4xui8>
}
