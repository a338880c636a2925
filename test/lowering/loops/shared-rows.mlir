// RUN: onnxc-opt --expand-kernels --split-input-file %s | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256, vector_registers = 16,
    fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true>

// Of 64 rows, what they read and write is far more than the weights: tasks share them.
// CHECK-LABEL: module attributes
// CHECK: func.func private @k_
// CHECK: } {{{.*}}onnxc.inner, {{.*}}onnxc.shared_first
module attributes {onnxc.target = #target} {
  func.func @many_rows(%A: memref<64x32xf32>, %W: memref<2x32x8xf32>, %C: memref<64x16xf32>) {
    onnxc.kernel #onnxc.contraction<rows = 4, columns = 8, vector = 8, outer = panels>
        ins(%A, %W : memref<64x32xf32>, memref<2x32x8xf32>) outs(%C : memref<64x16xf32>) {
    ^bb0(%a: tensor<64x32xf32>, %w: tensor<2x32x8xf32>, %c: tensor<64x16xf32>):
      %e = tensor.empty() : tensor<32x16xf32>
      %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [8] into %e
          : tensor<2x32x8xf32> -> tensor<32x16xf32>
      %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x32xf32>, tensor<32x16xf32>) outs(%c : tensor<64x16xf32>) {
      ^bb1(%x: f32, %y: f32, %s: f32):
        %p = arith.mulf %x, %y : f32
        %t = arith.addf %s, %p : f32
        linalg.yield %t : f32
      } -> tensor<64x16xf32>
      onnxc.yield %sum : tensor<64x16xf32>
    }
    return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256, vector_registers = 16,
    fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true>

// Of 16, the weights would be read by each task.
// CHECK-LABEL: module attributes
// CHECK: func.func private @k_
// CHECK-NOT: onnxc.inner
module attributes {onnxc.target = #target} {
  func.func @few_rows(%A: memref<16x32xf32>, %W: memref<2x32x8xf32>, %C: memref<16x16xf32>) {
    onnxc.kernel #onnxc.contraction<rows = 4, columns = 8, vector = 8, outer = panels>
        ins(%A, %W : memref<16x32xf32>, memref<2x32x8xf32>) outs(%C : memref<16x16xf32>) {
    ^bb0(%a: tensor<16x32xf32>, %w: tensor<2x32x8xf32>, %c: tensor<16x16xf32>):
      %e = tensor.empty() : tensor<32x16xf32>
      %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [8] into %e
          : tensor<2x32x8xf32> -> tensor<32x16xf32>
      %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<16x32xf32>, tensor<32x16xf32>) outs(%c : tensor<16x16xf32>) {
      ^bb1(%x: f32, %y: f32, %s: f32):
        %p = arith.mulf %x, %y : f32
        %t = arith.addf %s, %p : f32
        linalg.yield %t : f32
      } -> tensor<16x16xf32>
      onnxc.yield %sum : tensor<16x16xf32>
    }
    return
  }
}
