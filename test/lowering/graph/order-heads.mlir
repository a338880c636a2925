// RUN: onnxc-opt --split-input-file --order-heads %s | FileCheck %s

// Channel d * 4 + h is of head h: the weights change places, and so do the
// dimensions that the reshape makes.
// CHECK-LABEL: @through_the_heads
// CHECK: %[[BIAS:.*]] = "onnx.Reshape"({{.*}} -> tensor<128xf32>
// CHECK: "onnx.Add"({{.*}}, %[[BIAS]]) : (tensor<?x512x128xf32, ["N", "", ""]>, tensor<128xf32>)
// CHECK: %[[APART:.*]] = "onnx.Reshape"{{.*}} -> tensor<?x512x4x32xf32, ["N", "", "", ""]>
// CHECK: "onnx.Transpose"(%[[APART]]) <{perm = array<i64: 0, 2, 1, 3>}>
func.func @through_the_heads(%x: tensor<?x512x64xf32, ["N", "", ""]>, %k: tensor<?x4x32x512xf32, ["N", "", "", ""]>) -> tensor<?x4x512x512xf32, ["N", "", "", ""]> {
  %w = "onnx.Constant"() <{value = dense_resource<w> : tensor<64x128xf32>}> : () -> tensor<64x128xf32>
  %b = "onnx.Constant"() <{value = dense_resource<b> : tensor<128xf32>}> : () -> tensor<128xf32>
  %s = "onnx.Constant"() <{value = dense<[0, 512, 32, 4]> : tensor<4xi64>}> : () -> tensor<4xi64>
  %p = "onnx.MatMul"(%x, %w) : (tensor<?x512x64xf32, ["N", "", ""]>, tensor<64x128xf32>) -> tensor<?x512x128xf32, ["N", "", ""]>
  %a = "onnx.Add"(%p, %b) : (tensor<?x512x128xf32, ["N", "", ""]>, tensor<128xf32>) -> tensor<?x512x128xf32, ["N", "", ""]>
  %r = "onnx.Reshape"(%a, %s) <{allowzero = 0 : i64}> : (tensor<?x512x128xf32, ["N", "", ""]>, tensor<4xi64>) -> tensor<?x512x32x4xf32, ["N", "", "", ""]>
  %q = "onnx.Transpose"(%r) <{perm = array<i64: 0, 3, 1, 2>}> : (tensor<?x512x32x4xf32, ["N", "", "", ""]>) -> tensor<?x4x512x32xf32, ["N", "", "", ""]>
  %m = "onnx.MatMul"(%q, %k) : (tensor<?x4x512x32xf32, ["N", "", "", ""]>, tensor<?x4x32x512xf32, ["N", "", "", ""]>) -> tensor<?x4x512x512xf32, ["N", "", "", ""]>
  return %m : tensor<?x4x512x512xf32, ["N", "", "", ""]>
}

// -----

// The same behind an Einsum, in front of a convolution.
// CHECK-LABEL: @behind
// CHECK: %[[HEADS:.*]] = "onnx.Einsum"(%arg0, %arg1) <{equation = "bhnm,bhdm->bhdn"}> : {{.*}} -> tensor<1x4x32x200xf32>
// CHECK: %[[ALL:.*]] = "onnx.Reshape"(%[[HEADS]], {{.*}} -> tensor<1x128x200xf32>
// CHECK: %[[APART:.*]] = "onnx.Reshape"({{.*}} -> tensor<64x32x4x1xf32>
// CHECK: "onnx.Transpose"(%[[APART]]) <{perm = array<i64: 0, 2, 1, 3>}>
// CHECK: "onnx.Conv"(%[[ALL]],
func.func @behind(%p: tensor<1x4x200x200xf32>, %v: tensor<1x4x32x200xf32>) -> tensor<1x64x200xf32> {
  %w = "onnx.Constant"() <{value = dense_resource<w> : tensor<64x128x1xf32>}> : () -> tensor<64x128x1xf32>
  %s = "onnx.Constant"() <{value = dense<[1, 128, 200]> : tensor<3xi64>}> : () -> tensor<3xi64>
  %o = "onnx.Einsum"(%p, %v) <{equation = "bhnm,bhdm->bdhn"}> : (tensor<1x4x200x200xf32>, tensor<1x4x32x200xf32>) -> tensor<1x32x4x200xf32>
  %r = "onnx.Reshape"(%o, %s) <{allowzero = 0 : i64}> : (tensor<1x32x4x200xf32>, tensor<3xi64>) -> tensor<1x128x200xf32>
  %y = "onnx.Conv"(%r, %w) <{auto_pad = "NOTSET", group = 1 : i64}> : (tensor<1x128x200xf32>, tensor<64x128x1xf32>) -> tensor<1x64x200xf32>
  return %y : tensor<1x64x200xf32>
}

// -----

// Queries, keys and values of a channel lie side by side: one of them is taken.
// CHECK-LABEL: @values_innermost
// CHECK: %[[APART:.*]] = "onnx.Reshape"{{.*}} -> tensor<1x256x3x4x64xf32>
// CHECK: %[[TURNED:.*]] = "onnx.Transpose"(%[[APART]]) <{perm = array<i64: 0, 3, 1, 4, 2>}>
// CHECK: "onnx.Gather"(%[[TURNED]]
func.func @values_innermost(%x: tensor<1x256x256xf32>, %p: tensor<1x4x256x256xf32>) -> tensor<1x4x256x64xf32> {
  %w = "onnx.Constant"() <{value = dense_resource<w> : tensor<256x768xf32>}> : () -> tensor<256x768xf32>
  %s = "onnx.Constant"() <{value = dense<[1, 256, 4, 64, 3]> : tensor<5xi64>}> : () -> tensor<5xi64>
  %i = "onnx.Constant"() <{value = dense<2> : tensor<i64>}> : () -> tensor<i64>
  %c = "onnx.MatMul"(%x, %w) : (tensor<1x256x256xf32>, tensor<256x768xf32>) -> tensor<1x256x768xf32>
  %r = "onnx.Reshape"(%c, %s) <{allowzero = 0 : i64}> : (tensor<1x256x768xf32>, tensor<5xi64>) -> tensor<1x256x4x64x3xf32>
  %t = "onnx.Transpose"(%r) <{perm = array<i64: 0, 2, 1, 3, 4>}> : (tensor<1x256x4x64x3xf32>) -> tensor<1x4x256x64x3xf32>
  %v = "onnx.Gather"(%t, %i) <{axis = 4 : i64}> : (tensor<1x4x256x64x3xf32>, tensor<i64>) -> tensor<1x4x256x64xf32>
  %y = "onnx.MatMul"(%p, %v) : (tensor<1x4x256x256xf32>, tensor<1x4x256x64xf32>) -> tensor<1x4x256x64xf32>
  return %y : tensor<1x4x256x64xf32>
}

// -----

// Pixels are shuffled, nothing is multiplied.
// CHECK-LABEL: @no_heads
// CHECK: "onnx.Reshape"{{.*}} -> tensor<1x2x2x8x5x5xf32>
// CHECK: "onnx.Transpose"({{.*}}) <{perm = array<i64: 0, 3, 4, 1, 5, 2>}>
func.func @no_heads(%x: tensor<1x16x5x5xf32>) -> tensor<1x8x5x2x5x2xf32> {
  %w = "onnx.Constant"() <{value = dense_resource<w> : tensor<32x16x1x1xf32>}> : () -> tensor<32x16x1x1xf32>
  %s = "onnx.Constant"() <{value = dense<[1, 2, 2, 8, 5, 5]> : tensor<6xi64>}> : () -> tensor<6xi64>
  %c = "onnx.Conv"(%x, %w) <{auto_pad = "NOTSET", group = 1 : i64}> : (tensor<1x16x5x5xf32>, tensor<32x16x1x1xf32>) -> tensor<1x32x5x5xf32>
  %r = "onnx.Reshape"(%c, %s) <{allowzero = 0 : i64}> : (tensor<1x32x5x5xf32>, tensor<6xi64>) -> tensor<1x2x2x8x5x5xf32>
  %y = "onnx.Transpose"(%r) <{perm = array<i64: 0, 3, 4, 1, 5, 2>}> : (tensor<1x2x2x8x5x5xf32>) -> tensor<1x8x5x2x5x2xf32>
  return %y : tensor<1x8x5x2x5x2xf32>
}
