// RUN: onnxc-opt --expand-vector-loops --canonicalize --cse %s | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {

// Runs of 7 are two vectors of 4, which share an element.
// CHECK-LABEL: @runs_of_seven
// CHECK-NOT: maskedstore
// CHECK-COUNT-2: vector.store {{.*}} : memref<{{.*}}>, vector<4xf32>
// CHECK-NOT: vector.store
// CHECK: return
func.func @runs_of_seven(%x: memref<64x64x7xf32>, %y: memref<64x64x7xf32>) {
  linalg.transpose ins(%x : memref<64x64x7xf32>) outs(%y : memref<64x64x7xf32>) permutation = [1, 0, 2]
  return
}

// What is read may be what is written: no element is computed twice.
// CHECK-LABEL: @in_place
// CHECK: vector.maskedstore
// CHECK: return
func.func @in_place(%x: memref<64x5x7xf32>, %w: memref<5xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (j)>, affine_map<(i, j, k) -> (i, j, k)>,
                                   affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %x : memref<5xf32>, memref<64x5x7xf32>) outs(%x : memref<64x5x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  }
  return
}
}
