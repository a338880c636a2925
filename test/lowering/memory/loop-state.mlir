// RUN: onnxc-opt --set-signature --bufferize --canonicalize --cse --elide-copies --embed-weights --plan-arena %s | FileCheck %s

// A loop with carried state asks nobody for memory: the state lives in the
// output, the scratch of the body in the arena.
// CHECK-LABEL: func.func @model(
// CHECK-SAME: %[[Y:[^ :]*]]: memref<8x8xf32> {onnxc.output
// CHECK-NOT: onnxc.allocate
// CHECK-NOT: memref.alloc
// CHECK: scf.for %{{[^ ]*}} = %{{[^ ]*}} to %{{[^ ]*}} step %{{[^ ]*}} {
// CHECK-NOT: onnxc.allocate
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @model(%x: tensor<8x8xf32>, %n: tensor<index>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = tensor.extract %n[] : tensor<index>
  %y = scf.for %i = %c0 to %count step %c1 iter_args(%state = %x)
      -> tensor<8x8xf32> {
    %empty = tensor.empty() : tensor<8x8xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x8xf32>)
        -> tensor<8x8xf32>
    %next = linalg.matmul ins(%state, %x : tensor<8x8xf32>, tensor<8x8xf32>)
        outs(%zeros : tensor<8x8xf32>) -> tensor<8x8xf32>
    %written = linalg.copy ins(%next : tensor<8x8xf32>)
        outs(%state : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %written : tensor<8x8xf32>
  }
  return %y : tensor<8x8xf32>
}
