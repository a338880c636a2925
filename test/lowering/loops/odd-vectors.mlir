// RUN: onnxc-opt %s --form-kernels | FileCheck %s

// Tiles of one vector load more than a core does beside their multiply-adds: where columns are an odd number of
// vectors, most are in tiles of two or three, and what is left in a panel with fewer.
#row = affine_map<(m, n, k) -> (m, k)>
#column = affine_map<(m, n, k) -> (k, n)>
#product = affine_map<(m, n, k) -> (m, n)>
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true, l2_bytes_per_cycle = 32>} {

// CHECK-LABEL: @thirteen_vectors
// CHECK: onnxc.kernel #onnxc.contraction<rows = 6, columns = 16, vector = 8,
func.func @thirteen_vectors(%x: tensor<200x512xf32>, %w: tensor<512x100xf32>, %e: tensor<200x100xf32>) -> tensor<200x100xf32> {
  %y = linalg.generic {indexing_maps = [#row, #column, #product], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<200x512xf32>, tensor<512x100xf32>) outs(%e : tensor<200x100xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<200x100xf32>
  return %y : tensor<200x100xf32>
}

// CHECK-LABEL: @seven_vectors
// CHECK: onnxc.kernel #onnxc.contraction<rows = 6, columns = 16, vector = 8,
func.func @seven_vectors(%x: tensor<200x512xf32>, %w: tensor<512x50xf32>, %e: tensor<200x50xf32>) -> tensor<200x50xf32> {
  %y = linalg.generic {indexing_maps = [#row, #column, #product], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<200x512xf32>, tensor<512x50xf32>) outs(%e : tensor<200x50xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<200x50xf32>
  return %y : tensor<200x50xf32>
}

// CHECK-LABEL: @five_vectors
// CHECK: onnxc.kernel #onnxc.contraction<rows = 4, columns = 24, vector = 8,
func.func @five_vectors(%x: tensor<200x512xf32>, %w: tensor<512x36xf32>, %e: tensor<200x36xf32>) -> tensor<200x36xf32> {
  %y = linalg.generic {indexing_maps = [#row, #column, #product], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<200x512xf32>, tensor<512x36xf32>) outs(%e : tensor<200x36xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<200x36xf32>
  return %y : tensor<200x36xf32>
}

// CHECK-LABEL: @eleven_vectors
// CHECK: onnxc.kernel #onnxc.contraction<rows = 4, columns = 24, vector = 8,
func.func @eleven_vectors(%x: tensor<200x512xf32>, %w: tensor<512x84xf32>, %e: tensor<200x84xf32>) -> tensor<200x84xf32> {
  %y = linalg.generic {indexing_maps = [#row, #column, #product], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<200x512xf32>, tensor<512x84xf32>) outs(%e : tensor<200x84xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<200x84xf32>
  return %y : tensor<200x84xf32>
}
}
