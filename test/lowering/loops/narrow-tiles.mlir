// RUN: onnxc-opt --expand-vector-loops --canonicalize --cse %s | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {

// No square of 16 fits; squares of 8 take fewer shuffles than a tile of all 15 rows.
// CHECK-LABEL: @fifteen_rows
// CHECK-NOT: vector<16xf32>
// CHECK-COUNT-24: vector.shuffle {{.*}} : vector<8xf32>, vector<8xf32>
// CHECK-NOT: vector.shuffle
// CHECK: return
func.func @fifteen_rows(%x: memref<15x512xf32>, %y: memref<512x15xf32>) {
  linalg.transpose ins(%x : memref<15x512xf32>) outs(%y : memref<512x15xf32>) permutation = [1, 0]
  return
}

// CHECK-LABEL: @sixteen_rows
// CHECK-COUNT-64: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK-NOT: vector.shuffle
// CHECK: return
func.func @sixteen_rows(%x: memref<16x512xf32>, %y: memref<512x16xf32>) {
  linalg.transpose ins(%x : memref<16x512xf32>) outs(%y : memref<512x16xf32>) permutation = [1, 0]
  return
}

// Where there are fewer rows than a square has, smaller squares.
// CHECK-LABEL: @rows_of_the_run
// CHECK: scf.if
// CHECK-COUNT-64: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK: else
// CHECK: scf.if
// CHECK-COUNT-24: vector.shuffle {{.*}} : vector<8xf32>, vector<8xf32>
// CHECK: else
// CHECK: scf.if
// CHECK-COUNT-8: vector.shuffle {{.*}} : vector<4xf32>, vector<4xf32>
// CHECK: else
// CHECK: return
func.func @rows_of_the_run(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  linalg.transpose ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>) permutation = [1, 0]
  return
}
}
