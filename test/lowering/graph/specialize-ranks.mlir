// What follows an If whose branches differ in rank moves into them, where ranks are known.
// RUN: onnxc-opt --specialize-ranks --canonicalize --split-input-file %s | FileCheck %s
// CHECK-LABEL: func.func @model
// CHECK: %[[Y:.*]] = "onnx.If"(%{{.*}}) ({
// CHECK: "onnx.Squeeze"
// CHECK: "onnx.Relu"(%{{.*}}) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: "onnx.ReduceSum"(%{{.*}}) {{.*}} -> tensor<f32>
// CHECK: }, {
// CHECK: "onnx.Relu"(%{{.*}}) : (tensor<1x3xf32>) -> tensor<1x3xf32>
// CHECK: "onnx.ReduceSum"(%{{.*}}) {{.*}} -> tensor<f32>
// CHECK: }) : (tensor<i1>) -> tensor<f32>
// CHECK: return %[[Y]] : tensor<f32>
func.func @model(%x: tensor<1x3xf32>, %c: tensor<i1>) -> tensor<*xf32> {
  %0 = "onnx.If"(%c) ({
    %1 = "onnx.Squeeze"(%x) : (tensor<1x3xf32>) -> tensor<3xf32>
    onnx.Yield %1 : tensor<3xf32>
  }, {
    onnx.Yield %x : tensor<1x3xf32>
  }) : (tensor<i1>) -> tensor<*xf32>
  %2 = "onnx.Relu"(%0) : (tensor<*xf32>) -> tensor<*xf32>
  %3 = "onnx.ReduceSum"(%2) <{keepdims = 0 : i64, operandSegmentSizes = array<i32: 1, 0>}> : (tensor<*xf32>) -> tensor<*xf32>
  return %3 : tensor<*xf32>
}

// -----

// A branch that leads to a node which does not take its rank ends the call.
// CHECK-LABEL: func.func @model
// CHECK: "onnx.If"(%{{.*}}) ({
// CHECK-NEXT: %[[NONE:.*]] = "onnx.Fail"() <{message = "{{.*}}"}> : () -> tensor<3x1xf32>
// CHECK-NEXT: onnx.Yield %[[NONE]]
// CHECK: "onnx.Transpose"
func.func @model(%x: tensor<1x3xf32>, %c: tensor<i1>) -> tensor<*xf32> {
  %0 = "onnx.If"(%c) ({
    %1 = "onnx.Squeeze"(%x) : (tensor<1x3xf32>) -> tensor<3xf32>
    onnx.Yield %1 : tensor<3xf32>
  }, {
    onnx.Yield %x : tensor<1x3xf32>
  }) : (tensor<i1>) -> tensor<*xf32>
  %2 = "onnx.Transpose"(%0) <{perm = array<i64: 1, 0>}> : (tensor<*xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// A Squeeze without axes takes away what is known to have size 1; a run in which another is 1 ends.
// CHECK-LABEL: func.func @squeeze_names_its_axes
// CHECK: "onnx.If"(%{{.*}}) ({
// CHECK-NEXT: "onnx.Fail"
// CHECK: }, {
// CHECK: "onnx.Squeeze"(%{{.*}}, %{{.*}}) : (tensor<?x1x3xf32>, tensor<1xi64>) -> tensor<?x3xf32{{.*}}>
// CHECK: "onnx.Relu"(%{{.*}}) : (tensor<?x3xf32{{.*}}>) -> tensor<?x3xf32{{.*}}>
func.func @squeeze_names_its_axes(%x: tensor<?x1x3xf32>) -> tensor<*xf32> {
  %0 = "onnx.Squeeze"(%x) : (tensor<?x1x3xf32>) -> tensor<*xf32>
  %1 = "onnx.Relu"(%0) : (tensor<*xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}
