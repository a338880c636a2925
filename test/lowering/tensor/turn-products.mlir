// RUN: onnxc-opt --turn-products --split-input-file %s | FileCheck %s

#x = affine_map<(c, w, l, v) -> (c, v, l)>
#w = affine_map<(c, w, l, v) -> (v, w)>
#y = affine_map<(c, w, l, v) -> (c, w, l)>
#kinds = ["parallel", "parallel", "parallel", "reduction"]

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {

// Six of sixteen lanes would be used.
// CHECK: #[[Y:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1)>
// CHECK-LABEL: @few_columns
// CHECK: %[[T:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[Y]]]{{.*}} ins(%arg0, %arg1 {{.*}} outs(%{{.*}} : tensor<?x6x64xf32>)
// CHECK: linalg.transpose ins(%[[T]] {{.*}} permutation = [0, 2, 1]
func.func @few_columns(%x: tensor<?x64x6xf32>, %w: tensor<64x64xf32>, %e: tensor<?x64x6xf32>) -> tensor<?x64x6xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64x6xf32>) -> tensor<?x64x6xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = #kinds}
       ins(%x, %w : tensor<?x64x6xf32>, tensor<64x64xf32>) outs(%start : tensor<?x64x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x64x6xf32>
  return %y : tensor<?x64x6xf32>
}

// Of fourteen few stay empty, and the result would have to be moved.
// CHECK-LABEL: @enough_columns
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @enough_columns(%x: tensor<?x64x14xf32>, %w: tensor<64x64xf32>, %e: tensor<?x64x14xf32>)
    -> tensor<?x64x14xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64x14xf32>) -> tensor<?x64x14xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = #kinds}
       ins(%x, %w : tensor<?x64x14xf32>, tensor<64x64xf32>) outs(%start : tensor<?x64x14xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x64x14xf32>
  return %y : tensor<?x64x14xf32>
}
}

// -----

#x = affine_map<(f, c, g, b) -> (g, f, b)>
#w = affine_map<(f, c, g, b) -> (g, b, c)>
#y = affine_map<(f, c, g, b) -> (f, c, g)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {

// Both operands have the batch outermost, the result innermost: vectors along it would be gathered.
// CHECK: #[[Y:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1)>
// CHECK-LABEL: @batch_of_columns
// CHECK: %[[T:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[Y]]]{{.*}} outs(%{{.*}} : tensor<64x16x32xf32>)
// CHECK: linalg.transpose ins(%[[T]] {{.*}} permutation = [0, 2, 1]
func.func @batch_of_columns(%x: tensor<16x64x8xf32>, %w: tensor<16x8x32xf32>, %e: tensor<64x32x16xf32>)
    -> tensor<64x32x16xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32x16xf32>) -> tensor<64x32x16xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%x, %w : tensor<16x64x8xf32>, tensor<16x8x32xf32>) outs(%start : tensor<64x32x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x32x16xf32>
  return %y : tensor<64x32x16xf32>
}

// The same where the run knows how large the batch is, for what vectors lie along then is known.
// CHECK-LABEL: @batch_of_any_size
// CHECK: %[[T:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<64x?x32xf32>)
// CHECK: linalg.transpose ins(%[[T]] {{.*}} permutation = [0, 2, 1]
func.func @batch_of_any_size(%x: tensor<?x64x8xf32>, %w: tensor<?x8x32xf32>, %e: tensor<64x32x?xf32>)
    -> tensor<64x32x?xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32x?xf32>) -> tensor<64x32x?xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%x, %w : tensor<?x64x8xf32>, tensor<?x8x32xf32>) outs(%start : tensor<64x32x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x32x?xf32>
  return %y : tensor<64x32x?xf32>
}

// A matrix for each pixel is read once, so it would be gathered along columns as well.
// CHECK-LABEL: @matrices_of_pixels
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @matrices_of_pixels(%x: tensor<16x1x8xf32>, %w: tensor<8x32x16xf32>, %e: tensor<1x32x16xf32>)
    -> tensor<1x32x16xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x16xf32>) -> tensor<1x32x16xf32>
  %y = linalg.generic {indexing_maps = [#x, affine_map<(f, c, g, b) -> (b, c, g)>, #y],
       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%x, %w : tensor<16x1x8xf32>, tensor<8x32x16xf32>) outs(%start : tensor<1x32x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x32x16xf32>
  return %y : tensor<1x32x16xf32>
}

// Rows and columns of unknown size are no better, for there may be one of them.
// CHECK-LABEL: @all_of_any_size
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @all_of_any_size(%x: tensor<?x?x8xf32>, %w: tensor<?x8x?xf32>, %e: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%x, %w : tensor<?x?x8xf32>, tensor<?x8x?xf32>) outs(%start : tensor<?x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}
}

// -----

#x = affine_map<(n, w, g, m, k, c) -> (n, w + k, g, c)>
#w = affine_map<(n, w, g, m, k, c) -> (k, g, c, m)>
#y = affine_map<(n, w, g, m, k, c) -> (n, w, g, m)>
#kinds = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {

// A batch of unknown size may be one image; its pixels fill vectors.
// CHECK-LABEL: @batch_of_the_run
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x4x5x31xf32>)
// CHECK: linalg.transpose {{.*}} permutation = [0, 3, 1, 2]
func.func @batch_of_the_run(%x: tensor<?x39x4x5xf32>, %w: tensor<9x4x5x5xf32>, %e: tensor<?x31x4x5xf32>)
    -> tensor<?x31x4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?x31x4x5xf32>) -> tensor<?x31x4x5xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = #kinds}
       ins(%x, %w : tensor<?x39x4x5xf32>, tensor<9x4x5x5xf32>) outs(%start : tensor<?x31x4x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x31x4x5xf32>
  return %y : tensor<?x31x4x5xf32>
}
}

// -----

#mask = affine_map<(n, c, k, a, h) -> (h, k, a)>
#image = affine_map<(n, c, k, a, h) -> (n, c, k, h)>
#all = affine_map<(n, c, k, a, h) -> (n, c, k, a, h)>
#sum = affine_map<(n, c, k, a, h) -> (n, c, a, h)>
#each = ["parallel", "parallel", "parallel", "parallel", "parallel"]
#kinds = ["parallel", "parallel", "reduction", "parallel", "parallel"]

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {

// What is multiplied by one operator and added up by another.
// CHECK-LABEL: @two_operators
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 {{.*}} outs(%{{.*}} : tensor<2x2x50x64xf32>)
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: linalg.transpose {{.*}} permutation = [0, 1, 3, 2]
func.func @two_operators(%m: tensor<50x9x64xf32>, %x: tensor<2x2x9x50xf32>, %f: tensor<2x2x9x64x50xf32>,
                         %e: tensor<2x2x64x50xf32>) -> tensor<2x2x64x50xf32> {
  %zero = arith.constant 0.0 : f32
  %p = linalg.generic {indexing_maps = [#mask, #image, #all], iterator_types = #each}
       ins(%m, %x : tensor<50x9x64xf32>, tensor<2x2x9x50xf32>) outs(%f : tensor<2x2x9x64x50xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<2x2x9x64x50xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x64x50xf32>) -> tensor<2x2x64x50xf32>
  %y = linalg.generic {indexing_maps = [#all, #sum], iterator_types = #kinds}
       ins(%p : tensor<2x2x9x64x50xf32>) outs(%start : tensor<2x2x64x50xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<2x2x64x50xf32>
  return %y : tensor<2x2x64x50xf32>
}
// Vectors lie along the channels already: the product stays what a kernel in
// front of it can end with.
// CHECK-LABEL: @two_operators_along_the_channels
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @two_operators_along_the_channels(%x: tensor<56x64xf32>, %m: tensor<56xf32>, %f: tensor<56x64xf32>,
                                            %e: tensor<64xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %p = linalg.generic {indexing_maps = [affine_map<(w, c) -> (w, c)>, affine_map<(w, c) -> (w)>, affine_map<(w, c) -> (w, c)>],
                       iterator_types = ["parallel", "parallel"]}
       ins(%x, %m : tensor<56x64xf32>, tensor<56xf32>) outs(%f : tensor<56x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<56x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(w, c) -> (w, c)>, affine_map<(w, c) -> (c)>],
                       iterator_types = ["reduction", "parallel"]}
       ins(%p : tensor<56x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
}
}

// -----

#s = affine_map<(h, n, m) -> (h, n, m)>
#f = affine_map<(h, n, m) -> (h, n)>
#p = affine_map<(h, d, n, m) -> (h, n, m)>
#v = affine_map<(h, d, n, m) -> (h, d, m)>
#y = affine_map<(h, d, n, m) -> (h, d, n)>
#each = ["parallel", "parallel", "parallel"]
#rows = ["parallel", "parallel", "reduction"]
#kinds = ["parallel", "parallel", "parallel", "reduction"]

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {

// Vectors across the queries would want all shares of all queries, so they lie along the channels of the values.
// CHECK: #[[Y:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1)>
// CHECK-LABEL: @attention
// CHECK: %[[T:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[Y]]]{{.*}} outs(%{{.*}} : tensor<4x256x64xf32>)
// CHECK: linalg.transpose ins(%[[T]] {{.*}} permutation = [0, 2, 1]
func.func @attention(%e: tensor<4x256x256xf32>, %v: tensor<4x64x256xf32>, %sums: tensor<4x256xf32>, %o: tensor<4x64x256xf32>)
    -> tensor<4x64x256xf32> {
  %zero = arith.constant 0.0 : f32
  %exp = linalg.generic {indexing_maps = [#s, #s], iterator_types = #each}
         ins(%e : tensor<4x256x256xf32>) outs(%e : tensor<4x256x256xf32>) {
  ^bb0(%a: f32, %r: f32):
    %x = math.exp %a : f32
    linalg.yield %x : f32
  } -> tensor<4x256x256xf32>
  %none = linalg.fill ins(%zero : f32) outs(%sums : tensor<4x256xf32>) -> tensor<4x256xf32>
  %sum = linalg.generic {indexing_maps = [#s, #f], iterator_types = #rows}
         ins(%exp : tensor<4x256x256xf32>) outs(%none : tensor<4x256xf32>) {
  ^bb0(%a: f32, %r: f32):
    %x = arith.addf %r, %a : f32
    linalg.yield %x : f32
  } -> tensor<4x256xf32>
  %shares = linalg.generic {indexing_maps = [#s, #f, #s], iterator_types = #each}
            ins(%exp, %sum : tensor<4x256x256xf32>, tensor<4x256xf32>) outs(%e : tensor<4x256x256xf32>) {
  ^bb0(%a: f32, %b: f32, %r: f32):
    %x = arith.divf %a, %b : f32
    linalg.yield %x : f32
  } -> tensor<4x256x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%o : tensor<4x64x256xf32>) -> tensor<4x64x256xf32>
  %y = linalg.generic {indexing_maps = [#p, #v, #y], iterator_types = #kinds}
       ins(%shares, %v : tensor<4x256x256xf32>, tensor<4x64x256xf32>) outs(%start : tensor<4x64x256xf32>) {
  ^bb0(%a: f32, %b: f32, %r: f32):
    %q = arith.mulf %a, %b : f32
    %x = arith.addf %r, %q : f32
    linalg.yield %x : f32
  } -> tensor<4x64x256xf32>
  return %y : tensor<4x64x256xf32>
}
}

// -----

#x = affine_map<(n, h, w, c, i, j) -> (n, h + i, w + j, c)>
#f = affine_map<(n, h, w, c, i, j) -> (c, i, j)>
#y = affine_map<(n, h, w, c, i, j) -> (n, h, w, c)>
#kinds = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {

// An image that is NCHW before and behind the windows is so between.
// CHECK: #[[Y:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d1, d2)>
// CHECK-LABEL: @windows_of_images
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[Y]]]{{.*}} outs(%{{.*}} : tensor<?x3x?x?xf32>)
func.func @windows_of_images(%nchw: tensor<?x3x?x?xf32>, %f: tensor<3x3x3xf32>, %nhwc: tensor<?x?x?x3xf32>,
                             %e: tensor<?x?x?x3xf32>, %o: tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %x = linalg.transpose ins(%nchw : tensor<?x3x?x?xf32>) outs(%nhwc : tensor<?x?x?x3xf32>) permutation = [0, 2, 3, 1]
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  %y = linalg.generic {indexing_maps = [#x, #f, #y], iterator_types = #kinds}
       ins(%x, %f : tensor<?x?x?x3xf32>, tensor<3x3x3xf32>) outs(%start : tensor<?x?x?x3xf32>) {
  ^bb0(%a: f32, %b: f32, %r: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %r, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?x?x3xf32>
  %t = linalg.transpose ins(%y : tensor<?x?x?x3xf32>) outs(%o : tensor<?x3x?x?xf32>) permutation = [0, 3, 1, 2]
  return %t : tensor<?x3x?x?xf32>
}
}
