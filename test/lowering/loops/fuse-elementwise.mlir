// RUN: onnxc-opt --fuse-elementwise %s | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: @a_chain_is_one_loop
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: arith.negf
// CHECK-NOT: linalg.generic
func.func @a_chain_is_one_loop(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.negf %in : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// An exponential is not computed twice to save a store.
// CHECK-LABEL: @an_expensive_producer_of_two_stays
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
func.func @an_expensive_producer_of_two_stays(%x: tensor<4x8xf32>, %s: tensor<4xf32>)
    -> (tensor<4x8xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %b = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x8xf32>) outs(%s : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %a, %b : tensor<4x8xf32>, tensor<4xf32>
}

// Positions stay apart from their sum, which would not know how many there are.
// CHECK-LABEL: @positions_stay
// CHECK: %[[POSITIONS:.*]] = linalg.generic {{.*}}["parallel"]
// CHECK: linalg.generic {{.*}}["reduction"]} ins(%[[POSITIONS]] : tensor<?xi64>) outs(%{{.*}} : tensor<i64>)
func.func @positions_stay(%n: index, %s: tensor<i64>) -> tensor<i64> {
  %e = tensor.empty(%n) : tensor<?xi64>
  %a = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e : tensor<?xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %r = arith.index_cast %i : index to i64
    linalg.yield %r : i64
  } -> tensor<?xi64>
  %b = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%a : tensor<?xi64>) outs(%s : tensor<i64>) {
  ^bb0(%in: i64, %out: i64):
    %r = arith.addi %in, %out : i64
    linalg.yield %r : i64
  } -> tensor<i64>
  return %b : tensor<i64>
}

// What adds to its result would do so in each iteration of the sum.
// CHECK-LABEL: @an_outer_product_that_adds_stays
// CHECK: iterator_types = ["parallel", "parallel"]
// CHECK: iterator_types = ["reduction", "reduction"]
func.func @an_outer_product_that_adds_stays(%x: tensor<4xf32>, %y: tensor<8xf32>, %z: tensor<4x8xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %outer = linalg.generic {indexing_maps = [#row, affine_map<(i, j) -> (j)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4xf32>, tensor<8xf32>) outs(%start : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %out, %product : f32
    linalg.yield %sum : f32
  } -> tensor<4x8xf32>
  %e0 = tensor.empty() : tensor<f32>
  %none = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %all = linalg.generic {indexing_maps = [#id, #id, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%outer, %z : tensor<4x8xf32>, tensor<4x8xf32>) outs(%none : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %out, %product : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  return %all : tensor<f32>
}

#heads = affine_map<(h, r, q, k, d) -> (h, r, q, d)>
#keys = affine_map<(h, r, q, k, d) -> (h, r, k, d)>
#scores = affine_map<(h, r, q, k, d) -> (h, r, q, k)>

// Keys that heads share are read where they are, by products of any number of queries.
// CHECK-LABEL: @what_is_repeated_is_read_again
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<2x3x?x8xf32>, tensor<2x1x?x8xf32>)
func.func @what_is_repeated_is_read_again(%q: tensor<2x3x?x8xf32>, %k: tensor<2x1x?x8xf32>, %n: index, %s: tensor<2x3x?x?xf32>)
    -> tensor<2x3x?x?xf32> {
  %e = tensor.empty(%n) : tensor<2x3x?x8xf32>
  %repeated = linalg.generic {indexing_maps = [affine_map<(h, r, k, d) -> (h, 0, k, d)>, affine_map<(h, r, k, d) -> (h, r, k, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%k : tensor<2x1x?x8xf32>) outs(%e : tensor<2x3x?x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<2x3x?x8xf32>
  %y = linalg.generic {indexing_maps = [#heads, #keys, #scores],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %repeated : tensor<2x3x?x8xf32>, tensor<2x3x?x8xf32>) outs(%s : tensor<2x3x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %out, %product : f32
    linalg.yield %sum : f32
  } -> tensor<2x3x?x?xf32>
  return %y : tensor<2x3x?x?xf32>
}

// So they are without a dimension for the heads that share them.
// CHECK-LABEL: @what_is_repeated_along_a_new_dimension_is_read_again
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<2x3x?x8xf32>, tensor<2x?x8xf32>)
func.func @what_is_repeated_along_a_new_dimension_is_read_again(%q: tensor<2x3x?x8xf32>, %k: tensor<2x?x8xf32>, %n: index,
    %s: tensor<2x3x?x?xf32>) -> tensor<2x3x?x?xf32> {
  %e = tensor.empty(%n) : tensor<2x3x?x8xf32>
  %repeated = linalg.generic {indexing_maps = [affine_map<(h, r, k, d) -> (h, k, d)>, affine_map<(h, r, k, d) -> (h, r, k, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%k : tensor<2x?x8xf32>) outs(%e : tensor<2x3x?x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<2x3x?x8xf32>
  %y = linalg.generic {indexing_maps = [#heads, #keys, #scores],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %repeated : tensor<2x3x?x8xf32>, tensor<2x3x?x8xf32>) outs(%s : tensor<2x3x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %out, %product : f32
    linalg.yield %sum : f32
  } -> tensor<2x3x?x?xf32>
  return %y : tensor<2x3x?x?xf32>
}

#twelve = affine_map<(i, j, k) -> (i, k)>
#weights = affine_map<(i, j, k) -> (k, j)>
#products = affine_map<(i, j, k) -> (i, j)>
#matrix = affine_map<(i, j) -> (i, j)>

// Of what two products make, each adds its own behind it.
// CHECK-LABEL: @sums_over_products_stay_apart
// CHECK-COUNT-2: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
func.func @sums_over_products_stay_apart(%x: tensor<12x8xf32>, %u: tensor<8x16xf32>, %v: tensor<8x16xf32>,
    %w: tensor<8x16xf32>, %s: tensor<12x16xf32>) -> tensor<12x16xf32> {
  %e = tensor.empty() : tensor<12x16xf32>
  %a = linalg.generic {indexing_maps = [#twelve, #weights, #products], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %u : tensor<12x8xf32>, tensor<8x16xf32>) outs(%s : tensor<12x16xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %p = arith.mulf %l, %r : f32
    %t = arith.addf %out, %p : f32
    linalg.yield %t : f32
  } -> tensor<12x16xf32>
  %b = linalg.generic {indexing_maps = [#twelve, #weights, #products], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<12x8xf32>, tensor<8x16xf32>) outs(%s : tensor<12x16xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %p = arith.mulf %l, %r : f32
    %t = arith.addf %out, %p : f32
    linalg.yield %t : f32
  } -> tensor<12x16xf32>
  %ab = linalg.generic {indexing_maps = [#matrix, #matrix, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<12x16xf32>, tensor<12x16xf32>) outs(%e : tensor<12x16xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %t = arith.addf %l, %r : f32
    linalg.yield %t : f32
  } -> tensor<12x16xf32>
  %c = linalg.generic {indexing_maps = [#twelve, #weights, #products], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<12x8xf32>, tensor<8x16xf32>) outs(%s : tensor<12x16xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %p = arith.mulf %l, %r : f32
    %t = arith.addf %out, %p : f32
    linalg.yield %t : f32
  } -> tensor<12x16xf32>
  %all = linalg.generic {indexing_maps = [#matrix, #matrix, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%ab, %c : tensor<12x16xf32>, tensor<12x16xf32>) outs(%e : tensor<12x16xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %t = arith.addf %l, %r : f32
    linalg.yield %t : f32
  } -> tensor<12x16xf32>
  return %all : tensor<12x16xf32>
}

// The distance from a row's mean is computed twice rather than kept; a fold
// reads the sum of two tensors where it is kept, for of both it would be a
// product.
// CHECK-LABEL: @distances_of_rows
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<8xf32>)
// CHECK: linalg.generic {{.*}}"reduction"]} ins(%[[SUM]] : tensor<4x8xf32>)
// CHECK: linalg.generic {{.*}}"reduction"]} ins(%[[SUM]], %{{.*}} : tensor<4x8xf32>, tensor<4xf32>)
// CHECK: arith.subf
// CHECK: arith.mulf
// CHECK: linalg.generic {{.*}}"parallel", "parallel"]}
// CHECK-NOT: linalg.generic
func.func @distances_of_rows(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %f: tensor<4xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %x = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<4x8xf32>, tensor<8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %c: f32, %out: f32):
    %r = arith.addf %in, %c : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %mean = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %out, %in : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %r = arith.subf %in, %m : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %square = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %p = arith.mulf %in, %in : f32
    %r = arith.addf %out, %p : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%d, %square : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %r = arith.divf %in, %s : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// What a product reads is kept for it: others read it, too.
// CHECK-LABEL: @what_a_product_reads
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<4x8xf32>)
// CHECK: %[[PRODUCT:.*]] = linalg.matmul ins(%[[SUM]], %{{.*}} : tensor<4x8xf32>, tensor<8x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[SUM]], %[[PRODUCT]] : tensor<4x8xf32>, tensor<4x8xf32>)
func.func @what_a_product_reads(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %zero: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %one = arith.constant 1.0 : f32
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %one : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %p = linalg.matmul ins(%a, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %p : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %c: f32, %out: f32):
    %r = arith.mulf %in, %c : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
