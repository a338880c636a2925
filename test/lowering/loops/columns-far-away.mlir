// Five rows by columns of 3 MiB that lie apart: a copy into panels pays where L3 gives it back, not where a core gets
// little from behind its L2 of 1 MiB, but there, too, for twelve rows.
// RUN: sed 's/ROWS/5/g; s/RATE/8/' %s | onnxc-opt --form-kernels | FileCheck %s --check-prefix=COPY
// RUN: sed 's/ROWS/5/g; s/RATE/3/' %s | onnxc-opt --form-kernels | FileCheck %s --check-prefix=NONE
// RUN: sed 's/ROWS/12/g; s/RATE/3/' %s | onnxc-opt --form-kernels | FileCheck %s --check-prefix=COPY

#row = affine_map<(m, n, k) -> (m, k)>
#column = affine_map<(m, n, k) -> (n, k)>
#product = affine_map<(m, n, k) -> (m, n)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true, memory_bytes_per_cycle = RATE>} {

// COPY: onnxc.kernel #onnxc.squares<8>
// NONE-NOT: #onnxc.squares
func.func @queries(%x: tensor<ROWSx768xf32>, %w: tensor<1024x768xf32>, %e: tensor<ROWSx1024xf32>) -> tensor<ROWSx1024xf32> {
  %y = linalg.generic {indexing_maps = [#row, #column, #product], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<ROWSx768xf32>, tensor<1024x768xf32>) outs(%e : tensor<ROWSx1024xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<ROWSx1024xf32>
  return %y : tensor<ROWSx1024xf32>
}
}
