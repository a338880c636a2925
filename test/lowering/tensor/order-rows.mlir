// RUN: onnxc-opt %s --split-input-file --order-rows | FileCheck %s

#image = affine_map<(n, c, h, w) -> (n, h, w, c)>
#pixels = affine_map<(n, c, h, w) -> (n, h, w)>
#all = affine_map<(n, h, w, c) -> (n, h, w, c)>
#kept = affine_map<(n, h, w, c) -> (n, 0, h, w)>

// The channels of a pixel are a row, and their mean belongs to the pixel.
// CHECK-DAG: #[[$ALL:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[$PIXEL:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG: #[[$THREE:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: @a_mean_of_channels
// CHECK: %[[S:.*]] = linalg.generic {indexing_maps = [#[[$ALL]], #[[$PIXEL]]]
// CHECK-SAME: ["parallel", "parallel", "parallel", "reduction"]
// CHECK: %[[M:.*]] = linalg.generic {indexing_maps = [#[[$THREE]], #[[$THREE]]]{{.*}}} ins(%[[S]]
// CHECK: linalg.generic {indexing_maps = [#[[$ALL]], #[[$PIXEL]], #[[$ALL]]]{{.*}}} ins(%{{.*}}, %[[M]]
func.func @a_mean_of_channels(%x: tensor<1x5x7x24xf32>) -> tensor<1x5x7x24xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 24.0 : f32
  %e = tensor.empty() : tensor<1x5x7xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x5x7xf32>) -> tensor<1x5x7xf32>
  %s = linalg.generic {indexing_maps = [#image, #pixels],
                       iterator_types = ["parallel", "reduction", "parallel", "parallel"]}
       ins(%x : tensor<1x5x7x24xf32>) outs(%start : tensor<1x5x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<1x5x7xf32>
  %em = tensor.empty() : tensor<1x1x5x7xf32>
  %m = linalg.generic {indexing_maps = [#pixels, affine_map<(n, c, h, w) -> (n, c, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       ins(%s : tensor<1x5x7xf32>) outs(%em : tensor<1x1x5x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.divf %a, %count : f32
    linalg.yield %t : f32
  } -> tensor<1x1x5x7xf32>
  %ey = tensor.empty() : tensor<1x5x7x24xf32>
  %y = linalg.generic {indexing_maps = [#all, #kept, #all],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       ins(%x, %m : tensor<1x5x7x24xf32>, tensor<1x1x5x7xf32>) outs(%ey : tensor<1x5x7x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<1x5x7x24xf32>
  return %y : tensor<1x5x7x24xf32>
}

// -----

// A dimension that somebody else wants stays.
// CHECK-LABEL: @a_mean_that_is_a_result
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x1x5x7xf32>)
func.func @a_mean_that_is_a_result(%s: tensor<1x5x7xf32>, %x: tensor<1x5x7x24xf32>)
    -> (tensor<1x1x5x7xf32>, tensor<1x5x7x24xf32>) {
  %em = tensor.empty() : tensor<1x1x5x7xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       ins(%s : tensor<1x5x7xf32>) outs(%em : tensor<1x1x5x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.sqrt %a : f32
    linalg.yield %t : f32
  } -> tensor<1x1x5x7xf32>
  %ey = tensor.empty() : tensor<1x5x7x24xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (n, 0, h, w)>,
                                        affine_map<(n, h, w, c) -> (n, h, w, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       ins(%x, %m : tensor<1x5x7x24xf32>, tensor<1x1x5x7xf32>) outs(%ey : tensor<1x5x7x24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<1x5x7x24xf32>
  return %m, %y : tensor<1x1x5x7xf32>, tensor<1x5x7x24xf32>
}

// -----

// Places of extremes are found side by side in many rows.
// CHECK-LABEL: @places_of_extremes
// CHECK: ["parallel", "reduction", "parallel"]
func.func @places_of_extremes(%x: tensor<1x7x24xf32>, %high: tensor<1x7xf32>, %at: tensor<1x7xi64>) -> tensor<1x7xi64> {
  %y:2 = linalg.generic {indexing_maps = [affine_map<(n, c, w) -> (n, w, c)>, affine_map<(n, c, w) -> (n, w)>,
                                          affine_map<(n, c, w) -> (n, w)>],
                         iterator_types = ["parallel", "reduction", "parallel"]}
         ins(%x : tensor<1x7x24xf32>) outs(%high, %at : tensor<1x7xf32>, tensor<1x7xi64>) {
  ^bb0(%a: f32, %h: f32, %i: i64):
    %c = linalg.index 1 : index
    %place = arith.index_cast %c : index to i64
    %more = arith.cmpf ogt, %a, %h : f32
    %best = arith.select %more, %a, %h : f32
    %where = arith.select %more, %place, %i : i64
    linalg.yield %best, %where : f32, i64
  } -> (tensor<1x7xf32>, tensor<1x7xi64>)
  return %y#1 : tensor<1x7xi64>
}

// -----

// The sum of a row, with a dimension that a reshape gave it.
// CHECK-LABEL: @a_reshaped_sum
// CHECK-SAME: %[[S:.*]]: tensor<4x8xf32>
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<4x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[R]] : tensor<4x8x40xf32>, tensor<4x8x1xf32>)
func.func @a_reshaped_sum(%s: tensor<4x8xf32>, %x: tensor<4x8x40xf32>) -> tensor<4x8x40xf32> {
  %k = tensor.expand_shape %s [[0], [1, 2]] output_shape [4, 8, 1] : tensor<4x8xf32> into tensor<4x8x1xf32>
  %er = tensor.empty() : tensor<4x8x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, h, w) -> (n, h, w)>, affine_map<(n, h, w) -> (n, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
       ins(%k : tensor<4x8x1xf32>) outs(%er : tensor<4x8x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.sqrt %a : f32
    linalg.yield %t : f32
  } -> tensor<4x8x1xf32>
  %ey = tensor.empty() : tensor<4x8x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, h, w) -> (n, h, w)>, affine_map<(n, h, w) -> (n, h, 0)>,
                                        affine_map<(n, h, w) -> (n, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
       ins(%x, %r : tensor<4x8x40xf32>, tensor<4x8x1xf32>) outs(%ey : tensor<4x8x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x8x40xf32>
  return %y : tensor<4x8x40xf32>
}
