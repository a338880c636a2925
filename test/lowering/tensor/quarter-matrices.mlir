// RUN: onnxc-opt %s --split-input-file --quarter-matrices | FileCheck %s

#left = affine_map<(b, s, n, k) -> (b, s, k)>
#matrix = affine_map<(b, s, n, k) -> (k, n)>
#result = affine_map<(b, s, n, k) -> (b, s, n)>

// Many rows go through a large matrix in blocks of at most 64 pairs.
// CHECK-LABEL: @many_rows
// CHECK: %[[QUARTERS:.*]] = arith.constant #onnxc.quartered_matrix<sparse<{{.*}}> : tensor<256x512xf32>, summed = 0, columns = 1,
// CHECK-SAME: tensor<768xf32>, <pairs = 50, product = <rows = {{[0-9]+}}, columns = [[WIDTH:[0-9]+]],
// CHECK: onnxc.quartered_matrix %[[QUARTERS]], %{{.*}} : tensor<7x{{[0-9]+}}x128x[[WIDTH]]xf32>, tensor<768xf32> -> tensor<256x512xf32>
// CHECK-LABEL: @any_number_of_rows
// CHECK: onnxc.quartered_matrix {{.*}}<pairs = 16,
// CHECK-LABEL: @few_columns
// CHECK-NOT: onnxc.quartered_matrix
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {
func.func @many_rows(%x: tensor<1x197x256xf32>, %y: tensor<1x197x512xf32>) -> tensor<1x197x512xf32> {
  %w = arith.constant sparse<[[0, 0]], [0.5]> : tensor<256x512xf32>
  %sum = linalg.generic {indexing_maps = [#left, #matrix, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x197x256xf32>, tensor<256x512xf32>) outs(%y : tensor<1x197x512xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x197x512xf32>
  return %sum : tensor<1x197x512xf32>
}

func.func @any_number_of_rows(%x: tensor<1x?x512xf32>, %y: tensor<1x?x512xf32>) -> tensor<1x?x512xf32> {
  %w = arith.constant sparse<[[0, 0]], [0.5]> : tensor<512x512xf32>
  %sum = linalg.generic {indexing_maps = [#left, #matrix, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x?x512xf32>, tensor<512x512xf32>) outs(%y : tensor<1x?x512xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x?x512xf32>
  return %sum : tensor<1x?x512xf32>
}

// The sums would take longer than what they save.
func.func @few_columns(%x: tensor<1x197x256xf32>, %y: tensor<1x197x32xf32>) -> tensor<1x197x32xf32> {
  %w = arith.constant sparse<[[0, 0]], [0.5]> : tensor<256x32xf32>
  %sum = linalg.generic {indexing_maps = [#left, #matrix, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x197x256xf32>, tensor<256x32xf32>) outs(%y : tensor<1x197x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x197x32xf32>
  return %sum : tensor<1x197x32xf32>
}
}

// -----

#left = affine_map<(m, n, k) -> (m, k)>
#matrix = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>

// Behind a mesh, few rows of an unknown number read lines.
// CHECK-LABEL: @memory_is_far
// CHECK-NOT: onnxc.quartered_matrix
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true, memory_bytes_per_cycle = 3>} {
func.func @memory_is_far(%x: tensor<?x512xf32>, %y: tensor<?x512xf32>) -> tensor<?x512xf32> {
  %w = arith.constant sparse<[[0, 0]], [0.5]> : tensor<512x512xf32>
  %sum = linalg.generic {indexing_maps = [#left, #matrix, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x512xf32>, tensor<512x512xf32>) outs(%y : tensor<?x512xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x512xf32>
  return %sum : tensor<?x512xf32>
}
}
