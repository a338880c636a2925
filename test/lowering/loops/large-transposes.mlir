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
}
