// RUN: onnxc-opt %s --form-kernels --split-input-file | FileCheck %s

// A panel of weights that does not stay in L1 is narrow where a line takes L1 two cycles.
#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true, l2_bytes_per_cycle = 32>} {
// CHECK-LABEL: @half_lines
// CHECK: #onnxc.contraction<rows = 6, columns = 16,
func.func @half_lines(%x: tensor<192x768xf32>, %w: tensor<768x3072xf32>) -> tensor<192x3072xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<192x3072xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<192x3072xf32>) -> tensor<192x3072xf32>
  %sum = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<192x768xf32>, tensor<768x3072xf32>) outs(%start : tensor<192x3072xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<192x3072xf32>
  return %sum : tensor<192x3072xf32>
}
}

// -----

#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {
// CHECK-LABEL: @whole_lines
// CHECK: #onnxc.contraction<rows = 4, columns = 24,
func.func @whole_lines(%x: tensor<192x768xf32>, %w: tensor<768x3072xf32>) -> tensor<192x3072xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<192x3072xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<192x3072xf32>) -> tensor<192x3072xf32>
  %sum = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<192x768xf32>, tensor<768x3072xf32>) outs(%start : tensor<192x3072xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<192x3072xf32>
  return %sum : tensor<192x3072xf32>
}
}
