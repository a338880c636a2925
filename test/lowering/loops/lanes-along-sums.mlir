// RUN: onnxc-opt %s --form-kernels | FileCheck %s

#target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256, vector_registers = 16,
    fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true, has_f16 = true>
#image = affine_map<(h, w, o, kh, kw, c) -> (h + kh, w + kw, c)>
#filter = affine_map<(h, w, o, kh, kw, c) -> (o, kh, kw, c)>
#result = affine_map<(h, w, o, kh, kw, c) -> (h, w, o)>

module attributes {onnxc.target = #target} {

// Three columns of a vector of eight, but whole vectors of channels: nine vectors of partial sums.
// CHECK-LABEL: @three_of_eight
// CHECK: onnxc.kernel #onnxc.contraction<rows = 3, columns = 8, vector = 8, outer = pixels, partial = 3>
func.func @three_of_eight(%x: tensor<10x10x16xf32>) -> tensor<8x8x3xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense_resource<weights> : tensor<3x3x3x16xf32>
  %e = tensor.empty() : tensor<8x8x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8x3xf32>) -> tensor<8x8x3xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<10x10x16xf32>, tensor<3x3x3x16xf32>) outs(%f : tensor<8x8x3xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x8x3xf32>
  return %y : tensor<8x8x3xf32>
}

// The last step of twelve channels is half a vector.
// CHECK-LABEL: @twelve_channels
// CHECK: onnxc.kernel #onnxc.contraction<rows = 3, columns = 8, vector = 8, outer = pixels, partial = 3>
func.func @twelve_channels(%x: tensor<10x10x12xf32>) -> tensor<8x8x3xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense_resource<fewer> : tensor<3x3x3x12xf32>
  %e = tensor.empty() : tensor<8x8x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8x3xf32>) -> tensor<8x8x3xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<10x10x12xf32>, tensor<3x3x3x12xf32>) outs(%f : tensor<8x8x3xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x8x3xf32>
  return %y : tensor<8x8x3xf32>
}

// Six channels fill no vector.
// CHECK-LABEL: @six_channels
// CHECK-NOT: partial
func.func @six_channels(%x: tensor<10x10x6xf32>) -> tensor<8x8x3xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense_resource<least> : tensor<3x3x3x6xf32>
  %e = tensor.empty() : tensor<8x8x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8x3xf32>) -> tensor<8x8x3xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<10x10x6xf32>, tensor<3x3x3x6xf32>) outs(%f : tensor<8x8x3xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x8x3xf32>
  return %y : tensor<8x8x3xf32>
}

}
