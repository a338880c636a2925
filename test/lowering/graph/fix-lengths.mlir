// RUN: onnxc-opt --fix-lengths --infer-shapes --split-input-file --verify-diagnostics %s | FileCheck %s

// The ranks say how many repeats there are; the run checks it.
// CHECK-LABEL: func.func @repeats
// CHECK: %[[FITS:.*]] = "onnx.Equal"
// CHECK: %[[CHECKED:.*]] = "onnx.x.Require"(%arg1, %[[FITS]]) {{.*}}operand = "repeats"
// CHECK: %[[LIST:.*]] = "onnx.Reshape"(%[[CHECKED]], %{{[0-9]+}}){{.*}} -> tensor<2xi64>
// CHECK: "onnx.Tile"(%arg0, %[[LIST]])
func.func @repeats(%x: tensor<2x3xf32>, %repeats: tensor<?xi64>) -> tensor<?x?xf32> {
  %y = "onnx.Tile"(%x, %repeats) : (tensor<2x3xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// Starts and ends of some axes become those of all.
// CHECK-LABEL: func.func @any_axes
// CHECK: "onnx.x.Require"(%{{.*}}) {{.*}}message = "an axis is outside the rank"
// CHECK: "onnx.x.Require"(%{{.*}}) {{.*}}message = "an axis is given twice"
// CHECK-COUNT-3: "onnx.ScatterElements"(%{{.*}}) {{.*}} -> tensor<2xi64>
// CHECK: "onnx.Slice"(%arg0, %{{.*}}){{.*}} : (tensor<2x3xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
func.func @any_axes(%x: tensor<2x3xf32>, %starts: tensor<?xi64>, %ends: tensor<?xi64>, %axes: tensor<?xi64>) -> tensor<?x?xf32> {
  %y = "onnx.Slice"(%x, %starts, %ends, %axes) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}
      : (tensor<2x3xf32>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// What has its length stays as it is.
// CHECK-LABEL: func.func @known
// CHECK-NEXT: "onnx.Tile"(%arg0, %arg1)
func.func @known(%x: tensor<2x3xf32>, %repeats: tensor<2xi64>) -> tensor<?x?xf32> {
  %y = "onnx.Tile"(%x, %repeats) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

func.func @two_diagonals(%x: tensor<2x3xf32>, %k: tensor<2xi64>) -> tensor<2x3xf32> {
  // expected-error @+1 {{expected 1 value in 'k', got 2}}
  %y = "onnx.Trilu"(%x, %k) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
