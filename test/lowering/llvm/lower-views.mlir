// RUN: onnxc-opt %s --lower-views | FileCheck %s

// CHECK-LABEL: @several_unknown_sizes
// CHECK-SAME: %[[A:[a-z0-9]+]]: index, %[[B:[a-z0-9]+]]: index
// CHECK: memref.reinterpret_cast {{.*}} to offset: [0], sizes: [%[[A]], %[[B]]], strides: [%[[B]], 1]
func.func @several_unknown_sizes(%x: memref<?xf32>, %a: index, %b: index) -> memref<?x?xf32> {
  %y = memref.expand_shape %x [[0, 1]] output_shape [%a, %b] : memref<?xf32> into memref<?x?xf32>
  return %y : memref<?x?xf32>
}

// CHECK-LABEL: @one_unknown_size
// CHECK: memref.expand_shape
func.func @one_unknown_size(%x: memref<?xf32>, %a: index) -> memref<?x4xf32> {
  %y = memref.expand_shape %x [[0, 1]] output_shape [%a, 4] : memref<?xf32> into memref<?x4xf32>
  return %y : memref<?x4xf32>
}
