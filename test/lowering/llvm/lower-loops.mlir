// RUN: onnxc-opt %s --lower-loops | FileCheck %s

// Loops in a row and in each other; no block is left that only branches on.
// CHECK-LABEL: func.func @nested
// CHECK-NOT: scf
// CHECK: cf.cond_br %{{.*}}, ^[[BODY:bb[0-9]+]], ^[[SECOND:bb[0-9]+]]
// CHECK: ^[[BODY]]:
// CHECK: cf.cond_br %{{.*}}, ^{{bb[0-9]+}}, ^{{bb[0-9]+}}
// CHECK: memref.store
// CHECK: ^[[SECOND]]:
// CHECK: memref.load
// CHECK: cf.cond_br
// CHECK: return %{{.*}} : i64
func.func @nested(%x: memref<4x4xi64>, %n: index) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      memref.store %zero, %x[%i, %j] : memref<4x4xi64>
    }
  }
  %first = memref.load %x[%c0, %c0] : memref<4x4xi64>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %first) -> i64 {
    %value = memref.load %x[%i, %c0] : memref<4x4xi64>
    %next = arith.addi %s, %value : i64
    scf.yield %next : i64
  }
  return %sum : i64
}
