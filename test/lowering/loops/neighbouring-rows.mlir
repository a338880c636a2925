// RUN: onnxc-opt %s --expand-kernels --split-input-file | FileCheck %s

// Rows of a tile are those that lie side by side in what is multiplied, where there are enough: channels, whose lines they
// share, rather than times.
#x = affine_map<(c, t, w, v) -> (t, v, c)>
#a = affine_map<(c, t, w, v) -> (v, w)>
#y = affine_map<(c, t, w, v) -> (c, t, w)>

// CHECK-LABEL: func.func private @k_
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c16{{.*}} step %c1
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c12{{.*}} step %c4
// CHECK-COUNT-4: vector.fma
// CHECK-NOT: vector.fma
func.func @graph_convolution(%X: memref<16x5x12xf32>, %A: memref<5x8xf32>, %Y: memref<12x16x8xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 4, columns = 8, vector = 8, outer = pixels>
      ins(%X, %A : memref<16x5x12xf32>, memref<5x8xf32>) outs(%Y : memref<12x16x8xf32>) {
  ^bb0(%x: tensor<16x5x12xf32>, %a: tensor<5x8xf32>, %y: tensor<12x16x8xf32>):
    %zero = arith.constant 0.0 : f32
    %fill = linalg.fill ins(%zero : f32) outs(%y : tensor<12x16x8xf32>) -> tensor<12x16x8xf32>
    %p = linalg.generic {indexing_maps = [#x, #a, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %a : tensor<16x5x12xf32>, tensor<5x8xf32>) outs(%fill : tensor<12x16x8xf32>) {
    ^bb1(%l: f32, %r: f32, %s: f32):
      %m = arith.mulf %l, %r : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
    } -> tensor<12x16x8xf32>
    onnxc.yield %p : tensor<12x16x8xf32>
  }
  return
}

// -----

#a = affine_map<(b, m, n, k) -> (b, k, m)>
#b = affine_map<(b, m, n, k) -> (k, n)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {

// Seven known rows are a tile, rather than a batch which may be one.
// CHECK-LABEL: func.func private @k_
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
// CHECK: return
func.func @batch_of_seven(%A: memref<?x64x7xf32>, %W: memref<64x16xf32>, %C: memref<?x7x16xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 8, columns = 16, vector = 16, outer = pixels>
      ins(%A, %W : memref<?x64x7xf32>, memref<64x16xf32>) outs(%C : memref<?x7x16xf32>) {
  ^bb0(%a: tensor<?x64x7xf32>, %w: tensor<64x16xf32>, %c: tensor<?x7x16xf32>):
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%a, %w : tensor<?x64x7xf32>, tensor<64x16xf32>) outs(%c : tensor<?x7x16xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<?x7x16xf32>
    onnxc.yield %sum : tensor<?x7x16xf32>
  }
  return
}
}
