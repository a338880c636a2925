// RUN: onnxc-opt --expand-vector-loops --canonicalize --cse %s | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 4096, l2_bytes = 16384, index_bits = 64, heap = true,
    has_f16 = true>} {

// 16 KiB are read and as many written: each square of 8 by 8 asks for the lines that the next one writes.
// CHECK-LABEL: @beyond_the_second_cache
// CHECK: scf.for
// CHECK: scf.for %[[AT:.*]] =
// CHECK-COUNT-8: memref.prefetch {{.*}}, write, locality<3>, data
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @beyond_the_second_cache(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  linalg.transpose ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>) permutation = [1, 0]
  return
}

// CHECK-LABEL: @within_it
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @within_it(%x: memref<32x32xf32>, %y: memref<32x32xf32>) {
  linalg.transpose ins(%x : memref<32x32xf32>) outs(%y : memref<32x32xf32>) permutation = [1, 0]
  return
}

// 128 columns of the result are two times four lines, each walked by all rows, which are shared among tasks.
// CHECK-LABEL: @in_columns
// CHECK: scf.for %[[COLUMN:.*]] = %{{.*}} to %{{.*}} step %[[WIDTH:.*]] {
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK-COUNT-8: memref.prefetch
// CHECK: } {onnxc.inner}
// CHECK: return
func.func @in_columns(%x: memref<128x64xf32>, %y: memref<64x128xf32>) {
  linalg.transpose ins(%x : memref<128x64xf32>) outs(%y : memref<64x128xf32>) permutation = [1, 0]
  return
}

// The last column is a vector that ends with the row, and the four elements before it.
// CHECK-LABEL: @in_unequal_columns
// CHECK: scf.for %[[COLUMN:[^ ]*]] =
// CHECK: %[[LEFT:.*]] = arith.subi %c76, %[[COLUMN]]
// CHECK: %[[WIDTH:.*]] = arith.min{{[us]}}i %[[LEFT]], %c64
// CHECK: %[[LAST:.*]] = arith.subi %c68, %[[COLUMN]]
// CHECK: scf.for
// CHECK: scf.for %[[AT:[^ ]*]] = %{{.*}} to %[[WIDTH]]
// CHECK: arith.min{{[us]}}i %[[AT]], %[[LAST]]
// CHECK: return
func.func @in_unequal_columns(%x: memref<76x64xf32>, %y: memref<64x76xf32>) {
  linalg.transpose ins(%x : memref<76x64xf32>) outs(%y : memref<64x76xf32>) permutation = [1, 0]
  return
}
}
