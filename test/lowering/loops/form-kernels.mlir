// RUN: onnxc-opt %s --form-kernels | FileCheck %s

#image = affine_map<(n, h, w, o, kh, kw, i) -> (n, h + kh, w + kw, i)>
#filter = affine_map<(n, h, w, o, kh, kw, i) -> (kh, kw, i, o)>
#maps_first = affine_map<(n, h, w, o, kh, kw, i) -> (o, i, kh, kw)>
#result = affine_map<(n, h, w, o, kh, kw, i) -> (n, h, w, o)>
#all = affine_map<(n, h, w, o) -> (n, h, w, o)>
#channel = affine_map<(n, h, w, o) -> (o)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {


// A convolution takes its padding, its start value and the operations behind it along.
// CHECK-LABEL: @convolution_with_epilogue
// CHECK: %[[Y:.*]] = onnxc.kernel #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = pixels>
// CHECK-SAME: ins(%{{.*}} : tensor<1x12x12x8xf32>, tensor<3x3x8x16xf32>, tensor<16xf32>) outs(%{{.*}} : tensor<1x12x12x16xf32>)
// CHECK: tensor.pad
// CHECK: linalg.fill
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: onnxc.yield
// CHECK: return %[[Y]]
func.func @convolution_with_epilogue(%x: tensor<1x12x12x8xf32>, %w: tensor<3x3x8x16xf32>, %bias: tensor<16xf32>)
    -> tensor<1x12x12x16xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x12x12x8xf32> to tensor<1x14x14x8xf32>
  %e = tensor.empty() : tensor<1x12x12x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x12x12x16xf32>) -> tensor<1x12x12x16xf32>
  %sum = linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%padded, %w : tensor<1x14x14x8xf32>, tensor<3x3x8x16xf32>) outs(%start : tensor<1x12x12x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x12x12x16xf32>
  %y = linalg.generic {indexing_maps = [#all, #channel, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sum, %bias : tensor<1x12x12x16xf32>, tensor<16xf32>) outs(%e : tensor<1x12x12x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<1x12x12x16xf32>
  return %y : tensor<1x12x12x16xf32>
}

// CHECK-LABEL: @sum_is_no_contraction
// CHECK-NOT: onnxc.kernel
func.func @sum_is_no_contraction(%x: tensor<4x8xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%s : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// What exceeds L2 is multiplied in groups of panels and pieces of the reduction.
// CHECK-LABEL: @deep_product
// CHECK: onnxc.kernel #onnxc.contraction<rows = {{.*}}, columns = 16, vector = 8, outer = panels, group = 4, depth = 1000>
func.func @deep_product(%x: tensor<128x3000xf32>, %w: tensor<3000x256xf32>) -> tensor<128x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<128x256xf32>) -> tensor<128x256xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<128x3000xf32>, tensor<3000x256xf32>) outs(%start : tensor<128x256xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<128x256xf32>
  return %y : tensor<128x256xf32>
}

// Few rows go along the rows of a matrix of the run that L2 does not hold.
// CHECK-LABEL: @few_rows_by_a_matrix_of_the_run
// CHECK: onnxc.kernel #onnxc.contraction<rows = 3, columns = 16, vector = 8, outer = panels, group = 43, depth = 8>
func.func @few_rows_by_a_matrix_of_the_run(%x: tensor<3x600xf32>, %w: tensor<600x1376xf32>) -> tensor<3x1376xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x1376xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<3x1376xf32>) -> tensor<3x1376xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<3x600xf32>, tensor<600x1376xf32>) outs(%start : tensor<3x1376xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<3x1376xf32>
  return %y : tensor<3x1376xf32>
}

// A panel of weights of a window that exceeds L2 is read in pieces of the channels, each by all pixels.
// CHECK-LABEL: @window_over_many_channels
// CHECK: onnxc.kernel #onnxc.contraction<rows = {{.*}}, columns = 16, vector = 8, outer = panels, depth = 400>
func.func @window_over_many_channels(%x: tensor<1x14x14x2000xf32>, %w: tensor<3x3x2000x32xf32>) -> tensor<1x12x12x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x12x12x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x12x12x32xf32>) -> tensor<1x12x12x32xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, h, w, c, i, j, d) -> (n, h + i, w + j, d)>,
                                        affine_map<(n, h, w, c, i, j, d) -> (i, j, d, c)>,
                                        affine_map<(n, h, w, c, i, j, d) -> (n, h, w, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x14x14x2000xf32>, tensor<3x3x2000x32xf32>) outs(%start : tensor<1x12x12x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x12x12x32xf32>
  return %y : tensor<1x12x12x32xf32>
}

// Many rows are multiplied by groups of panels of a matrix of the run, which is copied once, and by all weights in blocks
// that stay in L2.
// CHECK-LABEL: @product_of_many_rows
// CHECK: onnxc.kernel #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels, group = 5>
func.func @product_of_many_rows(%x: tensor<800x768xf32>, %w: tensor<768x256xf32>) -> tensor<800x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<800x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<800x256xf32>) -> tensor<800x256xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<800x768xf32>, tensor<768x256xf32>) outs(%start : tensor<800x256xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<800x256xf32>
  return %y : tensor<800x256xf32>
}

// CHECK-LABEL: @weights_of_many_rows
// CHECK: onnxc.kernel #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels, block = 84>
func.func @weights_of_many_rows(%x: tensor<800x768xf32>, %p: tensor<16x768x16xf32>) -> tensor<800x256xf32> {
  %room = tensor.empty() : tensor<768x256xf32>
  %w = linalg.unpack %p outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %room
      : tensor<16x768x16xf32> -> tensor<768x256xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<800x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<800x256xf32>) -> tensor<800x256xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<800x768xf32>, tensor<768x256xf32>) outs(%start : tensor<800x256xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<800x256xf32>
  return %y : tensor<800x256xf32>
}

// An output whose first content is still to be read cannot hold partial sums.
// CHECK-LABEL: @deep_product_over_its_residual
// CHECK: onnxc.kernel #onnxc.contraction<rows = {{.*}}, columns = 16, vector = 8, outer = panels>
func.func @deep_product_over_its_residual(%x: tensor<128x3000xf32>, %w: tensor<3000x256xf32>, %c: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<128x256xf32>) -> tensor<128x256xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<128x3000xf32>, tensor<3000x256xf32>) outs(%start : tensor<128x256xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<128x256xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%y : tensor<128x256xf32>) outs(%c : tensor<128x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<128x256xf32>
  return %r : tensor<128x256xf32>
}

// Each element belongs to one sum alone, as do the two that are multiplied: rows of a tile share nothing, and memory is
// walked in its order.
// CHECK-LABEL: @sum_of_what_nothing_shares
// CHECK-NOT: onnxc.kernel
// CHECK: return
func.func @sum_of_what_nothing_shares(%x: tensor<64x512x128xf32>, %m: tensor<512x128xf32>, %e: tensor<512x128xf32>) -> tensor<512x128xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(k, m, n) -> (k, m, n)>, affine_map<(k, m, n) -> (m, n)>,
                                        affine_map<(k, m, n) -> (m, n)>],
      iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%x, %m : tensor<64x512x128xf32>, tensor<512x128xf32>) outs(%e : tensor<512x128xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %d = arith.subf %a, %b : f32
    %p = math.exp %d : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<512x128xf32>
  return %y : tensor<512x128xf32>
}

// The rows of this one share the vectors of weights.
// CHECK-LABEL: @sum_of_weighted_rows
// CHECK: onnxc.kernel #onnxc.contraction
func.func @sum_of_weighted_rows(%x: tensor<64x512x128xf32>, %w: tensor<64x128xf32>, %e: tensor<512x128xf32>) -> tensor<512x128xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(k, m, n) -> (k, m, n)>, affine_map<(k, m, n) -> (k, n)>,
                                        affine_map<(k, m, n) -> (m, n)>],
      iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%x, %w : tensor<64x512x128xf32>, tensor<64x128xf32>) outs(%e : tensor<512x128xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<512x128xf32>
  return %y : tensor<512x128xf32>
}

// Filters that are computed have their maps apart: all channels and taps of one lie together, and are turned as one.
// CHECK-LABEL: @computed_filters
// CHECK: %[[COLUMNS:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2, 3]] : tensor<48x8x3x3xf32> into tensor<48x72xf32>
// CHECK: %[[PANELS:.*]] = onnxc.kernel #onnxc.squares<8> ins(%[[COLUMNS]]
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %[[PANELS]]
// CHECK: onnxc.kernel #onnxc.contraction<{{.*}}> ins({{.*}}%[[SPLIT]]
func.func @computed_filters(%x: tensor<1x30x30x8xf32>, %f: tensor<48x8x3x3xf32>, %e: tensor<1x28x28x48xf32>) -> tensor<1x28x28x48xf32> {
  %y = linalg.generic {indexing_maps = [#image, #maps_first, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %f : tensor<1x30x30x8xf32>, tensor<48x8x3x3xf32>) outs(%e : tensor<1x28x28x48xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x28x28x48xf32>
  return %y : tensor<1x28x28x48xf32>
}

// All pixels are columns where no window slides over them.
// CHECK-LABEL: @pixels_of_an_image
// CHECK: onnxc.kernel #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = pixels>
func.func @pixels_of_an_image(%x: tensor<2x16x14x8xf32>, %f: tensor<24x16x1x1xf32>, %e: tensor<2x24x14x8xf32>) -> tensor<2x24x14x8xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(n, o, h, w, i, kh, kw) -> (n, i, h + kh, w + kw)>,
                                        affine_map<(n, o, h, w, i, kh, kw) -> (o, i, kh, kw)>,
                                        affine_map<(n, o, h, w, i, kh, kw) -> (n, o, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %f : tensor<2x16x14x8xf32>, tensor<24x16x1x1xf32>) outs(%e : tensor<2x24x14x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x24x14x8xf32>
  return %y : tensor<2x24x14x8xf32>
}

// Of an image of one column, tiles go down its rows.
// CHECK-LABEL: @one_column
// CHECK: onnxc.kernel #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = pixels>
func.func @one_column(%x: tensor<1x32x1x8xf32>, %f: tensor<9x1x8x16xf32>, %e: tensor<1x24x1x16xf32>) -> tensor<1x24x1x16xf32> {
  %y = linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %f : tensor<1x32x1x8xf32>, tensor<9x1x8x16xf32>) outs(%e : tensor<1x24x1x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x24x1x16xf32>
  return %y : tensor<1x24x1x16xf32>
}

}
