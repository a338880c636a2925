// RUN: onnxc-opt --turn-narrow-convolutions --split-input-file %s | FileCheck %s

#image = affine_map<(n, h, w, m, r, s, c) -> (n, h + r, w + s, c)>
#strided = affine_map<(n, h, w, m, r, s, c) -> (n, h * 2 + r, w * 2 + s, c)>
#filter = affine_map<(n, h, w, m, r, s, c) -> (m, c, r, s)>
#result = affine_map<(n, h, w, m, r, s, c) -> (n, h, w, m)>
#kinds = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {

// CHECK: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d6, d1 + d4, d2 + d5)>
// CHECK: #[[RESULT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d1, d2)>
// CHECK-LABEL: @three_channels
// CHECK: %[[X:.*]] = linalg.transpose ins(%arg0 {{.*}} permutation = [0, 3, 1, 2]
// CHECK: %[[Y:.*]] = linalg.generic {indexing_maps = [#[[IMAGE]], #{{.*}}, #[[RESULT]]]{{.*}} ins(%[[X]], %arg1 {{.*}} outs(%{{.*}} : tensor<?x3x64x64xf32>)
// CHECK: linalg.transpose ins(%[[Y]] {{.*}} permutation = [0, 2, 3, 1]
func.func @three_channels(%x: tensor<?x66x66x32xf32>, %w: tensor<3x32x3x3xf32>, %e: tensor<?x64x64x3xf32>) -> tensor<?x64x64x3xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64x64x3xf32>) -> tensor<?x64x64x3xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = #kinds}
       ins(%x, %w : tensor<?x66x66x32xf32>, tensor<3x32x3x3xf32>) outs(%start : tensor<?x64x64x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x64x64x3xf32>
  return %y : tensor<?x64x64x3xf32>
}

// Nine of sixteen lanes are used as it is.
// CHECK-LABEL: @nine_channels
// CHECK-NOT: linalg.transpose
func.func @nine_channels(%x: tensor<1x66x66x32xf32>, %w: tensor<9x32x3x3xf32>, %e: tensor<1x64x64x9xf32>) -> tensor<1x64x64x9xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x64x9xf32>) -> tensor<1x64x64x9xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = #kinds}
       ins(%x, %w : tensor<1x66x66x32xf32>, tensor<9x32x3x3xf32>) outs(%start : tensor<1x64x64x9xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x64x64x9xf32>
  return %y : tensor<1x64x64x9xf32>
}

// Vectors of neighbouring windows would not lie together.
// CHECK-LABEL: @stride
// CHECK-NOT: linalg.transpose
func.func @stride(%x: tensor<1x65x65x32xf32>, %w: tensor<3x32x3x3xf32>, %e: tensor<1x32x32x3xf32>) -> tensor<1x32x32x3xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x32x3xf32>) -> tensor<1x32x32x3xf32>
  %y = linalg.generic {indexing_maps = [#strided, #filter, #result], iterator_types = #kinds}
       ins(%x, %w : tensor<1x65x65x32xf32>, tensor<3x32x3x3xf32>) outs(%start : tensor<1x32x32x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x32x32x3xf32>
  return %y : tensor<1x32x32x3xf32>
}

// Four pixels of a row would leave as many lanes empty.
// CHECK-LABEL: @short_rows
// CHECK-NOT: linalg.transpose
func.func @short_rows(%x: tensor<1x66x6x32xf32>, %w: tensor<3x32x3x3xf32>, %e: tensor<1x64x4x3xf32>) -> tensor<1x64x4x3xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x4x3xf32>) -> tensor<1x64x4x3xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = #kinds}
       ins(%x, %w : tensor<1x66x6x32xf32>, tensor<3x32x3x3xf32>) outs(%start : tensor<1x64x4x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x64x4x3xf32>
  return %y : tensor<1x64x4x3xf32>
}
}
