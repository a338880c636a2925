// RUN: onnxc-opt --split-input-file --ungroup-channels %s | FileCheck %s

// Channels are folded by themselves, then those of a group. What holds for a
// group is repeated for its channels, and no view joins them.
// CHECK-LABEL: @groups_of_an_image
// CHECK: %[[SUMS:.*]] = "onnx.ReduceMean"(%arg0, {{.*}} -> tensor<?x6x1x1xf32, ["N", "", "", ""]>
// CHECK: %[[GROUPS:.*]] = "onnx.Reshape"(%[[SUMS]], {{.*}} -> tensor<?x2x3xf32, ["N", "", ""]>
// CHECK: %[[MEANS:.*]] = "onnx.ReduceMean"(%[[GROUPS]], {{.*}} -> tensor<?x2x1xf32, ["N", "", ""]>
// CHECK: %[[EACH:.*]] = "onnx.Expand"{{.*}} -> tensor<?x2x3xf32, ["N", "", ""]>
// CHECK: %[[ALL:.*]] = "onnx.Reshape"(%[[EACH]], {{.*}} -> tensor<?x6x1x1xf32, ["N", "", "", ""]>
// CHECK: %[[CENTERED:.*]] = "onnx.Sub"(%arg0, %[[ALL]])
// CHECK: %[[SCALED:.*]] = "onnx.Mul"(%[[CENTERED]],
// CHECK: return %[[SCALED]]
func.func @groups_of_an_image(%x: tensor<?x6x?x?xf32, ["N", "", "H", "W"]>) -> tensor<?x6x?x?xf32, ["N", "", "H", "W"]> {
  %rows = "onnx.Constant"() <{value = dense<[0, 2, -1]> : tensor<3xi64>}> : () -> tensor<3xi64>
  %axis = "onnx.Constant"() <{value = dense<2> : tensor<1xi64>}> : () -> tensor<1xi64>
  %scale = "onnx.Constant"() <{value = dense<[[3.0], [4.0]]> : tensor<2x1xf32>}> : () -> tensor<2x1xf32>
  %g = "onnx.Reshape"(%x, %rows) <{allowzero = 0 : i64}> : (tensor<?x6x?x?xf32, ["N", "", "H", "W"]>, tensor<3xi64>) -> tensor<?x2x?xf32, ["N", "", "3*H*W"]>
  %m = "onnx.ReduceMean"(%g, %axis) <{keepdims = 1 : i64, noop_with_empty_axes = 0 : i64}> : (tensor<?x2x?xf32, ["N", "", "3*H*W"]>, tensor<1xi64>) -> tensor<?x2x1xf32, ["N", "", ""]>
  %c = "onnx.Sub"(%g, %m) : (tensor<?x2x?xf32, ["N", "", "3*H*W"]>, tensor<?x2x1xf32, ["N", "", ""]>) -> tensor<?x2x?xf32, ["N", "", "3*H*W"]>
  %s = "onnx.Mul"(%c, %scale) : (tensor<?x2x?xf32, ["N", "", "3*H*W"]>, tensor<2x1xf32>) -> tensor<?x2x?xf32, ["N", "", "3*H*W"]>
  %shape = "onnx.Shape"(%x) <{start = 0 : i64}> : (tensor<?x6x?x?xf32, ["N", "", "H", "W"]>) -> tensor<4xi64>
  %y = "onnx.Reshape"(%s, %shape) <{allowzero = 0 : i64}> : (tensor<?x2x?xf32, ["N", "", "3*H*W"]>, tensor<4xi64>) -> tensor<?x6x?x?xf32, ["N", "", "H", "W"]>
  return %y : tensor<?x6x?x?xf32, ["N", "", "H", "W"]>
}

// -----

// Channels last, and a factor of their own.
// CHECK-LABEL: @channels_last
// CHECK: "onnx.ReduceMean"(%arg0, {{.*}} -> tensor<2x1x1x6xf32>
// CHECK: "onnx.Reshape"{{.*}} -> tensor<2x1x1x2x3xf32>
// CHECK: "onnx.ReduceMean"{{.*}} -> tensor<2x1x1x2x1xf32>
// CHECK: %[[FACTORS:.*]] = "onnx.Reshape"(%arg1, {{.*}} -> tensor<6xf32>
// CHECK: "onnx.Mul"({{.*}}, %[[FACTORS]]) : (tensor<2x4x4x6xf32>, tensor<6xf32>) -> tensor<2x4x4x6xf32>
func.func @channels_last(%x: tensor<2x4x4x6xf32>, %scale: tensor<2x3xf32>) -> tensor<2x4x4x6xf32> {
  %groups = "onnx.Constant"() <{value = dense<[2, 4, 4, 2, 3]> : tensor<5xi64>}> : () -> tensor<5xi64>
  %back = "onnx.Constant"() <{value = dense<[2, 4, 4, 6]> : tensor<4xi64>}> : () -> tensor<4xi64>
  %axes = "onnx.Constant"() <{value = dense<[1, 2, 4]> : tensor<3xi64>}> : () -> tensor<3xi64>
  %g = "onnx.Reshape"(%x, %groups) <{allowzero = 0 : i64}> : (tensor<2x4x4x6xf32>, tensor<5xi64>) -> tensor<2x4x4x2x3xf32>
  %m = "onnx.ReduceMean"(%g, %axes) <{keepdims = 1 : i64, noop_with_empty_axes = 0 : i64}> : (tensor<2x4x4x2x3xf32>, tensor<3xi64>) -> tensor<2x1x1x2x1xf32>
  %c = "onnx.Sub"(%g, %m) : (tensor<2x4x4x2x3xf32>, tensor<2x1x1x2x1xf32>) -> tensor<2x4x4x2x3xf32>
  %s = "onnx.Mul"(%c, %scale) : (tensor<2x4x4x2x3xf32>, tensor<2x3xf32>) -> tensor<2x4x4x2x3xf32>
  %y = "onnx.Reshape"(%s, %back) <{allowzero = 0 : i64}> : (tensor<2x4x4x2x3xf32>, tensor<4xi64>) -> tensor<2x4x4x6xf32>
  return %y : tensor<2x4x4x6xf32>
}

// -----

// Who else reads groups needs the view; what differs within a channel has no
// place without it.
// CHECK-LABEL: @stays
// CHECK: "onnx.Reshape"(%arg0, {{.*}} -> tensor<1x2x12xf32>
// CHECK: "onnx.ReduceMean"({{.*}} -> tensor<1x2x1xf32>
// CHECK: "onnx.Reshape"(%arg0, {{.*}} -> tensor<1x2x12xf32>
// CHECK: "onnx.ReduceMean"({{.*}} -> tensor<1x2x1xf32>
func.func @stays(%x: tensor<1x6x2x2xf32>, %w: tensor<12xf32>) -> (tensor<1x2x12xf32>, tensor<1x6x2x2xf32>) {
  %rows = "onnx.Constant"() <{value = dense<[1, 2, 12]> : tensor<3xi64>}> : () -> tensor<3xi64>
  %back = "onnx.Constant"() <{value = dense<[1, 6, 2, 2]> : tensor<4xi64>}> : () -> tensor<4xi64>
  %axis = "onnx.Constant"() <{value = dense<2> : tensor<1xi64>}> : () -> tensor<1xi64>
  %g = "onnx.Reshape"(%x, %rows) <{allowzero = 0 : i64}> : (tensor<1x6x2x2xf32>, tensor<3xi64>) -> tensor<1x2x12xf32>
  %m = "onnx.ReduceMean"(%g, %axis) <{keepdims = 1 : i64, noop_with_empty_axes = 0 : i64}> : (tensor<1x2x12xf32>, tensor<1xi64>) -> tensor<1x2x1xf32>
  %c = "onnx.Sub"(%g, %m) : (tensor<1x2x12xf32>, tensor<1x2x1xf32>) -> tensor<1x2x12xf32>
  %h = "onnx.Reshape"(%x, %rows) <{allowzero = 0 : i64}> : (tensor<1x6x2x2xf32>, tensor<3xi64>) -> tensor<1x2x12xf32>
  %n = "onnx.ReduceMean"(%h, %axis) <{keepdims = 1 : i64, noop_with_empty_axes = 0 : i64}> : (tensor<1x2x12xf32>, tensor<1xi64>) -> tensor<1x2x1xf32>
  %d = "onnx.Sub"(%h, %n) : (tensor<1x2x12xf32>, tensor<1x2x1xf32>) -> tensor<1x2x12xf32>
  %s = "onnx.Mul"(%d, %w) : (tensor<1x2x12xf32>, tensor<12xf32>) -> tensor<1x2x12xf32>
  %y = "onnx.Reshape"(%s, %back) <{allowzero = 0 : i64}> : (tensor<1x2x12xf32>, tensor<4xi64>) -> tensor<1x6x2x2xf32>
  return %c, %y : tensor<1x2x12xf32>, tensor<1x6x2x2xf32>
}
