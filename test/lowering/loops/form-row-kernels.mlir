// RUN: onnxc-opt --form-row-kernels %s | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: @a_sum_and_its_quotient_share_rows
// CHECK: %[[Y:.*]] = onnxc.kernel #onnxc.rows<outer = 1>
// CHECK: linalg.fill
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK: onnxc.yield
// CHECK: return %[[Y]]
func.func @a_sum_and_its_quotient_share_rows(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %o = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<4x8xf32>, tensor<4xf32>) outs(%o : tensor<4x8xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %r = arith.divf %in, %s : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @a_sum_alone_needs_no_kernel
// CHECK-NOT: onnxc.kernel
func.func @a_sum_alone_needs_no_kernel(%x: tensor<4x8xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%s : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %sum : tensor<4xf32>
}

#last = affine_map<(i, j) -> (j, i)>

// The mean over the pixels of an image with channels last: lanes are channels.
// CHECK-LABEL: @rows_that_lie_side_by_side_are_for_the_lanes
// CHECK-NOT: onnxc.kernel
func.func @rows_that_lie_side_by_side_are_for_the_lanes(%x: tensor<64x32xf32>) -> tensor<32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32xf32>) -> tensor<32xf32>
  %sum = linalg.generic {indexing_maps = [#last, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x32xf32>) outs(%f : tensor<32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<32xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%sum : tensor<32xf32>) outs(%e : tensor<32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %in : f32
    linalg.yield %r : f32
  } -> tensor<32xf32>
  return %y : tensor<32xf32>
}

// -----

#row0 = affine_map<(d0, d1) -> (d0)>
#both0 = affine_map<(d0, d1) -> (d0, d1)>
#id0 = affine_map<(d0) -> (d0)>

// A sum of nothing has no row to read.
// CHECK-LABEL: @sum_of_nothing
// CHECK-NOT: onnxc.kernel
func.func @sum_of_nothing(%n: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty(%n) : tensor<?x0xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#both0, #row0], iterator_types = ["parallel", "reduction"]}
      ins(%none : tensor<?x0xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#id0, #id0], iterator_types = ["parallel"]}
      ins(%sum : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %in : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}
