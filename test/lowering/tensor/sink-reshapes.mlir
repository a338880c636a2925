// RUN: onnxc-opt --sink-reshapes --split-input-file %s | FileCheck %s

#cube = affine_map<(b, s, c) -> (b, s, c)>
#scalar = affine_map<(b, s, c) -> ()>
#a = affine_map<(s, c, k) -> (s, k)>
#b = affine_map<(s, c, k) -> (k, c)>
#c = affine_map<(s, c, k) -> (s, c)>

// An activation and a residual of all elements become what an epilogue is made of.
// CHECK-LABEL: @epilogue
// CHECK: %[[PRODUCT:.*]] = linalg.generic {{.*}} "reduction"
// CHECK: %[[SCALED:.*]] = linalg.generic {{.*}} ins(%[[PRODUCT]], %{{.*}} : tensor<?x8xf32>, tensor<f32>)
// CHECK: %[[RESIDUAL:.*]] = tensor.collapse_shape %arg2 {{\[\[}}0, 1], [2]]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[SCALED]], %[[RESIDUAL]] : tensor<?x8xf32>, tensor<?x8xf32>)
// CHECK: %[[RESULT:.*]] = tensor.expand_shape %[[SUM]] {{\[\[}}0, 1], [2]]
// CHECK: return %[[RESULT]]
func.func @epilogue(%x: tensor<?x4xf32>, %w: tensor<4x8xf32>, %r: tensor<2x?x8xf32>, %n: index) -> tensor<2x?x8xf32> {
  %two = arith.constant dense<2.0> : tensor<f32>
  %zero = arith.constant 0.0 : f32
  %zeroth = arith.constant 0 : index
  %size = tensor.dim %x, %zeroth : tensor<?x4xf32>
  %e = tensor.empty(%size) : tensor<?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x4xf32>, tensor<4x8xf32>) outs(%f : tensor<?x8xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %m = arith.mulf %i, %j : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x8xf32>
  %cube = tensor.expand_shape %p [[0, 1], [2]] output_shape [2, %n, 8] : tensor<?x8xf32> into tensor<2x?x8xf32>
  %e3 = tensor.empty(%n) : tensor<2x?x8xf32>
  %scaled = linalg.generic {indexing_maps = [#cube, #scalar, #cube], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%cube, %two : tensor<2x?x8xf32>, tensor<f32>) outs(%e3 : tensor<2x?x8xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %m = arith.mulf %i, %j : f32
    linalg.yield %m : f32
  } -> tensor<2x?x8xf32>
  %y = linalg.generic {indexing_maps = [#cube, #cube, #cube], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scaled, %r : tensor<2x?x8xf32>, tensor<2x?x8xf32>) outs(%e3 : tensor<2x?x8xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %m = arith.addf %i, %j : f32
    linalg.yield %m : f32
  } -> tensor<2x?x8xf32>
  return %y : tensor<2x?x8xf32>
}

// -----

#full = affine_map<(s, c) -> (s, c)>
#cube = affine_map<(b, s, c) -> (b, s, c)>
#row = affine_map<(b, s, c) -> (b, s)>

// A norm reads what is computed per row, and what no product made has no epilogue.
// CHECK-LABEL: @others_stay
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<6x8xf32>)
// CHECK: %[[CUBE:.*]] = tensor.expand_shape
// CHECK: linalg.generic {{.*}} ins(%[[CUBE]], %arg1
// CHECK: linalg.generic {{.*}} ins(%[[CUBE]] :
func.func @others_stay(%x: tensor<6x8xf32>, %mean: tensor<2x3xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %e = tensor.empty() : tensor<6x8xf32>
  %a = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<6x8xf32>) outs(%e : tensor<6x8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %m = arith.negf %i : f32
    linalg.yield %m : f32
  } -> tensor<6x8xf32>
  %cube = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 3, 8] : tensor<6x8xf32> into tensor<2x3x8xf32>
  %e3 = tensor.empty() : tensor<2x3x8xf32>
  %y = linalg.generic {indexing_maps = [#cube, #row, #cube], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%cube, %mean : tensor<2x3x8xf32>, tensor<2x3xf32>) outs(%e3 : tensor<2x3x8xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %m = arith.subf %i, %j : f32
    linalg.yield %m : f32
  } -> tensor<2x3x8xf32>
  %z = linalg.generic {indexing_maps = [#cube, #cube], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%cube : tensor<2x3x8xf32>) outs(%e3 : tensor<2x3x8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %m = arith.negf %i : f32
    linalg.yield %m : f32
  } -> tensor<2x3x8xf32>
  return %y, %z : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// -----

#image = affine_map<(n, g, m, k) -> (n, g, k)>
#weights = affine_map<(n, g, m, k) -> (g, k, m)>
#groups = affine_map<(n, g, m, k) -> (n, g, m)>
#all = affine_map<(n, c) -> (n, c)>
#channel = affine_map<(n, c) -> (c)>

// Behind the groups of a convolution, biases and residuals are told apart instead.
// CHECK-LABEL: @groups
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} "reduction"
// CHECK: %[[RESIDUAL:.*]] = tensor.expand_shape %arg3 {{\[\[}}0], [1, 2]]
// CHECK: linalg.generic {{.*}} ins(%[[SUM]], %{{.*}}, %[[RESIDUAL]] : tensor<?x2x8xf32>, tensor<2x8xf32>, tensor<?x2x8xf32>)
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]]
func.func @groups(%x: tensor<?x2x4xf32>, %w: tensor<2x4x8xf32>, %b: tensor<16xf32>, %r: tensor<?x16xf32>)
    -> tensor<?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %zeroth = arith.constant 0 : index
  %size = tensor.dim %x, %zeroth : tensor<?x2x4xf32>
  %e = tensor.empty(%size) : tensor<?x2x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x2x8xf32>) -> tensor<?x2x8xf32>
  %p = linalg.generic {indexing_maps = [#image, #weights, #groups],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x2x4xf32>, tensor<2x4x8xf32>) outs(%f : tensor<?x2x8xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %m = arith.mulf %i, %j : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x2x8xf32>
  %joined = tensor.collapse_shape %p [[0], [1, 2]] : tensor<?x2x8xf32> into tensor<?x16xf32>
  %e2 = tensor.empty(%size) : tensor<?x16xf32>
  %y = linalg.generic {indexing_maps = [#all, #channel, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%joined, %b, %r : tensor<?x16xf32>, tensor<16xf32>, tensor<?x16xf32>) outs(%e2 : tensor<?x16xf32>) {
  ^bb0(%i: f32, %j: f32, %k: f32, %o: f32):
    %m = arith.addf %i, %j : f32
    %s = arith.addf %m, %k : f32
    linalg.yield %s : f32
  } -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

#image = affine_map<(n, g, m, w, k) -> (n, g, k, w)>
#weights = affine_map<(n, g, m, w, k) -> (g, k, m)>
#groups = affine_map<(n, g, m, w, k) -> (n, g, m, w)>
#all = affine_map<(n, c, w) -> (n, c, w)>
#channel = affine_map<(n, c, w) -> (c)>

// Also where vectors lie along pixels.
// CHECK-LABEL: @groups_of_pixels
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} "reduction"
// CHECK: %[[BIAS:.*]] = tensor.expand_shape %arg2 {{\[\[}}0, 1]]
// CHECK: linalg.generic {{.*}} ins(%[[SUM]], %[[BIAS]] : tensor<?x2x5x30xf32>, tensor<2x5xf32>)
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3]]
func.func @groups_of_pixels(%x: tensor<?x2x4x30xf32>, %w: tensor<2x4x5xf32>, %b: tensor<10xf32>) -> tensor<?x10x30xf32> {
  %zero = arith.constant 0.0 : f32
  %zeroth = arith.constant 0 : index
  %size = tensor.dim %x, %zeroth : tensor<?x2x4x30xf32>
  %e = tensor.empty(%size) : tensor<?x2x5x30xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x2x5x30xf32>) -> tensor<?x2x5x30xf32>
  %p = linalg.generic {indexing_maps = [#image, #weights, #groups],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x2x4x30xf32>, tensor<2x4x5xf32>) outs(%f : tensor<?x2x5x30xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %m = arith.mulf %i, %j : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x2x5x30xf32>
  %joined = tensor.collapse_shape %p [[0], [1, 2], [3]] : tensor<?x2x5x30xf32> into tensor<?x10x30xf32>
  %e2 = tensor.empty(%size) : tensor<?x10x30xf32>
  %y = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%joined, %b : tensor<?x10x30xf32>, tensor<10xf32>) outs(%e2 : tensor<?x10x30xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %m = arith.addf %i, %j : f32
    linalg.yield %m : f32
  } -> tensor<?x10x30xf32>
  return %y : tensor<?x10x30xf32>
}
