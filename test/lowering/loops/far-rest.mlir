// RUN: onnxc-opt --expand-kernels --cse %s | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

#far = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512, vector_registers = 32,
    fma_per_cycle = 2, l1_bytes = 4096, l2_bytes = 16384, index_bits = 64, heap = true, has_f16 = true,
    memory_bytes_per_cycle = 3>

// Weights of 32 KB come from memory behind a mesh while the first tile is computed: of 5 to 7 rows it has four, the others
// find in L2 what it has read. Of 8 rows and more, the last two tiles share what is left.
// CHECK-LABEL: module attributes
// CHECK: func.func private @k_
// CHECK: %[[WHOLE:.*]] = arith.floordivsi %dim{{.*}}, %c4
// CHECK: %[[MAY:.*]] = arith.floordivsi %[[WHOLE]], %c2
// CHECK: arith.minsi %[[MAY]]
module attributes {onnxc.target = #far} {
  func.func @far(%A: memref<?x64xf32>, %W: memref<8x64x16xf32>, %C: memref<?x128xf32>) {
    onnxc.kernel #onnxc.contraction<rows = 4, columns = 32, vector = 16, outer = panels>
        ins(%A, %W : memref<?x64xf32>, memref<8x64x16xf32>) outs(%C : memref<?x128xf32>) {
    ^bb0(%a: tensor<?x64xf32>, %w: tensor<8x64x16xf32>, %c: tensor<?x128xf32>):
      %e = tensor.empty() : tensor<64x128xf32>
      %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e
          : tensor<8x64x16xf32> -> tensor<64x128xf32>
      %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<?x64xf32>, tensor<64x128xf32>) outs(%c : tensor<?x128xf32>) {
      ^bb1(%x: f32, %y: f32, %s: f32):
        %p = arith.mulf %x, %y : f32
        %t = arith.addf %s, %p : f32
        linalg.yield %t : f32
      } -> tensor<?x128xf32>
      onnxc.yield %sum : tensor<?x128xf32>
    }
    return
  }
}
