// RUN: onnxc-opt --expand-vector-loops %s | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64-linux-gnu", cpu = "x86-64-v3", features = "",
    vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64,
    heap = true, has_f16 = true, has_permute = true>} {

// Of three channels each the sums of eight pixels are computed at once. Nothing behind the last element is read.
// CHECK-LABEL: @few_channels_of_many_pixels
// CHECK: scf.for %[[C:[^ ]*]] = %{{.*}} to %c3
// CHECK: %[[FIRST:.*]] = vector.load %[[X:.*]][%[[C]]] : {{.*}}, vector<8xf32>
// CHECK: %[[TWO:.*]] = vector.shuffle %[[FIRST]], %[[FIRST]] [8, 11, 14, 3, 4, 5, 6, 7]
// CHECK: %[[AT:.*]] = arith.addi %[[C]], %c8
// CHECK: %[[SECOND:.*]] = vector.load %[[X]][%[[AT]]]
// CHECK: %[[SIX:.*]] = vector.shuffle %[[TWO]], %[[SECOND]] [0, 1, 2, 9, 12, 15, 6, 7]
// CHECK: %[[AT:.*]] = arith.addi %[[C]], %c14
// CHECK: %[[LAST:.*]] = vector.load %[[X]][%[[AT]]]
// CHECK: %[[ALL:.*]] = vector.shuffle %[[SIX]], %[[LAST]] [0, 1, 2, 3, 4, 5, 12, 15]
// CHECK: arith.addf %[[ALL]], %{{.*}} : vector<8xf32>
func.func @few_channels_of_many_pixels(%x: memref<43x3xf32>, %y: memref<43xf32>) {
  linalg.generic {indexing_maps = [affine_map<(p, c) -> (p, c)>, affine_map<(p, c) -> (p)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<43x3xf32>) outs(%y : memref<43xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  }
  return
}

}
