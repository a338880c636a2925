// RUN: onnxc-opt --expand-kernels --cse --split-input-file %s | FileCheck %s

#a = affine_map<(p, m, n, k) -> (p, m, k)>
#b = affine_map<(p, m, n, k) -> (p, k, n)>
#c = affine_map<(p, m, n, k) -> (p, m, n)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 4096, l2_bytes = 8192, l3_bytes = 65536, index_bits = 64,
    heap = true, has_f16 = true>} {

// A core that sees little ahead of one stream: a single row of unknown number takes both panels of each matrix at once,
// and asks for nothing. Two rows are asked for.
// CHECK-LABEL: func.func private @k_
// CHECK: scf.for
// CHECK: %[[ARE_ALL:.*]] = arith.cmpi eq, %{{.*}}, %c1
// CHECK: scf.if %[[ARE_ALL]] {
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq,
// CHECK: scf.if %[[IS_FIRST]] {
// CHECK-NOT: memref.prefetch
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-NOT: memref.prefetch
// CHECK: } else {
// CHECK: memref.prefetch
// CHECK: return
func.func @matrices(%A: memref<2x?x64xf32>, %W: memref<2x2x64x16xf32>, %C: memref<2x?x32xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 4, columns = 16, vector = 8, outer = panels>
      ins(%A, %W : memref<2x?x64xf32>, memref<2x2x64x16xf32>) outs(%C : memref<2x?x32xf32>) {
  ^bb0(%a: tensor<2x?x64xf32>, %w: tensor<2x2x64x16xf32>, %c: tensor<2x?x32xf32>):
    %e = tensor.empty() : tensor<2x64x32xf32>
    %b = linalg.unpack %w outer_dims_perm = [0, 2, 1] inner_dims_pos = [2] inner_tiles = [16] into %e
        : tensor<2x2x64x16xf32> -> tensor<2x64x32xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<2x?x64xf32>, tensor<2x64x32xf32>) outs(%c : tensor<2x?x32xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<2x?x32xf32>
    onnxc.yield %sum : tensor<2x?x32xf32>
  }
  return
}
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 4096, l2_bytes = 8192, l3_bytes = 65536, index_bits = 64,
    heap = true, has_f16 = true>} {

// Sums that are cut into pieces of 32 steps for more rows: the single row does all 64 in the place of the first piece.
// CHECK-LABEL: func.func private @k_
// CHECK: scf.for {{.*}} step %c32
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK: %[[ARE_ALL:.*]] = arith.cmpi eq, %{{.*}}, %c1
// CHECK: scf.if %[[ARE_ALL]] {
// CHECK: scf.if %[[IS_FIRST]] {
// CHECK: scf.for {{.*}} = %c0 to %c64 step %c1 {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-NOT: memref.prefetch
// CHECK: } else {
// CHECK: return
func.func @pieces(%A: memref<?x64xf32>, %W: memref<4x64x16xf32>, %C: memref<?x64xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 4, columns = 16, vector = 8, outer = panels, group = 2, depth = 32>
      ins(%A, %W : memref<?x64xf32>, memref<4x64x16xf32>) outs(%C : memref<?x64xf32>) {
  ^bb0(%a: tensor<?x64xf32>, %w: tensor<4x64x16xf32>, %c: tensor<?x64xf32>):
    %e = tensor.empty() : tensor<64x64xf32>
    %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e
        : tensor<4x64x16xf32> -> tensor<64x64xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<?x64xf32>, tensor<64x64xf32>) outs(%c : tensor<?x64xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<?x64xf32>
    onnxc.yield %sum : tensor<?x64xf32>
  }
  return
}
}
