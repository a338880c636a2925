// RUN: onnxc-opt --interleave-planes --canonicalize --split-input-file %s | FileCheck %s

#windows = affine_map<(n, h, w, o, c, i, j) -> (n, c, h + i, w + j)>
#filter = affine_map<(n, h, w, o, c, i, j) -> (o, c, i, j)>
#result = affine_map<(n, h, w, o, c, i, j) -> (n, o, h, w)>
#attributes = {indexing_maps = [#windows, #filter, #result],
               iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}

// CHECK: #[[MAP:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d5, d4, d2 + d6)>
// CHECK-LABEL: @padded
// CHECK: %[[ROWS:.*]] = linalg.transpose ins(%arg0 : tensor<1x?x?x16xf32>) {{.*}} permutation = [0, 1, 3, 2]
// CHECK: tensor.pad %[[ROWS]] low[0, 1, 0, 2] high[0, 3, 0, 4]
// CHECK: linalg.generic {indexing_maps = [#[[MAP]]
func.func @padded(%x: tensor<1x?x?x16xf32>, %w: tensor<1x16x5x7xf32>, %planes: tensor<1x16x?x?xf32>,
                  %start: tensor<1x1x?x?xf32>) -> tensor<1x1x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %p = linalg.transpose ins(%x : tensor<1x?x?x16xf32>) outs(%planes : tensor<1x16x?x?xf32>) permutation = [0, 3, 1, 2]
  %q = tensor.pad %p low[0, 0, 1, 2] high[0, 0, 3, 4] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x16x?x?xf32> to tensor<1x16x?x?xf32>
  %y = linalg.generic #attributes ins(%q, %w : tensor<1x16x?x?xf32>, tensor<1x16x5x7xf32>)
      outs(%start : tensor<1x1x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = arith.mulf %a, %b : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<1x1x?x?xf32>
  return %y : tensor<1x1x?x?xf32>
}

// -----

#windows = affine_map<(n, h, w, o, c, i, j) -> (n, c, h + i, w + j)>
#filter = affine_map<(n, h, w, o, c, i, j) -> (o, c, i, j)>
#result = affine_map<(n, h, w, o, c, i, j) -> (n, o, h, w)>
#attributes = {indexing_maps = [#windows, #filter, #result],
               iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}

// Somebody else wants the planes.
// CHECK-LABEL: @planes_are_returned
// CHECK: permutation = [0, 3, 1, 2]
func.func @planes_are_returned(%x: tensor<1x8x8x16xf32>, %w: tensor<1x16x5x7xf32>, %planes: tensor<1x16x8x8xf32>,
                               %start: tensor<1x1x4x2xf32>) -> (tensor<1x1x4x2xf32>, tensor<1x16x8x8xf32>) {
  %p = linalg.transpose ins(%x : tensor<1x8x8x16xf32>) outs(%planes : tensor<1x16x8x8xf32>) permutation = [0, 3, 1, 2]
  %y = linalg.generic #attributes ins(%p, %w : tensor<1x16x8x8xf32>, tensor<1x16x5x7xf32>)
      outs(%start : tensor<1x1x4x2xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = arith.mulf %a, %b : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<1x1x4x2xf32>
  return %y, %p : tensor<1x1x4x2xf32>, tensor<1x16x8x8xf32>
}

// -----

#pixels = affine_map<(n, h, w, o, c) -> (n, c, h, w)>
#filter = affine_map<(n, h, w, o, c) -> (o, c)>
#result = affine_map<(n, h, w, o, c) -> (n, o, h, w)>

// Without windows the pixels of a plane are one long row.
// CHECK-LABEL: @pixels
// CHECK: permutation = [0, 3, 1, 2]
func.func @pixels(%x: tensor<1x8x8x16xf32>, %w: tensor<1x16xf32>, %planes: tensor<1x16x8x8xf32>,
                  %start: tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32> {
  %p = linalg.transpose ins(%x : tensor<1x8x8x16xf32>) outs(%planes : tensor<1x16x8x8xf32>) permutation = [0, 3, 1, 2]
  %y = linalg.generic {indexing_maps = [#pixels, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %w : tensor<1x16x8x8xf32>, tensor<1x16xf32>) outs(%start : tensor<1x1x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = arith.mulf %a, %b : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<1x1x8x8xf32>
  return %y : tensor<1x1x8x8xf32>
}
