// RUN: onnxc-opt --slice-boxes --cse --canonicalize %s | FileCheck %s

// Nothing of the data is left.
// CHECK-LABEL: @whole_is_replaced
// CHECK-NEXT: return %arg1
func.func @whole_is_replaced(%x: tensor<2x3xf32>, %u: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %i = "onnx.Constant"() <{value = dense<[[[0, 0], [0, 1], [0, 2]], [[1, 0], [1, 1], [1, 2]]]> : tensor<2x3x2xi64>}> : () -> tensor<2x3x2xi64>
  %y = "onnx.ScatterND"(%x, %i, %u) <{reduction = "none"}> : (tensor<2x3xf32>, tensor<2x3x2xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// The box is all of dimension 0 and the last three of dimension 1; their
// indices count from the end.
// CHECK-LABEL: @part_is_written
// CHECK: %[[OLD:.*]] = "onnx.Slice"(%arg0, {{.*}} -> tensor<2x3xf32>
// CHECK: %[[NEW:.*]] = "onnx.Add"(%[[OLD]], %arg1)
// CHECK: "onnx.x.WriteSlice"(%arg0, %[[NEW]]) <{starts = array<i64: 0, 2>, steps = array<i64: 1, 1>}>
func.func @part_is_written(%x: tensor<2x5xf32>, %u: tensor<2x3xf32>) -> tensor<2x5xf32> {
  %i = "onnx.Constant"() <{value = dense<[[[0, -3], [0, -2], [0, -1]], [[1, -3], [1, -2], [1, -1]]]> : tensor<2x3x2xi64>}> : () -> tensor<2x3x2xi64>
  %y = "onnx.ScatterND"(%x, %i, %u) <{reduction = "add"}> : (tensor<2x5xf32>, tensor<2x3x2xi64>, tensor<2x3xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// Rows of the updates are columns of the data, every other one.
// CHECK-LABEL: @updates_are_turned
// CHECK: %[[NEW:.*]] = "onnx.Transpose"(%arg1) <{perm = array<i64: 1, 0>}> : {{.*}} -> tensor<2x3xf32>
// CHECK: "onnx.x.WriteSlice"(%arg0, %[[NEW]]) <{starts = array<i64: 0, 1>, steps = array<i64: 1, 2>}>
func.func @updates_are_turned(%x: tensor<2x7xf32>, %u: tensor<3x2xf32>) -> tensor<2x7xf32> {
  %i = "onnx.Constant"() <{value = dense<[[[0, 1], [1, 1]], [[0, 3], [1, 3]], [[0, 5], [1, 5]]]> : tensor<3x2x2xi64>}> : () -> tensor<3x2x2xi64>
  %y = "onnx.ScatterND"(%x, %i, %u) <{reduction = "none"}> : (tensor<2x7xf32>, tensor<3x2x2xi64>, tensor<3x2xf32>) -> tensor<2x7xf32>
  return %y : tensor<2x7xf32>
}

// Ranges of sizes, put together as for x[:, 1:3]: dimension 0 of the data is
// named as a whole, whatever its size.
// CHECK-LABEL: @sizes_are_followed
// CHECK: "onnx.x.WriteSlice"(%arg0, %arg1) <{starts = array<i64: 0, 1>, steps = array<i64: 1, 1>}>
func.func @sizes_are_followed(%x: tensor<?x4xf32, ["N", ""]>, %u: tensor<?x2xf32, ["N", ""]>) -> tensor<?x4xf32, ["N", ""]> {
  %zero = "onnx.Constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
  %one = "onnx.Constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
  %first = "onnx.Constant"() <{value = dense<1> : tensor<1xi64>}> : () -> tensor<1xi64>
  %last = "onnx.Constant"() <{value = dense<-1> : tensor<1xi64>}> : () -> tensor<1xi64>
  %end = "onnx.Constant"() <{value = dense<3> : tensor<1xi64>}> : () -> tensor<1xi64>
  %column = "onnx.Constant"() <{value = dense<[-1, 1]> : tensor<2xi64>}> : () -> tensor<2xi64>
  %four = "onnx.Constant"() <{value = dense<4> : tensor<i64>}> : () -> tensor<i64>
  %shape = "onnx.Shape"(%x) <{start = 0 : i64}> : (tensor<?x4xf32, ["N", ""]>) -> tensor<2xi64>
  %n = "onnx.Gather"(%shape, %zero) <{axis = 0 : i64}> : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %rows = "onnx.Range"(%zero, %n, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, ["N"]>
  %turned = "onnx.Reshape"(%rows, %column) <{allowzero = 0 : i64}> : (tensor<?xi64, ["N"]>, tensor<2xi64>) -> tensor<?x1xi64, ["N", ""]>
  %all = "onnx.Range"(%zero, %four, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4xi64>
  %columns = "onnx.Slice"(%all, %first, %end) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<4xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %sum = "onnx.Add"(%turned, %columns) : (tensor<?x1xi64, ["N", ""]>, tensor<2xi64>) -> tensor<?x2xi64, ["N", ""]>
  %to = "onnx.Shape"(%sum) <{start = 0 : i64}> : (tensor<?x2xi64, ["N", ""]>) -> tensor<2xi64>
  %i0 = "onnx.Expand"(%turned, %to) : (tensor<?x1xi64, ["N", ""]>, tensor<2xi64>) -> tensor<?x2xi64, ["N", ""]>
  %i1 = "onnx.Expand"(%columns, %to) : (tensor<2xi64>, tensor<2xi64>) -> tensor<?x2xi64, ["N", ""]>
  %c0 = "onnx.Unsqueeze"(%i0, %last) : (tensor<?x2xi64, ["N", ""]>, tensor<1xi64>) -> tensor<?x2x1xi64, ["N", "", ""]>
  %c1 = "onnx.Unsqueeze"(%i1, %last) : (tensor<?x2xi64, ["N", ""]>, tensor<1xi64>) -> tensor<?x2x1xi64, ["N", "", ""]>
  %i = "onnx.Concat"(%c0, %c1) <{axis = -1 : i64}> : (tensor<?x2x1xi64, ["N", "", ""]>, tensor<?x2x1xi64, ["N", "", ""]>) -> tensor<?x2x2xi64, ["N", "", ""]>
  %y = "onnx.ScatterND"(%x, %i, %u) <{reduction = "none"}> : (tensor<?x4xf32, ["N", ""]>, tensor<?x2x2xi64, ["N", "", ""]>, tensor<?x2xf32, ["N", ""]>) -> tensor<?x4xf32, ["N", ""]>
  return %y : tensor<?x4xf32, ["N", ""]>
}

// CHECK-LABEL: @gathered_rows
// CHECK-NOT: onnx.GatherND
// CHECK: %[[ROWS:.*]] = "onnx.Slice"(%arg0, {{.*}} -> tensor<2x3xf32>
// CHECK: return %[[ROWS]]
func.func @gathered_rows(%x: tensor<8x3xf32>) -> tensor<2x3xf32> {
  %i = "onnx.Constant"() <{value = dense<[[2], [6]]> : tensor<2x1xi64>}> : () -> tensor<2x1xi64>
  %y = "onnx.GatherND"(%x, %i) <{batch_dims = 0 : i64}> : (tensor<8x3xf32>, tensor<2x1xi64>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @gathered_columns
// CHECK-NOT: onnx.Gather
// CHECK: %[[COLUMNS:.*]] = "onnx.Slice"(%arg0, {{.*}} -> tensor<8x2xf32>
// CHECK: %[[ROWS:.*]] = "onnx.Unsqueeze"(%[[COLUMNS]]
// CHECK: return %[[ROWS]]
func.func @gathered_columns(%x: tensor<8x3xf32>) -> tensor<8x1x2xf32> {
  %i = "onnx.Constant"() <{value = dense<[[1, 2]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
  %y = "onnx.Gather"(%x, %i) <{axis = 1 : i64}> : (tensor<8x3xf32>, tensor<1x2xi64>) -> tensor<8x1x2xf32>
  return %y : tensor<8x1x2xf32>
}

// CHECK-LABEL: @no_box
// CHECK-COUNT-5: onnx.ScatterND
func.func @no_box(%x: tensor<5xf32>, %z: tensor<3x3xf32>, %u: tensor<3xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<3x3xf32>) {
  %uneven = "onnx.Constant"() <{value = dense<[[0], [1], [3]]> : tensor<3x1xi64>}> : () -> tensor<3x1xi64>
  %a = "onnx.ScatterND"(%x, %uneven, %u) <{reduction = "none"}> : (tensor<5xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<5xf32>
  %twice = "onnx.Constant"() <{value = dense<2> : tensor<3x1xi64>}> : () -> tensor<3x1xi64>
  %b = "onnx.ScatterND"(%x, %twice, %u) <{reduction = "add"}> : (tensor<5xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<5xf32>
  %outside = "onnx.Constant"() <{value = dense<[[3], [4], [5]]> : tensor<3x1xi64>}> : () -> tensor<3x1xi64>
  %c = "onnx.ScatterND"(%x, %outside, %u) <{reduction = "none"}> : (tensor<5xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<5xf32>
  %around = "onnx.Constant"() <{value = dense<[[-1], [0], [1]]> : tensor<3x1xi64>}> : () -> tensor<3x1xi64>
  %d = "onnx.ScatterND"(%x, %around, %u) <{reduction = "none"}> : (tensor<5xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<5xf32>
  %diagonal = "onnx.Constant"() <{value = dense<[[0, 0], [1, 1], [2, 2]]> : tensor<3x2xi64>}> : () -> tensor<3x2xi64>
  %e = "onnx.ScatterND"(%z, %diagonal, %u) <{reduction = "none"}> : (tensor<3x3xf32>, tensor<3x2xi64>, tensor<3xf32>) -> tensor<3x3xf32>
  return %a, %b, %c, %d, %e : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<3x3xf32>
}

// The run may have fewer rows than that.
// CHECK-LABEL: @size_is_not_known
// CHECK: onnx.Gather
func.func @size_is_not_known(%x: tensor<?x3xf32, ["N", ""]>) -> tensor<2x3xf32> {
  %i = "onnx.Constant"() <{value = dense<[0, 1]> : tensor<2xi64>}> : () -> tensor<2xi64>
  %y = "onnx.Gather"(%x, %i) <{axis = 0 : i64}> : (tensor<?x3xf32, ["N", ""]>, tensor<2xi64>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @indices_are_given
// CHECK: onnx.Gather
func.func @indices_are_given(%x: tensor<4x3xf32>, %i: tensor<2xi64>) -> tensor<2x3xf32> {
  %y = "onnx.Gather"(%x, %i) <{axis = 0 : i64}> : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @indices_of_named_sizes
// CHECK: onnx.Gather
func.func @indices_of_named_sizes(%x: tensor<4x3xf32>, %i: tensor<?x?xi64, ["B", "S"]>) -> tensor<?x?x3xf32> {
  %y = "onnx.Gather"(%x, %i) <{axis = 0 : i64}> : (tensor<4x3xf32>, tensor<?x?xi64, ["B", "S"]>) -> tensor<?x?x3xf32>
  return %y : tensor<?x?x3xf32>
}
