// RUN: onnxc-opt %s --split-batches --split-input-file | FileCheck %s

#left = affine_map<(b, m, n, k) -> (b, m, k)>
#right = affine_map<(b, m, n, k) -> (b, k, n)>
#out = affine_map<(b, m, n, k) -> (b, m, n)>
#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m, 0)>
#rows = affine_map<(b, m, n) -> (b, m)>

// Both products, the scale between them and the turned keys see batch and heads; a value per row is read at index zero.
// CHECK-LABEL: @attention
// CHECK-SAME: %[[Q:.*]]: tensor<?x8x32x64xf32>, %[[K:.*]]: tensor<?x8x32x64xf32>, %[[V:.*]]: tensor<?x8x32x64xf32>
// CHECK-NOT: tensor.collapse_shape
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[K]] : {{.*}}) {{.*}} permutation = [0, 1, 3, 2]
// CHECK: linalg.generic {{.*}} ins(%[[Q]], %[[T]] : {{.*}}) outs({{.*}} : tensor<?x8x32x32xf32>)
// CHECK: linalg.generic {{.*}} "reduction"]} ins({{.*}} : tensor<?x8x32x32xf32>) outs({{.*}} : tensor<?x8x32xf32>)
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<?x8x32x32xf32>)
// CHECK: %[[O:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[V]] : {{.*}}) outs({{.*}} : tensor<?x8x32x64xf32>)
// CHECK: return %[[O]]
func.func @attention(%Q: tensor<?x8x32x64xf32>, %K: tensor<?x8x32x64xf32>, %V: tensor<?x8x32x64xf32>, %n: index, %m: index)
    -> tensor<?x8x32x64xf32> {
  %zero = arith.constant 0.0 : f32
  %q = tensor.collapse_shape %Q [[0, 1], [2], [3]] : tensor<?x8x32x64xf32> into tensor<?x32x64xf32>
  %k = tensor.collapse_shape %K [[0, 1], [2], [3]] : tensor<?x8x32x64xf32> into tensor<?x32x64xf32>
  %v = tensor.collapse_shape %V [[0, 1], [2], [3]] : tensor<?x8x32x64xf32> into tensor<?x32x64xf32>
  %e0 = tensor.empty(%n) : tensor<?x64x32xf32>
  %t = linalg.transpose ins(%k : tensor<?x32x64xf32>) outs(%e0 : tensor<?x64x32xf32>) permutation = [0, 2, 1]
  %e1 = tensor.empty(%n) : tensor<?x32x32xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x32x32xf32>) -> tensor<?x32x32xf32>
  %s = linalg.generic {indexing_maps = [#left, #right, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %t : tensor<?x32x64xf32>, tensor<?x64x32xf32>) outs(%f1 : tensor<?x32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %u = arith.addf %c, %p : f32
    linalg.yield %u : f32
  } -> tensor<?x32x32xf32>
  %e2 = tensor.empty(%n) : tensor<?x32xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %max = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<?x32x32xf32>) outs(%f2 : tensor<?x32xf32>) {
  ^bb0(%a: f32, %c: f32):
    %u = arith.maximumf %c, %a : f32
    linalg.yield %u : f32
  } -> tensor<?x32xf32>
  %e3 = tensor.empty(%n) : tensor<?x32x1xf32>
  %column = linalg.generic {indexing_maps = [#rows, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%max : tensor<?x32xf32>) outs(%e3 : tensor<?x32x1xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<?x32x1xf32>
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %column : tensor<?x32x32xf32>, tensor<?x32x1xf32>) outs(%e1 : tensor<?x32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %u = arith.subf %a, %b : f32
    linalg.yield %u : f32
  } -> tensor<?x32x32xf32>
  %e4 = tensor.empty(%n) : tensor<?x32x64xf32>
  %f4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<?x32x64xf32>) -> tensor<?x32x64xf32>
  %o = linalg.generic {indexing_maps = [#left, #right, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%w, %v : tensor<?x32x32xf32>, tensor<?x32x64xf32>) outs(%f4 : tensor<?x32x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %u = arith.addf %c, %p : f32
    linalg.yield %u : f32
  } -> tensor<?x32x64xf32>
  %y = tensor.expand_shape %o [[0, 1], [2], [3]] output_shape [%m, 8, 32, 64] : tensor<?x32x64xf32> into tensor<?x8x32x64xf32>
  return %y : tensor<?x8x32x64xf32>
}

// -----

#left = affine_map<(b, m, n, k) -> (b, m, k)>
#right = affine_map<(b, m, n, k) -> (b, k, n)>
#out = affine_map<(b, m, n, k) -> (b, m, n)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>

// Matrices that were joined elsewhere are parted as the result is.
// CHECK-LABEL: @parted_result
// CHECK: tensor.expand_shape {{.*}} : tensor<16x4x8xf32> into tensor<2x8x4x8xf32>
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<2x8x4x4xf32>)
// CHECK: return %[[Y]]
func.func @parted_result(%A: tensor<16x4x8xf32>, %B: tensor<16x8x4xf32>, %C: tensor<16x4x4xf32>) -> tensor<2x8x4x4xf32> {
  %s = linalg.generic {indexing_maps = [#left, #right, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<16x4x8xf32>, tensor<16x8x4xf32>) outs(%C : tensor<16x4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %u = arith.addf %c, %p : f32
    linalg.yield %u : f32
  } -> tensor<16x4x4xf32>
  %y = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [2, 8, 4, 4] : tensor<16x4x4xf32> into tensor<2x8x4x4xf32>
  return %y : tensor<2x8x4x4xf32>
}

// Rows of one matrix stay joined.
// CHECK-LABEL: @rows
// CHECK: tensor.collapse_shape
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<16x4xf32>)
func.func @rows(%A: tensor<2x8x8xf32>, %B: tensor<8x4xf32>, %C: tensor<16x4xf32>) -> tensor<16x4xf32> {
  %a = tensor.collapse_shape %A [[0, 1], [2]] : tensor<2x8x8xf32> into tensor<16x8xf32>
  %s = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %B : tensor<16x8xf32>, tensor<8x4xf32>) outs(%C : tensor<16x4xf32>) {
  ^bb0(%f: f32, %b: f32, %c: f32):
    %p = arith.mulf %f, %b : f32
    %u = arith.addf %c, %p : f32
    linalg.yield %u : f32
  } -> tensor<16x4xf32>
  return %s : tensor<16x4xf32>
}

// -----

// A dimension of one that is only added to be joined is not turned.
// CHECK-LABEL: @ones
// CHECK: %[[T:.*]] = linalg.transpose ins(%{{.*}} : tensor<?x6x4x8xf32>) {{.*}} permutation = [0, 2, 1, 3]
// CHECK: %[[Y:.*]] = tensor.collapse_shape %[[T]] {{\[}}[0, 1], [2], [3]] : tensor<?x4x6x8xf32> into tensor<?x6x8xf32>
// CHECK: return %[[Y]]
func.func @ones(%x: tensor<?x6x4x8xf32>, %n: index) -> tensor<?x6x8xf32> {
  %a = tensor.expand_shape %x [[0], [1, 2], [3], [4]] output_shape [%n, 6, 1, 4, 8]
      : tensor<?x6x4x8xf32> into tensor<?x6x1x4x8xf32>
  %e = tensor.empty(%n) : tensor<?x4x1x6x8xf32>
  %t = linalg.transpose ins(%a : tensor<?x6x1x4x8xf32>) outs(%e : tensor<?x4x1x6x8xf32>) permutation = [0, 3, 2, 1, 4]
  %y = tensor.collapse_shape %t [[0, 1, 2], [3], [4]] : tensor<?x4x1x6x8xf32> into tensor<?x6x8xf32>
  return %y : tensor<?x6x8xf32>
}

// -----

#left = affine_map<(b, m, n, k) -> (b, m, k)>
#right = affine_map<(b, m, n, k) -> (b, k, n)>
#out = affine_map<(b, m, n, k) -> (b, m, n)>

// A product of computed matrices is written as it is read.
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1)>
// CHECK-LABEL: @turned
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[TURNED]]],
func.func @turned(%A: tensor<4x16x8xf32>, %B: tensor<4x8x32xf32>) -> tensor<4x32x16xf32> {
  %e = tensor.empty() : tensor<4x16x32xf32>
  %s = linalg.generic {indexing_maps = [#left, #right, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<4x16x8xf32>, tensor<4x8x32xf32>) outs(%e : tensor<4x16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %u = arith.addf %c, %p : f32
    linalg.yield %u : f32
  } -> tensor<4x16x32xf32>
  %f = tensor.empty() : tensor<4x32x16xf32>
  %y = linalg.transpose ins(%s : tensor<4x16x32xf32>) outs(%f : tensor<4x32x16xf32>) permutation = [0, 2, 1]
  return %y : tensor<4x32x16xf32>
}

// -----

#left = affine_map<(b, m, n, k) -> (b, m, k)>
#right = affine_map<(b, m, n, k) -> (b, k, n)>
#out = affine_map<(b, m, n, k) -> (b, m, n)>

// Batches are no columns.
// CHECK-LABEL: @batches_innermost
// CHECK: linalg.transpose
func.func @batches_innermost(%A: tensor<12x16x8xf32>, %B: tensor<12x8x32xf32>) -> tensor<16x32x12xf32> {
  %e = tensor.empty() : tensor<12x16x32xf32>
  %s = linalg.generic {indexing_maps = [#left, #right, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%A, %B : tensor<12x16x8xf32>, tensor<12x8x32xf32>) outs(%e : tensor<12x16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %u = arith.addf %c, %p : f32
    linalg.yield %u : f32
  } -> tensor<12x16x32xf32>
  %f = tensor.empty() : tensor<16x32x12xf32>
  %y = linalg.transpose ins(%s : tensor<12x16x32xf32>) outs(%f : tensor<16x32x12xf32>) permutation = [1, 2, 0]
  return %y : tensor<16x32x12xf32>
}
