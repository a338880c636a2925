// RUN: onnxc-opt --split-input-file --embed-weights %s | FileCheck %s

// CHECK: onnxc.weights = [#onnxc.weight<0, dense<{{.*}}> : tensor<3xf32>>, #onnxc.weight<64, dense<{{.*}}> : tensor<2xi64>>]
// CHECK-NOT: memref.global
// CHECK-LABEL: func.func @model(
// CHECK-SAME: %{{.*}}: memref<?xi8>, %[[WEIGHTS:[^ :]*]]: memref<?xi8>, %{{.*}}: !llvm.ptr)
// CHECK: memref.view %[[WEIGHTS]][%{{.*}}][] : memref<?xi8> to memref<3xf32>
// CHECK: arith.constant 64
// CHECK: memref.view %[[WEIGHTS]][%{{.*}}][] : memref<?xi8> to memref<2xi64>
// CHECK: arith.constant 0
// CHECK: memref.view %[[WEIGHTS]][%{{.*}}][] : memref<?xi8> to memref<3xf32>
memref.global constant @a : memref<3xf32> = dense<[1.0, 2.0, 3.0]>
memref.global constant @b : memref<2xi64> = dense<[1, 2]>
memref.global constant @a_again : memref<3xf32> = dense<[1.0, 2.0, 3.0]>
func.func @model(%x: memref<3xf32>, %y: memref<2xi64>,
    %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
  %a = memref.get_global @a : memref<3xf32>
  memref.copy %a, %x : memref<3xf32> to memref<3xf32>
  %b = memref.get_global @b : memref<2xi64>
  memref.copy %b, %y : memref<2xi64> to memref<2xi64>
  %again = memref.get_global @a_again : memref<3xf32>
  memref.copy %again, %x : memref<3xf32> to memref<3xf32>
  return
}

// -----

// A million equal elements are one row.
// CHECK: onnxc.weights = [#onnxc.weight<0, dense<2.000000e+00> : tensor<1000xf32>>]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [1000, 1000], strides: [0, 1]
// CHECK: linalg.map {{.*}} ins(%{{.*}} : memref<1000x1000xf32, strided<[0, 1]>>)
memref.global constant @splat : memref<1000x1000xf32> = dense<2.0>
func.func @model(%y: memref<1000x1000xf32>, %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
  %w = memref.get_global @splat : memref<1000x1000xf32>
  linalg.map { math.absf } ins(%w : memref<1000x1000xf32>)
      outs(%y : memref<1000x1000xf32>)
  return
}

// -----

// A user that takes no such layout: the run fills a buffer.
// CHECK: onnxc.weights = []
// CHECK: %[[W:.*]] = memref.alloc() : memref<1000x1000xf32>
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%[[W]]
memref.global constant @splat : memref<1000x1000xf32> = dense<2.0>
func.func @model(%y: memref<1000000xf32>, %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
  %w = memref.get_global @splat : memref<1000x1000xf32>
  %flat = memref.collapse_shape %w [[0, 1]]
      : memref<1000x1000xf32> into memref<1000000xf32>
  linalg.map { math.absf } ins(%flat : memref<1000000xf32>)
      outs(%y : memref<1000000xf32>)
  return
}
