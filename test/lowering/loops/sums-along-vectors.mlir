// RUN: onnxc-opt %s --form-kernels | FileCheck %s

#image = affine_map<(h, w, g, i) -> (h, w, g, i)>
#weights = affine_map<(h, w, g, i) -> (g, i)>
#result = affine_map<(h, w, g, i) -> (h, w, g)>
#row = affine_map<(m, n, k) -> (m, k)>
#column = affine_map<(m, n, k) -> (n, k)>
#product = affine_map<(m, n, k) -> (m, n)>
#rows = affine_map<(n, c, l) -> (n, c, l)>
#mean = affine_map<(n, c, l) -> (n)>
#sums = affine_map<(n, c, l) -> (n, c)>
#shared = affine_map<(n, c, l) -> (n, l)>
#number = affine_map<(n, c, l) -> (c)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {

// Two maps, each of channels of its own: lanes along the maps would gather every element of the image, and two of
// eight would be used. Vectors lie along the channels, so there is no tile.
// CHECK-LABEL: @one_map_to_a_group
// CHECK-NOT: onnxc.kernel
// CHECK: return
func.func @one_map_to_a_group(%x: tensor<8x8x2x32xf32>, %w: tensor<2x32xf32>, %e: tensor<8x8x2xf32>) -> tensor<8x8x2xf32> {
  %y = linalg.generic {indexing_maps = [#image, #weights, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x8x2x32xf32>, tensor<2x32xf32>) outs(%e : tensor<8x8x2xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x8x2xf32>
  return %y : tensor<8x8x2xf32>
}

// Four channels do not fill a vector.
// CHECK-LABEL: @one_map_to_a_small_group
// CHECK: onnxc.kernel
func.func @one_map_to_a_small_group(%x: tensor<8x8x2x4xf32>, %w: tensor<2x4xf32>, %e: tensor<8x8x2xf32>) -> tensor<8x8x2xf32> {
  %y = linalg.generic {indexing_maps = [#image, #weights, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x8x2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<8x8x2xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x8x2xf32>
  return %y : tensor<8x8x2xf32>
}

// Rows share the columns that lie apart: they are copied into panels once.
// CHECK-LABEL: @columns_for_many_rows
// CHECK: onnxc.kernel #onnxc.contraction
func.func @columns_for_many_rows(%x: tensor<32x64xf32>, %w: tensor<48x64xf32>, %e: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %y = linalg.generic {indexing_maps = [#row, #column, #product], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<32x64xf32>, tensor<48x64xf32>) outs(%e : tensor<32x48xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<32x48xf32>
  return %y : tensor<32x48xf32>
}

// One row reads the columns once.
// CHECK-LABEL: @columns_for_one_row
// CHECK-NOT: onnxc.kernel
// CHECK: return
func.func @columns_for_one_row(%x: tensor<1x64xf32>, %w: tensor<48x64xf32>, %e: tensor<1x48xf32>) -> tensor<1x48xf32> {
  %y = linalg.generic {indexing_maps = [#row, #column, #product], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x64xf32>, tensor<48x64xf32>) outs(%e : tensor<1x48xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x48xf32>
  return %y : tensor<1x48xf32>
}

// Constant ones lie in panels when the run begins.
// CHECK-LABEL: @constant_columns_for_one_row
// CHECK: onnxc.kernel #onnxc.contraction
func.func @constant_columns_for_one_row(%x: tensor<1x64xf32>, %e: tensor<1x48xf32>) -> tensor<1x48xf32> {
  %w = arith.constant dense<2.0> : tensor<48x64xf32>
  %y = linalg.generic {indexing_maps = [#row, #column, #product], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x64xf32>, tensor<48x64xf32>) outs(%e : tensor<1x48xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x48xf32>
  return %y : tensor<1x48xf32>
}

// Squares of what lies off a mean that several rows have in common: a fold of the rows as they lie, and nothing is packed.
// CHECK-LABEL: @squares_around_a_mean_of_all_rows
// CHECK-NOT: onnxc.kernel
// CHECK: return
func.func @squares_around_a_mean_of_all_rows(%x: tensor<2x64x640xf32>, %mean: tensor<2xf32>, %e: tensor<2x64xf32>) -> tensor<2x64xf32> {
  %y = linalg.generic {indexing_maps = [#rows, #mean, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %mean : tensor<2x64x640xf32>, tensor<2xf32>) outs(%e : tensor<2x64xf32>) {
  ^bb0(%a: f32, %m: f32, %s: f32):
    %d = arith.subf %a, %m : f32
    %p = arith.mulf %d, %d : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x64xf32>
  return %y : tensor<2x64xf32>
}

// Rows that all elements of the result share are multiplied, with a number of each.
// CHECK-LABEL: @rows_times_a_number_of_each_column
// CHECK: onnxc.kernel #onnxc.contraction
func.func @rows_times_a_number_of_each_column(%x: tensor<2x640xf32>, %v: tensor<64xf32>, %e: tensor<2x64xf32>) -> tensor<2x64xf32> {
  %y = linalg.generic {indexing_maps = [#shared, #number, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<2x640xf32>, tensor<64xf32>) outs(%e : tensor<2x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x64xf32>
  return %y : tensor<2x64xf32>
}
}
