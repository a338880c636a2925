// RUN: onnxc-opt %s --split-input-file --form-kernels | FileCheck %s

// A core that starts one multiply-add of a whole vector in a cycle, or two of half a vector.
#row = affine_map<(m, n, k) -> (m, k)>
#column = affine_map<(m, n, k) -> (k, n)>
#product = affine_map<(m, n, k) -> (m, n)>
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 1, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {

// 24 columns are three halves.
// CHECK-LABEL: @three_halves
// CHECK: onnxc.kernel #onnxc.contraction<rows = {{[0-9]+}}, columns = 24, vector = 8,
func.func @three_halves(%x: tensor<256x64xf32>, %w: tensor<64x24xf32>, %e: tensor<256x24xf32>) -> tensor<256x24xf32> {
  %y = linalg.generic {indexing_maps = [#row, #column, #product], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<256x64xf32>, tensor<64x24xf32>) outs(%e : tensor<256x24xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x24xf32>
  return %y : tensor<256x24xf32>
}

// 32 columns are two whole ones.
// CHECK-LABEL: @whole_vectors
// CHECK: onnxc.kernel #onnxc.contraction<rows = {{[0-9]+}}, columns = 32, vector = 16,
func.func @whole_vectors(%x: tensor<256x64xf32>, %w: tensor<64x32xf32>, %e: tensor<256x32xf32>) -> tensor<256x32xf32> {
  %y = linalg.generic {indexing_maps = [#row, #column, #product], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<256x64xf32>, tensor<64x32xf32>) outs(%e : tensor<256x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x32xf32>
  return %y : tensor<256x32xf32>
}

// Taps slide along a row: of whole vectors nearly all would lie in two lines.
// CHECK-LABEL: @window_along_rows
// CHECK: onnxc.kernel #onnxc.contraction<rows = 1, columns = {{[0-9]+}}, vector = 8,
func.func @window_along_rows(%x: tensor<8x64x66xf32>, %w: tensor<8x3xf32>, %e: tensor<8x64x64xf32>) -> tensor<8x64x64xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(c, h, w, k) -> (c, h, w + k)>, affine_map<(c, h, w, k) -> (c, k)>,
                                        affine_map<(c, h, w, k) -> (c, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x64x66xf32>, tensor<8x3xf32>) outs(%e : tensor<8x64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x64x64xf32>
  return %y : tensor<8x64x64xf32>
}

// A row that waits for weights, which L2 does not hold, asks for them in narrow steps.
// CHECK-LABEL: @row_of_far_weights
// CHECK: onnxc.kernel #onnxc.contraction<rows = 1, columns = 64, vector = 8,
func.func @row_of_far_weights(%x: tensor<1x1024xf32>, %e: tensor<1x1024xf32>) -> tensor<1x1024xf32> {
  %w = arith.constant dense<2.0> : tensor<1024x1024xf32>
  %y = linalg.generic {indexing_maps = [#row, #column, #product], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x1024xf32>, tensor<1024x1024xf32>) outs(%e : tensor<1x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x1024xf32>
  return %y : tensor<1x1024xf32>
}
}

// -----

// Two multiply-adds of whole vectors in a cycle take 24 columns in fewer cycles.
#row = affine_map<(m, n, k) -> (m, k)>
#column = affine_map<(m, n, k) -> (k, n)>
#product = affine_map<(m, n, k) -> (m, n)>
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {
// CHECK-LABEL: @two_a_cycle
// CHECK: onnxc.kernel #onnxc.contraction<rows = {{[0-9]+}}, columns = 32, vector = 16,
func.func @two_a_cycle(%x: tensor<256x64xf32>, %w: tensor<64x24xf32>, %e: tensor<256x24xf32>) -> tensor<256x24xf32> {
  %y = linalg.generic {indexing_maps = [#row, #column, #product], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<256x64xf32>, tensor<64x24xf32>) outs(%e : tensor<256x24xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x24xf32>
  return %y : tensor<256x24xf32>
}
}
