// RUN: onnxc-opt %s --scale-filters | FileCheck %s

#image = affine_map<(n, h, w, o, kh, kw, i) -> (n, h + kh, w + kw, i)>
#filter = affine_map<(n, h, w, o, kh, kw, i) -> (o, i, kh, kw)>
#result = affine_map<(n, h, w, o, kh, kw, i) -> (n, h, w, o)>
#all = affine_map<(n, h, w, c) -> (n, h, w, c)>
#channel = affine_map<(n, h, w, c) -> (n, 0, 0, c)>

// Panels are multiplied instead of the image.
// CHECK: #[[$FACTORS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (0, 0, 0, d3)>
// CHECK-LABEL: @fewer_filters_than_pixels
// CHECK-SAME: (%[[X:.*]]: tensor<1x14x14x24xf32>, %[[S:.*]]: tensor<1x1x1x24xf32>, %[[P:.*]]: tensor<1x1x1x24x8xf32>)
// CHECK: %[[V:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[$FACTORS]], #{{.*}}], {{.*}}} ins(%[[P]], %[[S]]
// CHECK: %[[W:.*]] = linalg.unpack %[[V]]
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[W]]
func.func @fewer_filters_than_pixels(%x: tensor<1x14x14x24xf32>, %s: tensor<1x1x1x24xf32>, %panels: tensor<1x1x1x24x8xf32>)
    -> tensor<1x14x14x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x14x14x24xf32>
  %z = linalg.generic {indexing_maps = [#all, #channel, #all],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       ins(%x, %s : tensor<1x14x14x24xf32>, tensor<1x1x1x24xf32>) outs(%e : tensor<1x14x14x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<1x14x14x24xf32>
  %ew = tensor.empty() : tensor<8x24x1x1xf32>
  %w = linalg.unpack %panels outer_dims_perm = [0, 2, 3, 1] inner_dims_pos = [0] inner_tiles = [8] into %ew
       : tensor<1x1x1x24x8xf32> -> tensor<8x24x1x1xf32>
  %ey = tensor.empty() : tensor<1x14x14x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%ey : tensor<1x14x14x8xf32>) -> tensor<1x14x14x8xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
       ins(%z, %w : tensor<1x14x14x24xf32>, tensor<8x24x1x1xf32>) outs(%start : tensor<1x14x14x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x14x14x8xf32>
  return %y : tensor<1x14x14x8xf32>
}

// A small image is copied sooner than the filters.
// CHECK-LABEL: @more_filters_than_pixels
// CHECK: %[[Z:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1
// CHECK: linalg.generic {{.*}} ins(%[[Z]], %
func.func @more_filters_than_pixels(%x: tensor<1x4x4x24xf32>, %s: tensor<1x1x1x24xf32>, %panels: tensor<1x1x1x24x8xf32>)
    -> tensor<1x4x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x4x24xf32>
  %z = linalg.generic {indexing_maps = [#all, #channel, #all],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       ins(%x, %s : tensor<1x4x4x24xf32>, tensor<1x1x1x24xf32>) outs(%e : tensor<1x4x4x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<1x4x4x24xf32>
  %ew = tensor.empty() : tensor<8x24x1x1xf32>
  %w = linalg.unpack %panels outer_dims_perm = [0, 2, 3, 1] inner_dims_pos = [0] inner_tiles = [8] into %ew
       : tensor<1x1x1x24x8xf32> -> tensor<8x24x1x1xf32>
  %ey = tensor.empty() : tensor<1x4x4x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%ey : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
       ins(%z, %w : tensor<1x4x4x24xf32>, tensor<8x24x1x1xf32>) outs(%start : tensor<1x4x4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x4x4x8xf32>
  return %y : tensor<1x4x4x8xf32>
}

// A constant costs nothing where the image is made.
// CHECK-LABEL: @constant_factors
// CHECK: %[[Z:.*]] = linalg.generic {{.*}} ins(%arg0, %
// CHECK: linalg.generic {{.*}} ins(%[[Z]], %
func.func @constant_factors(%x: tensor<1x14x14x24xf32>, %panels: tensor<1x1x1x24x8xf32>) -> tensor<1x14x14x8xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant dense<0.5> : tensor<1x1x1x24xf32>
  %e = tensor.empty() : tensor<1x14x14x24xf32>
  %z = linalg.generic {indexing_maps = [#all, #channel, #all],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       ins(%x, %half : tensor<1x14x14x24xf32>, tensor<1x1x1x24xf32>) outs(%e : tensor<1x14x14x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<1x14x14x24xf32>
  %ew = tensor.empty() : tensor<8x24x1x1xf32>
  %w = linalg.unpack %panels outer_dims_perm = [0, 2, 3, 1] inner_dims_pos = [0] inner_tiles = [8] into %ew
       : tensor<1x1x1x24x8xf32> -> tensor<8x24x1x1xf32>
  %ey = tensor.empty() : tensor<1x14x14x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%ey : tensor<1x14x14x8xf32>) -> tensor<1x14x14x8xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
       ins(%z, %w : tensor<1x14x14x24xf32>, tensor<8x24x1x1xf32>) outs(%start : tensor<1x14x14x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x14x14x8xf32>
  return %y : tensor<1x14x14x8xf32>
}
