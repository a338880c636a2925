// RUN: onnxc-opt %s --form-kernels | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {

// How weights are stored may be said before the loop that a kernel is in; the kernel says it first.
// CHECK-LABEL: @in_a_loop
// CHECK: scf.for
// CHECK: onnxc.kernel {{.*}} ins({{.*}}tensor<2x16x8xf32>
// CHECK-NEXT: ^bb0
// CHECK: linalg.unpack
// CHECK: linalg.fill
// CHECK: linalg.generic
// CHECK: onnxc.yield
func.func @in_a_loop(%x: tensor<8x16xf32>, %packed: tensor<2x16x8xf32>) -> tensor<8x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %unpacked = tensor.empty() : tensor<16x16xf32>
  %w = linalg.unpack %packed outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [8] into %unpacked
      : tensor<2x16x8xf32> -> tensor<16x16xf32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> (tensor<8x16xf32>) {
    %empty = tensor.empty() : tensor<8x16xf32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x16xf32>) -> tensor<8x16xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                          affine_map<(m, n, k) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%init : tensor<8x16xf32>) {
    ^bb0(%p: f32, %q: f32, %s: f32):
      %product = arith.mulf %p, %q : f32
      %sum = arith.addf %s, %product : f32
      linalg.yield %sum : f32
    } -> tensor<8x16xf32>
    scf.yield %y : tensor<8x16xf32>
  }
  return %r : tensor<8x16xf32>
}
}
