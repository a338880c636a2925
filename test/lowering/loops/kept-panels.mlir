// RUN: onnxc-opt --expand-kernels %s | FileCheck %s

#panels = #onnxc.contraction<rows = 2, columns = 16, vector = 8, outer = panels>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256, vector_registers = 16,
  fma_per_cycle = 2, l1_bytes = 4096, l2_bytes = 16384, index_bits = 64, heap = true, has_f16 = true>

// The first two rows read B where it lies, ask for what comes next and leave a copy; the others read the copy.
// CHECK-LABEL: func.func private @k_
// CHECK-SAME: %[[B:[^:]*]]: memref<64x64xf32>, %{{[^:]*}}: memref<8x64xf32>, %[[ROOM:[^:]*]]: memref<1024xf32>) attributes {{.*}}onnxc.scratch = 1
// CHECK: scf.for
// CHECK:   scf.for
// CHECK:     vector.load %[[SOURCE:[a-z_0-9]+]][
// CHECK:     vector.store %{{.*}}, %[[ROOM]][
// CHECK:     vector.store %{{.*}}, %[[ROOM]][
// CHECK:     memref.prefetch %[[SOURCE]][
// CHECK:   scf.for
// CHECK:     scf.for
// CHECK-NOT:   vector.load %[[SOURCE]]
// CHECK:       vector.load %[[ROOM]][
// CHECK:       vector.load %[[ROOM]][
// CHECK-NOT:   vector.load %[[SOURCE]]
// CHECK: return
module attributes {onnxc.target = #target} {
func.func @computed(%A: memref<8x64xf32>, %B: memref<64x64xf32>, %C: memref<8x64xf32>, %S: memref<1024xf32>) {
  onnxc.kernel #panels ins(%A, %B : memref<8x64xf32>, memref<64x64xf32>)
      outs(%C, %S : memref<8x64xf32>, memref<1024xf32>) {
  ^bb0(%a: tensor<8x64xf32>, %b: tensor<64x64xf32>, %c: tensor<8x64xf32>, %r: tensor<1024xf32>):
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<8x64xf32>, tensor<64x64xf32>) outs(%c : tensor<8x64xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<8x64xf32>
    onnxc.yield %sum, %r : tensor<8x64xf32>, tensor<1024xf32>
  }
  return
}
}
