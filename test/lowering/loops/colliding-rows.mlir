// RUN: onnxc-opt %s --form-kernels --split-input-file | FileCheck %s

#target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256, vector_registers = 16,
    fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true, has_f16 = true>
#image = affine_map<(p, o, c) -> (c, p)>
#filter = affine_map<(p, o, c) -> (c, o)>
#result = affine_map<(p, o, c) -> (p, o)>

module attributes {onnxc.target = #target} {

// 128 rows of 16 KiB share four sets of L2: turned once, a sum reads one line after another.
// CHECK-DAG: #[[ALONG:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: @rows_collide
// CHECK: linalg.transpose {{.*}} outs(%{{.*}} : tensor<4096x128xf32>) permutation = [1, 0]
// CHECK: linalg.generic {indexing_maps = [#[[ALONG]],
func.func @rows_collide(%x: tensor<128x4096xf32>, %w: tensor<128x64xf32>) -> tensor<4096x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<128x4096xf32>, tensor<128x64xf32>) outs(%f : tensor<4096x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4096x64xf32>
  return %y : tensor<4096x64xf32>
}

// Rows of an odd number of lines do not.
// CHECK-LABEL: @rows_apart
// CHECK-NOT: linalg.transpose
func.func @rows_apart(%x: tensor<128x3136xf32>, %w: tensor<128x64xf32>) -> tensor<3136x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3136x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3136x64xf32>) -> tensor<3136x64xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<128x3136xf32>, tensor<128x64xf32>) outs(%f : tensor<3136x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<3136x64xf32>
  return %y : tensor<3136x64xf32>
}

}

// -----

// Heads that lie innermost go to the front of what is read by vectors.
#rows = affine_map<(h, i, j, d) -> (i, d, h)>
#columns = affine_map<(h, i, j, d) -> (d, j, h)>
#products = affine_map<(h, i, j, d) -> (h, i, j)>
// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3, d0)>
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-LABEL: @heads_innermost
// CHECK: linalg.transpose {{.*}} outs(%{{.*}} : tensor<4x32x48xf32>) permutation = [2, 0, 1]
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {indexing_maps = [#[[READ]], #[[TURNED]],
func.func @heads_innermost(%x: tensor<64x32x4xf32>, %w: tensor<32x48x4xf32>) -> tensor<4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x64x48xf32>) -> tensor<4x64x48xf32>
  %y = linalg.generic {indexing_maps = [#rows, #columns, #products],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x32x4xf32>, tensor<32x48x4xf32>) outs(%f : tensor<4x64x48xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x64x48xf32>
  return %y : tensor<4x64x48xf32>
}
