// RUN: onnxc-opt --split-input-file --plan-arena %s | FileCheck %s

// CHECK-LABEL: module attributes {onnxc.arena_bytes = 128 : i64}
// CHECK: func.func @model(
// CHECK-SAME: %[[ARENA:[^:]*]]: memref<?xi8>, %{{.*}}: memref<?xi8>, %{{.*}}: !llvm.ptr)
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: memref.view %[[ARENA]][%[[C0]]][] : memref<?xi8> to memref<16xf32>
// CHECK: %[[C64:.*]] = arith.constant 64 : index
// CHECK: memref.view %[[ARENA]][%[[C64]]][] : memref<?xi8> to memref<16xf32>
// CHECK: %[[AGAIN:.*]] = arith.constant 0 : index
// CHECK: memref.view %[[ARENA]][%[[AGAIN]]][] : memref<?xi8> to memref<9xf32>
// CHECK-NOT: memref.alloc
func.func @model(%x: memref<16xf32>,
    %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  memref.copy %a, %b : memref<16xf32> to memref<16xf32>
  %dead_a = memref.alloc() : memref<9xf32>
  %part = memref.subview %b[0] [9] [1]
      : memref<16xf32> to memref<9xf32, strided<[1]>>
  memref.copy %part, %dead_a : memref<9xf32, strided<[1]>> to memref<9xf32>
  return
}

// -----

// A view lives as long as its buffer's last use through it.
// CHECK-LABEL: module attributes {onnxc.arena_bytes = 128 : i64}
func.func @model(%x: memref<16xf32>,
    %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  %view = memref.cast %a : memref<16xf32> to memref<?xf32>
  %b = memref.alloc() : memref<16xf32>
  memref.copy %x, %b : memref<16xf32> to memref<16xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%view : memref<?xf32>)
  return
}

// -----

// What a loop uses in each iteration keeps its bytes through the whole loop.
// CHECK-LABEL: module attributes {onnxc.arena_bytes = 128 : i64}
func.func @model(%x: memref<16xf32>, %n: index,
    %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<16xf32>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.copy %a, %x : memref<16xf32> to memref<16xf32>
    %b = memref.alloc() : memref<16xf32>
    memref.copy %x, %b : memref<16xf32> to memref<16xf32>
    memref.copy %b, %x : memref<16xf32> to memref<16xf32>
  }
  return
}

// -----

// Two of these live at once, the carried one and the next: no single place.
// CHECK-LABEL: module attributes {onnxc.arena_bytes = 0 : i64}
// CHECK: func.func @model(
// CHECK: scf.for
// CHECK: onnxc.allocate %{{.*}} : memref<?xi8>
func.func @model(%x: memref<16xf32>, %n: index,
    %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 iter_args(%carried = %x) -> memref<16xf32> {
    %b = memref.alloc() : memref<16xf32>
    memref.copy %carried, %b : memref<16xf32> to memref<16xf32>
    scf.yield %b : memref<16xf32>
  }
  return
}

// -----

// CHECK-LABEL: module attributes {onnxc.arena_bytes = 0 : i64}
// CHECK: func.func @model(
// CHECK-SAME: %[[SIZE:[^:]*]]: memref<index>
// CHECK: %[[N:.*]] = memref.load %[[SIZE]]
// CHECK: arith.mului_extended
// CHECK: %[[CHECKED:.*]] = arith.select %{{.*}}, %c-1{{.*}}, %{{.*}} : i64
// CHECK: %[[BYTES:.*]] = arith.index_cast %[[CHECKED]]
// CHECK: %[[MEMORY:.*]] = onnxc.allocate %[[BYTES]]
// CHECK: memref.view %[[MEMORY]][%{{.*}}][%[[N]]] : memref<?xi8> to memref<?xf32>
func.func @model(%size: memref<index>,
    %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
  %n = memref.load %size[] : memref<index>
  %a = memref.alloc(%n) : memref<?xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%a : memref<?xf32>)
  return
}

// -----

// Symbolic sizes stack above the fixed ones that live at the same time: a above
// those 64 bytes, b above a, c at the very bottom.
// CHECK-LABEL: module attributes {onnxc.symbols = ["N"]}
// CHECK: func.func @model(%[[X:[^:]*]]: memref<?x4xf32> {onnxc.dims = ["N", ""]}, %[[ARENA:[^:]*]]: memref<?xi8>
// CHECK: memref.view %[[ARENA]][%c64{{[_0-9]*}}][%{{.*}}] : memref<?xi8> to memref<?x4xf32>
// CHECK: memref.view %[[ARENA]][%[[TOP:[0-9]+]]][%{{.*}}] : memref<?xi8> to memref<?x4xf32>
// CHECK: memref.view %[[ARENA]][%c0{{[_0-9]*}}][%{{.*}}] : memref<?xi8> to memref<?x4xf32>
// CHECK: func.func private @model_arena_bytes(%{{.*}}: index) -> index
// CHECK: arith.mulsi_extended {{.*}} : i64
// CHECK: %[[LARGEST:.*]] = arith.constant 9223372036854775807 : index
// CHECK: %[[BYTES:.*]] = arith.select %{{.*}}, %[[LARGEST]], %{{.*}} : index
// CHECK: return %[[BYTES]]
module attributes {onnxc.symbols = ["N"]} {
  func.func @model(%x: memref<?x4xf32> {onnxc.dims = ["N", ""]}, %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
    %c0 = arith.constant 0 : index
    %n = memref.dim %x, %c0 : memref<?x4xf32>
    %zero = arith.constant 0.0 : f32
    %fixed = memref.alloc() : memref<16xf32>
    linalg.fill ins(%zero : f32) outs(%fixed : memref<16xf32>)
    %a = memref.alloc(%n) : memref<?x4xf32>
    memref.copy %x, %a : memref<?x4xf32> to memref<?x4xf32>
    linalg.fill ins(%zero : f32) outs(%fixed : memref<16xf32>)
    %b = memref.alloc(%n) : memref<?x4xf32>
    memref.copy %a, %b : memref<?x4xf32> to memref<?x4xf32>
    %c = memref.alloc(%n) : memref<?x4xf32>
    memref.copy %b, %c : memref<?x4xf32> to memref<?x4xf32>
    return
  }
}

// -----

// Scratch of a kernel whose size is a formula is a worker's own.
// CHECK: func.func @model
// CHECK: func.func private @model_worker_bytes(%[[N:.*]]: index) -> index
// CHECK: arith.cmpi slt, %[[N]]
// CHECK: %[[PADDED:.*]] = arith.addi %[[N]], %c63
// CHECK: arith.andi %[[PADDED]], %c-64
// CHECK: return
// CHECK: func.func private @model_arena_bytes(
module attributes {onnxc.symbols = ["N"]} {
  func.func @model(%x: memref<?x4xf32> {onnxc.dims = ["N", ""]}, %y: memref<?x4xf32> {onnxc.dims = ["N", ""]},
      %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
    %c0 = arith.constant 0 : index
    %n = memref.dim %x, %c0 : memref<?x4xf32>
    %scratch = memref.alloc(%n) : memref<?xi8>
    onnxc.kernel #onnxc.rows<outer = 1, tile = 1> ins(%x : memref<?x4xf32>)
        outs(%y, %scratch : memref<?x4xf32>, memref<?xi8>) {
    ^bb0(%xt: tensor<?x4xf32>, %yt: tensor<?x4xf32>, %s: tensor<?xi8>):
      %r = linalg.copy ins(%xt : tensor<?x4xf32>) outs(%yt : tensor<?x4xf32>) -> tensor<?x4xf32>
      onnxc.yield %r, %s : tensor<?x4xf32>, tensor<?xi8>
    }
    return
  }
}
