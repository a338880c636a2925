// RUN: onnxc-opt --profile-regions --split-input-file %s | FileCheck %s

// CHECK-LABEL: @model
// CHECK-SAME: %[[OUT:[^:]*]]: memref<4xf32> {onnxc.name = "y", onnxc.output = 0 : i64}
// CHECK-SAME: %[[TABLE:[^:]*]]: memref<3xi64> {onnxc.name = "onnxc.profile", onnxc.output = 1 : i64}
// CHECK-SAME: %{{.*}}: memref<?xi8>, %{{.*}}: memref<?xi8>, %{{.*}}: !llvm.ptr
module attributes {onnxc.profile} {
func.func @model(%x: memref<4xf32>, %y: memref<4xf32> {onnxc.name = "y", onnxc.output = 0 : i64},
                 %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // CHECK: %[[START:.*]] = call @onnxc_ticks
  // CHECK: %[[BEGIN:.*]] = call @onnxc_ticks
  // CHECK-NEXT: linalg.fill
  // CHECK-NEXT: %[[END:.*]] = call @onnxc_ticks
  // CHECK-NEXT: %[[TICKS:.*]] = arith.subi %[[END]], %[[BEGIN]]
  // CHECK: memref.store %{{.*}}, %[[TABLE]]
  linalg.fill ins(%zero : f32) outs(%y : memref<4xf32>)
  // A loop that holds no region is one.
  // CHECK: call @onnxc_ticks
  // CHECK-NEXT: scf.for
  // CHECK-NOT: onnxc_ticks
  // CHECK: memref.store %{{.*}}, %[[OUT]]
  scf.for %i = %c0 to %c4 step %c1 {
    %e = memref.load %x[%i] : memref<4xf32>
    memref.store %e, %y[%i] : memref<4xf32>
  }
  // The whole call is last.
  // CHECK: %[[LAST:.*]] = call @onnxc_ticks
  // CHECK: arith.subi {{.*}}, %[[START]]
  // CHECK: return
  return
}
// CHECK: func.func private @onnxc_ticks() -> i64
}

// -----

// Without the word on its module a model stays as it is.
// CHECK-LABEL: @model
// CHECK-NOT: onnxc_ticks
func.func @model(%y: memref<4xf32> {onnxc.name = "y", onnxc.output = 0 : i64}, %arena: memref<?xi8>,
                 %weights: memref<?xi8>, %call: !llvm.ptr) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<4xf32>)
  return
}
