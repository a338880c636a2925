// RUN: onnxc-opt %s --fold-dilations | FileCheck %s

#first = affine_map<(n, h, w, m, kh, kw, c) -> (n, c, h + kh * 2, w + kw * 2)>
#image = affine_map<(n, h, w, m, kh, kw, c) -> (n, h + kh * 2, w + kw * 2, c)>
#far = affine_map<(n, h, w, m, kh, kw, c) -> (n, h + kh * 12, w + kw * 12, c)>
#filter = affine_map<(n, h, w, m, kh, kw, c) -> (m, c, kh, kw)>
#result = affine_map<(n, h, w, m, kh, kw, c) -> (n, h, w, m)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {

// Four images of half as many rows and columns, rounded up, as the run knows them.
// CHECK-DAG: #[[PARTS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3 * 2 + d1, d4 * 2 + d2, d5)>
// CHECK-DAG: #[[SQUARE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d6)>
// CHECK-LABEL: @unknown_image
// CHECK: linalg.generic {indexing_maps = [#[[PARTS]],
// CHECK: linalg.generic {indexing_maps = [#[[SQUARE]], {{.*}} outs({{.*}} : tensor<4x?x?x64xf32>)
// CHECK: tensor.extract_slice {{.*}} to tensor<1x?x?x64xf32>
func.func @unknown_image(%x: tensor<1x?x?x64xf32>, %h: index, %w: index) -> tensor<1x?x?x64xf32> {
  %filter = arith.constant dense_resource<f> : tensor<64x64x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 2, 2, 0] high[0, 2, 2, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x?x?x64xf32> to tensor<1x?x?x64xf32>
  %e = tensor.empty(%h, %w) : tensor<1x?x?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x?x?x64xf32>) -> tensor<1x?x?x64xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "parallel",
      "parallel", "reduction", "reduction", "reduction"]}
      ins(%padded, %filter : tensor<1x?x?x64xf32>, tensor<64x64x3x3xf32>) outs(%start : tensor<1x?x?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x?x?x64xf32>
  return %y : tensor<1x?x?x64xf32>
}

// Channels that come first are moved behind the pixels before anything is put around them.
// CHECK-LABEL: @channels_first
// CHECK: %[[NHWC:.*]] = linalg.transpose ins(%arg0 : {{.*}} permutation = [0, 2, 3, 1]
// CHECK: tensor.pad %[[NHWC]] low[0, 2, 2, 0]
// CHECK: linalg.generic {indexing_maps = [#[[PARTS]],
// CHECK: linalg.generic {indexing_maps = [#[[SQUARE]], {{.*}} outs({{.*}} : tensor<4x32x32x64xf32>)
func.func @channels_first(%x: tensor<1x64x64x64xf32>) -> tensor<1x64x64x64xf32> {
  %filter = arith.constant dense_resource<f> : tensor<64x64x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 0, 2, 2] high[0, 0, 2, 2] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x64x64x64xf32> to tensor<1x64x68x68xf32>
  %e = tensor.empty() : tensor<1x64x64x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x64x64xf32>) -> tensor<1x64x64x64xf32>
  %y = linalg.generic {indexing_maps = [#first, #filter, #result], iterator_types = ["parallel", "parallel", "parallel",
      "parallel", "reduction", "reduction", "reduction"]}
      ins(%padded, %filter : tensor<1x64x68x68xf32>, tensor<64x64x3x3xf32>) outs(%start : tensor<1x64x64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x64x64x64xf32>
  return %y : tensor<1x64x64x64xf32>
}

// Of taps so far apart the parts of most images would be too small.
// CHECK-LABEL: @far_apart
// CHECK-NOT: tensor<144x
// CHECK: return
func.func @far_apart(%x: tensor<1x?x?x64xf32>, %h: index, %w: index) -> tensor<1x?x?x64xf32> {
  %filter = arith.constant dense_resource<f> : tensor<64x64x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%h, %w) : tensor<1x?x?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x?x?x64xf32>) -> tensor<1x?x?x64xf32>
  %y = linalg.generic {indexing_maps = [#far, #filter, #result], iterator_types = ["parallel", "parallel", "parallel",
      "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %filter : tensor<1x?x?x64xf32>, tensor<64x64x3x3xf32>) outs(%start : tensor<1x?x?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x?x?x64xf32>
  return %y : tensor<1x?x?x64xf32>
}
}
