// RUN: onnxc-opt %s --bufferize --canonicalize | FileCheck %s

// What is padded behind a reshape has a size of the input, which is known at entry.
// CHECK-LABEL: func.func @model
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x4x?xf32
// CHECK-NOT: memref.dim %{{(collapse|expand)}}
// CHECK: return
func.func @model(%x: tensor<?x4x?xf32> {onnxc.dims = ["n", "", "c"], onnxc.name = "x"}) -> tensor<?x10xf32> {
  %zero = arith.constant 0.0 : f32
  %zeroth = arith.constant 0 : index
  %second = arith.constant 2 : index
  %n = tensor.dim %x, %zeroth : tensor<?x4x?xf32>
  %c = tensor.dim %x, %second : tensor<?x4x?xf32>
  %e = tensor.empty(%n, %c) : tensor<?x4x?xf32>
  %y = linalg.exp ins(%x : tensor<?x4x?xf32>) outs(%e : tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
  %joined = tensor.collapse_shape %y [[0], [1, 2]] : tensor<?x4x?xf32> into tensor<?x?xf32>
  %padded = tensor.pad %joined low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  %part = tensor.extract_slice %padded[0, 0] [%n, 10] [1, 1] : tensor<?x?xf32> to tensor<?x10xf32>
  return %part : tensor<?x10xf32>
}
