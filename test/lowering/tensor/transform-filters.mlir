// RUN: onnxc-opt %s --split-input-file --transform-filters | FileCheck %s

#image = affine_map<(n, h, w, m, kh, kw, c) -> (n, h + kh, w + kw, c)>
#filter = affine_map<(n, h, w, m, kh, kw, c) -> (m, c, kh, kw)>
#result = affine_map<(n, h, w, m, kh, kw, c) -> (n, h, w, m)>

// Behind a mesh, weights of all points are read once where all tiles fit L2.
// CHECK-LABEL: @memory_is_far
// CHECK: onnxc.winograd_filter {{.*}}<tile = 2, tile_rows = 4,
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 172032, index_bits = 64, heap = true,
    has_f16 = true, memory_bytes_per_cycle = 3>} {
func.func @memory_is_far(%x: tensor<1x10x10x64xf32>, %y: tensor<1x8x8x64xf32>) -> tensor<1x8x8x64xf32> {
  %filter = arith.constant sparse<[[0, 0, 0, 0]], [0.5]> : tensor<64x64x3x3xf32>
  %sum = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel",
      "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %filter : tensor<1x10x10x64xf32>, tensor<64x64x3x3xf32>) outs(%y : tensor<1x8x8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x8x8x64xf32>
  return %sum : tensor<1x8x8x64xf32>
}
}

// -----

#image = affine_map<(n, h, w, m, kh, kw, c) -> (n, h + kh, w + kw, c)>
#filter = affine_map<(n, h, w, m, kh, kw, c) -> (m, c, kh, kw)>
#result = affine_map<(n, h, w, m, kh, kw, c) -> (n, h, w, m)>

// Else what lies between the steps stays in half of it.
// CHECK-LABEL: @memory_is_near
// CHECK: onnxc.winograd_filter {{.*}}<tile = 2, tile_rows = 2,
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 172032, index_bits = 64, heap = true,
    has_f16 = true>} {
func.func @memory_is_near(%x: tensor<1x10x10x64xf32>, %y: tensor<1x8x8x64xf32>) -> tensor<1x8x8x64xf32> {
  %filter = arith.constant sparse<[[0, 0, 0, 0]], [0.5]> : tensor<64x64x3x3xf32>
  %sum = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel",
      "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %filter : tensor<1x10x10x64xf32>, tensor<64x64x3x3xf32>) outs(%y : tensor<1x8x8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x8x8x64xf32>
  return %sum : tensor<1x8x8x64xf32>
}
}

// -----

#image = affine_map<(n, w, m, k, c) -> (n, w * 2 + k, c)>
#filter = affine_map<(n, w, m, k, c) -> (m, c, k)>
#result = affine_map<(n, w, m, k, c) -> (n, w, m)>

// Four taps of stride 2 are two groups of two.
// CHECK-LABEL: @line
// CHECK: onnxc.winograd_filter {{.*}}<tile = 5, tile_rows = {{[0-9]+}}, row_stride = 2, product =
// CHECK-SAME: tensor<6x{{[0-9]+}}x128x{{[0-9]+}}xf32> -> tensor<64x64x4xf32>
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {
func.func @line(%x: tensor<1x202x64xf32>, %y: tensor<1x100x64xf32>) -> tensor<1x100x64xf32> {
  %filter = arith.constant sparse<[[0, 0, 0]], [0.5]> : tensor<64x64x4xf32>
  %sum = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "parallel",
      "reduction", "reduction"]}
      ins(%x, %filter : tensor<1x202x64xf32>, tensor<64x64x4xf32>) outs(%y : tensor<1x100x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x100x64xf32>
  return %sum : tensor<1x100x64xf32>
}
}

// -----

#image = affine_map<(n, h, w, m, kh, kw, c) -> (n, h + kh * 6, w + kw * 6, c)>
#filter = affine_map<(n, h, w, m, kh, kw, c) -> (m, c, kh, kw)>
#result = affine_map<(n, h, w, m, kh, kw, c) -> (n, h, w, m)>

// Of windows that are mostly padding a direct convolution leaves out more.
// CHECK-LABEL: @mostly_padding
// CHECK-NOT: onnxc.winograd_filter
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {
func.func @mostly_padding(%x: tensor<1x12x12x64xf32>, %y: tensor<1x12x12x64xf32>) -> tensor<1x12x12x64xf32> {
  %filter = arith.constant sparse<[[0, 0, 0, 0]], [0.5]> : tensor<64x64x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 6, 6, 0] high[0, 6, 6, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<1x12x12x64xf32> to tensor<1x24x24x64xf32>
  %sum = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel",
      "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%padded, %filter : tensor<1x24x24x64xf32>, tensor<64x64x3x3xf32>) outs(%y : tensor<1x12x12x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x12x12x64xf32>
  return %sum : tensor<1x12x12x64xf32>
}
}
