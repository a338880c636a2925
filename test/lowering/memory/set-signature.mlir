// RUN: onnxc-opt --split-input-file --set-signature %s | FileCheck %s

// CHECK-LABEL: func.func @model(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32> {onnxc.name = "x"}
// CHECK-SAME: %[[Y:.*]]: memref<4xf32> {onnxc.name = "y", onnxc.output = 0 : i64}
// CHECK-SAME: %{{.*}}: memref<?xi8>, %{{.*}}: memref<?xi8>, %{{.*}}: !llvm.ptr)
// CHECK: materialize_in_destination %[[X]] in restrict writable %[[Y]]
// CHECK-NEXT: return{{$}}
func.func @model(%x: tensor<4xf32> {onnxc.name = "x"})
    -> (tensor<4xf32> {onnxc.name = "y"}) {
  return %x : tensor<4xf32>
}

// -----

// The size of an output may be any formula of the input's sizes.
// CHECK-LABEL: func.func @model(
// CHECK-SAME: onnxc.output = 0 : i64
// CHECK-NOT: onnxc.result
// CHECK: func.func private @model_output_dims(%[[N:.*]]: index) -> index
// CHECK: %[[TWICE:.*]] = arith.addi %[[N]], %[[N]] : index
// CHECK: return %[[TWICE]]
func.func @model(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %twice = arith.addi %size, %size : index
  %empty = tensor.empty(%twice) : tensor<?xf32>
  %zero = arith.constant 0.0 : f32
  %y = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>)
      -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// A size that only the run knows makes no argument.
// CHECK-LABEL: func.func @model(
// CHECK-NOT: onnxc.output
// CHECK: onnxc.result %{{.*}}, 0 {onnxc.name = "y"} : tensor<?xf32>
func.func @model(%x: tensor<index>)
    -> (tensor<?xf32> {onnxc.name = "y"}) {
  %size = tensor.extract %x[] : tensor<index>
  %empty = tensor.empty(%size) : tensor<?xf32>
  return %empty : tensor<?xf32>
}

// -----

// What another result overwrites is handed over first.
// CHECK-LABEL: func.func @model(
// CHECK: %[[C:.*]] = linalg.fill
// CHECK: %[[Y:.*]] = tensor.insert %{{.*}} into %[[C]]
// CHECK: %[[V:.*]] = tensor.expand_shape %[[C]]
// CHECK: bufferization.materialize_in_destination %[[V]] in restrict writable %arg2
// CHECK: bufferization.materialize_in_destination %[[Y]] in restrict writable %arg1
func.func @model(%x: tensor<f32>) -> (tensor<4xf32>, tensor<1x4xf32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %value = tensor.extract %x[] : tensor<f32>
  %empty = tensor.empty() : tensor<4xf32>
  %c = linalg.fill ins(%value : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %y = tensor.insert %one into %c[%c0] : tensor<4xf32>
  %v = tensor.expand_shape %c [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  return %y, %v : tensor<4xf32>, tensor<1x4xf32>
}
