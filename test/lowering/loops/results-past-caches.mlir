// RUN: onnxc-opt --expand-vector-loops --canonicalize --cse %s | FileCheck %s

// 16 KiB of a result go past the caches, in functions of their own only.
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 4096, l2_bytes = 16384, index_bits = 64, heap = true,
    has_f16 = true, stream_bytes = 16384>} {

// CHECK-LABEL: @large
// CHECK-COUNT-2: vector.store {{.*}} {alignment = 64 : i64, nontemporal = true}
// CHECK-NOT: vector.store
// CHECK: return
func.func @large(%x: memref<64x64xf32>, %y: memref<64x64xf32>) attributes {onnxc.work = 4096 : i64} {
  linalg.exp ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>)
  return
}

// CHECK-LABEL: @in_the_model
// CHECK-NOT: nontemporal
// CHECK: return
func.func @in_the_model(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  linalg.exp ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>)
  return
}

// CHECK-LABEL: @small
// CHECK-NOT: nontemporal
// CHECK: return
func.func @small(%x: memref<63x64xf32>, %y: memref<63x64xf32>) attributes {onnxc.work = 4096 : i64} {
  linalg.exp ins(%x : memref<63x64xf32>) outs(%y : memref<63x64xf32>)
  return
}

// Rows that do not begin where a line does.
// CHECK-LABEL: @rows_of_a_part
// CHECK-NOT: nontemporal
// CHECK: return
func.func @rows_of_a_part(%x: memref<64x64xf32>, %y: memref<64x64xf32, strided<[72, 1], offset: ?>>)
    attributes {onnxc.work = 4096 : i64} {
  linalg.exp ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32, strided<[72, 1], offset: ?>>)
  return
}

// What is left of a row is less than a vector.
// CHECK-LABEL: @ends_within_a_vector
// CHECK-NOT: nontemporal
// CHECK: return
func.func @ends_within_a_vector(%x: memref<4100xf32>, %y: memref<4100xf32>) attributes {onnxc.work = 4096 : i64} {
  linalg.exp ins(%x : memref<4100xf32>) outs(%y : memref<4100xf32>)
  return
}

// Whole lines of a tile.
// CHECK-LABEL: @transpose
// CHECK-COUNT-16: vector.store {{.*}} {alignment = 64 : i64, nontemporal = true}
// CHECK: return
func.func @transpose(%x: memref<64x64xf32>, %y: memref<64x64xf32>) attributes {onnxc.work = 4096 : i64} {
  linalg.transpose ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>) permutation = [1, 0]
  return
}

// A vector of halves is half a line.
// CHECK-LABEL: @transpose_of_halves
// CHECK-NOT: nontemporal
// CHECK: return
func.func @transpose_of_halves(%x: memref<128x64xf16>, %y: memref<64x128xf16>) attributes {onnxc.work = 4096 : i64} {
  linalg.transpose ins(%x : memref<128x64xf16>) outs(%y : memref<64x128xf16>) permutation = [1, 0]
  return
}
}
