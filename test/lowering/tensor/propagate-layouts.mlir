// RUN: onnxc-opt --propagate-layouts --split-input-file %s | FileCheck %s

#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#channel = affine_map<(a, b, c, d) -> (b)>

// CHECK-LABEL: @cancels_across_bias_and_pad
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<1x4x4x8xf32>, tensor<8xf32>)
// CHECK: tensor.pad {{.*}} low[0, 1, 1, 0] high[0, 1, 1, 0]
// CHECK-NOT: linalg.transpose
func.func @cancels_across_bias_and_pad(%x: tensor<1x4x4x8xf32>, %bias: tensor<8xf32>) -> tensor<1x6x6x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x4x4xf32>
  %t = linalg.transpose ins(%x : tensor<1x4x4x8xf32>) outs(%e : tensor<1x8x4x4xf32>) permutation = [0, 3, 1, 2]
  %s = linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       ins(%t, %bias : tensor<1x8x4x4xf32>, tensor<8xf32>) outs(%e : tensor<1x8x4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<1x8x4x4xf32>
  %p = tensor.pad %s low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x8x4x4xf32> to tensor<1x8x6x6xf32>
  %e2 = tensor.empty() : tensor<1x6x6x8xf32>
  %back = linalg.transpose ins(%p : tensor<1x8x6x6xf32>) outs(%e2 : tensor<1x6x6x8xf32>) permutation = [0, 2, 3, 1]
  return %back : tensor<1x6x6x8xf32>
}

// -----

// CHECK-LABEL: @concat_moves_as_a_whole
// CHECK-NOT: linalg.transpose
// CHECK: tensor.insert_slice %arg0 into {{.*}}[0, 0, 0, 0] [1, 4, 4, 8] [1, 1, 1, 1]
// CHECK: tensor.insert_slice %arg1 into {{.*}}[0, 0, 0, 8] [1, 4, 4, 8] [1, 1, 1, 1]
// CHECK-NOT: linalg.transpose
func.func @concat_moves_as_a_whole(%x: tensor<1x4x4x8xf32>, %y: tensor<1x4x4x8xf32>) -> tensor<1x4x4x16xf32> {
  %e = tensor.empty() : tensor<1x8x4x4xf32>
  %tx = linalg.transpose ins(%x : tensor<1x4x4x8xf32>) outs(%e : tensor<1x8x4x4xf32>) permutation = [0, 3, 1, 2]
  %ty = linalg.transpose ins(%y : tensor<1x4x4x8xf32>) outs(%e : tensor<1x8x4x4xf32>) permutation = [0, 3, 1, 2]
  %d = tensor.empty() : tensor<1x16x4x4xf32>
  %0 = tensor.insert_slice %tx into %d[0, 0, 0, 0] [1, 8, 4, 4] [1, 1, 1, 1] : tensor<1x8x4x4xf32> into tensor<1x16x4x4xf32>
  %1 = tensor.insert_slice %ty into %0[0, 8, 0, 0] [1, 8, 4, 4] [1, 1, 1, 1] : tensor<1x8x4x4xf32> into tensor<1x16x4x4xf32>
  %e2 = tensor.empty() : tensor<1x4x4x16xf32>
  %back = linalg.transpose ins(%1 : tensor<1x16x4x4xf32>) outs(%e2 : tensor<1x4x4x16xf32>) permutation = [0, 2, 3, 1]
  return %back : tensor<1x4x4x16xf32>
}

// -----

#read = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#weigh = affine_map<(b, h, m, n, k) -> (k, n)>
#write = affine_map<(b, h, m, n, k) -> (b, h, m, n)>

// Heads are read and written where they lie.
// CHECK-DAG: [[READ:#.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d4)>
// CHECK-DAG: [[WRITE:#.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d3)>
// CHECK-LABEL: @contraction_reads_and_writes_through
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {indexing_maps = {{\[}}[[READ]], #{{.*}}, [[WRITE]]]
// CHECK-NOT: linalg.transpose
func.func @contraction_reads_and_writes_through(%x: tensor<1x6x2x8xf32>, %w: tensor<8x4xf32>) -> tensor<1x6x2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x6x8xf32>
  %t = linalg.transpose ins(%x : tensor<1x6x2x8xf32>) outs(%e : tensor<1x2x6x8xf32>) permutation = [0, 2, 1, 3]
  %e2 = tensor.empty() : tensor<1x2x6x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x2x6x4xf32>) -> tensor<1x2x6x4xf32>
  %c = linalg.generic {indexing_maps = [#read, #weigh, #write], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
       ins(%t, %w : tensor<1x2x6x8xf32>, tensor<8x4xf32>) outs(%f : tensor<1x2x6x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x2x6x4xf32>
  %e3 = tensor.empty() : tensor<1x6x2x4xf32>
  %back = linalg.transpose ins(%c : tensor<1x2x6x4xf32>) outs(%e3 : tensor<1x6x2x4xf32>) permutation = [0, 2, 1, 3]
  return %back : tensor<1x6x2x4xf32>
}

// -----

// CHECK-LABEL: @constant_is_reordered
// CHECK: arith.constant dense<{{\[\[}}1.{{.*}}, 4.{{.*}}], [2.{{.*}}, 5.{{.*}}], [3.{{.*}}, 6.{{.*}}]]> : tensor<3x2xf32>
func.func @constant_is_reordered() -> tensor<3x2xf32> {
  %c = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %t = linalg.transpose ins(%c : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  return %t : tensor<3x2xf32>
}

// -----

#id2 = affine_map<(a, b) -> (a, b)>

// Operands that differ in layout stop a transpose.
// CHECK-LABEL: @different_layouts_stay
// CHECK: linalg.transpose
// CHECK: linalg.generic
func.func @different_layouts_stay(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
  %s = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
       ins(%t, %y : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// -----

// Images that are stacked along a new dimension behind their channels keep channels side by side.
// CHECK-LABEL: @stacked_behind_channels
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x5x8xf32>, %[[Y:[a-z0-9]+]]: tensor<1x5x8xf32>
// CHECK: tensor.insert_slice %[[X]] into %{{.*}}[0, 0, 0, 0] [1, 5, 1, 8] [1, 1, 1, 1] : tensor<1x5x8xf32> into tensor<1x5x2x8xf32>
// CHECK: tensor.insert_slice %[[Y]] into %{{.*}}[0, 0, 1, 0]
// CHECK: linalg.transpose ins(%{{.*}} : tensor<1x5x2x8xf32>) outs(%{{.*}} : tensor<1x8x2x5xf32>) permutation = [0, 3, 2, 1]
// CHECK-NOT: linalg.transpose
func.func @stacked_behind_channels(%x: tensor<1x5x8xf32>, %y: tensor<1x5x8xf32>) -> tensor<1x8x2x5xf32> {
  %e = tensor.empty() : tensor<1x8x5xf32>
  %tx = linalg.transpose ins(%x : tensor<1x5x8xf32>) outs(%e : tensor<1x8x5xf32>) permutation = [0, 2, 1]
  %ty = linalg.transpose ins(%y : tensor<1x5x8xf32>) outs(%e : tensor<1x8x5xf32>) permutation = [0, 2, 1]
  %ex = tensor.expand_shape %tx [[0], [1, 2], [3]] output_shape [1, 8, 1, 5] : tensor<1x8x5xf32> into tensor<1x8x1x5xf32>
  %ey = tensor.expand_shape %ty [[0], [1, 2], [3]] output_shape [1, 8, 1, 5] : tensor<1x8x5xf32> into tensor<1x8x1x5xf32>
  %all = tensor.empty() : tensor<1x8x2x5xf32>
  %0 = tensor.insert_slice %ex into %all[0, 0, 0, 0] [1, 8, 1, 5] [1, 1, 1, 1] : tensor<1x8x1x5xf32> into tensor<1x8x2x5xf32>
  %1 = tensor.insert_slice %ey into %0[0, 0, 1, 0] [1, 8, 1, 5] [1, 1, 1, 1] : tensor<1x8x1x5xf32> into tensor<1x8x2x5xf32>
  return %1 : tensor<1x8x2x5xf32>
}

// -----

// A reshape splits the dimensions where they are; a part goes to its place
// without the dimension of size one that was made for it.
// CHECK-LABEL: @parts_are_interleaved
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x5x8xf32>, %[[Y:[a-z0-9]+]]: tensor<1x5x8xf32>
// CHECK: tensor.insert_slice %[[X]] into %{{.*}}[0, 0, 0, 0] [1, 5, 1, 8] [1, 1, 1, 1] : tensor<1x5x8xf32> into tensor<1x5x2x8xf32>
// CHECK: tensor.insert_slice %[[Y]] into %{{.*}}[0, 0, 1, 0]
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3]] : tensor<1x5x2x8xf32> into tensor<1x10x8xf32>
// CHECK: linalg.transpose
// CHECK-NOT: linalg.transpose
func.func @parts_are_interleaved(%x: tensor<1x5x8xf32>, %y: tensor<1x5x8xf32>) -> tensor<1x8x10xf32> {
  %e = tensor.empty() : tensor<1x8x5xf32>
  %tx = linalg.transpose ins(%x : tensor<1x5x8xf32>) outs(%e : tensor<1x8x5xf32>) permutation = [0, 2, 1]
  %ty = linalg.transpose ins(%y : tensor<1x5x8xf32>) outs(%e : tensor<1x8x5xf32>) permutation = [0, 2, 1]
  %ex = tensor.expand_shape %tx [[0], [1], [2, 3]] output_shape [1, 8, 5, 1] : tensor<1x8x5xf32> into tensor<1x8x5x1xf32>
  %ey = tensor.expand_shape %ty [[0], [1], [2, 3]] output_shape [1, 8, 5, 1] : tensor<1x8x5xf32> into tensor<1x8x5x1xf32>
  %all = tensor.empty() : tensor<1x8x5x2xf32>
  %0 = tensor.insert_slice %ex into %all[0, 0, 0, 0] [1, 8, 5, 1] [1, 1, 1, 1] : tensor<1x8x5x1xf32> into tensor<1x8x5x2xf32>
  %1 = tensor.insert_slice %ey into %0[0, 0, 0, 1] [1, 8, 5, 1] [1, 1, 1, 1] : tensor<1x8x5x1xf32> into tensor<1x8x5x2xf32>
  %c = tensor.collapse_shape %1 [[0], [1], [2, 3]] : tensor<1x8x5x2xf32> into tensor<1x8x10xf32>
  return %c : tensor<1x8x10xf32>
}

// -----

// CHECK-LABEL: @groups_that_lie_apart_stay
// CHECK: linalg.transpose
// CHECK: tensor.collapse_shape
func.func @groups_that_lie_apart_stay(%x: tensor<2x5x8xf32>) -> tensor<2x40xf32> {
  %e = tensor.empty() : tensor<2x8x5xf32>
  %t = linalg.transpose ins(%x : tensor<2x5x8xf32>) outs(%e : tensor<2x8x5xf32>) permutation = [0, 2, 1]
  %c = tensor.collapse_shape %t [[0], [1, 2]] : tensor<2x8x5xf32> into tensor<2x40xf32>
  return %c : tensor<2x40xf32>
}

// -----

#window = affine_map<(h, c, k) -> (h + k, c)>
#tap = affine_map<(h, c, k) -> (k)>
#pooled = affine_map<(h, c, k) -> (h, c)>

// Windows that would be gathered from where the channels lie apart: what they
// slide over is moved once, before its padding.
// CHECK-LABEL: @windows_are_not_gathered
// CHECK: %[[T:.*]] = linalg.transpose ins(%{{.*}} : tensor<16x20xf32>)
// CHECK: %[[P:.*]] = tensor.pad %[[T]] low[1, 0] high[1, 0]
// CHECK: linalg.generic {{.*}} ins(%[[P]],
func.func @windows_are_not_gathered(%x: tensor<16x20xf32>) -> tensor<20x16xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<20x16xf32>
  %t = linalg.transpose ins(%x : tensor<16x20xf32>) outs(%e : tensor<20x16xf32>) permutation = [1, 0]
  %p = tensor.pad %t low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %low : f32
  } : tensor<20x16xf32> to tensor<22x16xf32>
  %w = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<20x16xf32>) -> tensor<20x16xf32>
  %y = linalg.generic {indexing_maps = [#window, #tap, #pooled], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%p, %w : tensor<22x16xf32>, tensor<3xf32>) outs(%f : tensor<20x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<20x16xf32>
  return %y : tensor<20x16xf32>
}

// A pad of unknown size is moved as well: nothing asks for that size but what is moved with it.
// CHECK-LABEL: @moves_before_any_pad
// CHECK: %[[T:.*]] = linalg.transpose ins(%{{.*}} : tensor<16x?xf32>)
// CHECK: %[[P:.*]] = tensor.pad %[[T]] low[1, 0] high[1, 0]
// CHECK-NOT: tensor.pad
// CHECK: linalg.generic {{.*}} ins(%[[P]],
func.func @moves_before_any_pad(%x: tensor<16x?xf32>, %n: index) -> tensor<?x16xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %t = linalg.transpose ins(%x : tensor<16x?xf32>) outs(%e : tensor<?x16xf32>) permutation = [1, 0]
  %p = tensor.pad %t low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %low : f32
  } : tensor<?x16xf32> to tensor<?x16xf32>
  %w = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = linalg.generic {indexing_maps = [#window, #tap, #pooled], iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%p, %w : tensor<?x16xf32>, tensor<3xf32>) outs(%f : tensor<?x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

// CHECK-LABEL: @passes_what_reads_at_computed_indices
// CHECK-SAME: %[[X:.*]]: tensor<1x4x4x8xf32>, %[[ROWS:.*]]: tensor<8xi32>
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {{.*}} ins(%[[ROWS]] : tensor<8xi32>) outs(%{{.*}} : tensor<1x8x4x8xf32>)
// CHECK-DAG: %[[W:.*]] = linalg.index 2 : index
// CHECK-DAG: %[[C:.*]] = linalg.index 3 : index
// CHECK: tensor.extract %[[X]][%{{.*}}, %{{.*}}, %[[W]], %[[C]]]
// CHECK-NOT: linalg.transpose
func.func @passes_what_reads_at_computed_indices(%x: tensor<1x4x4x8xf32>, %rows: tensor<8xi32>) -> tensor<1x8x4x8xf32> {
  %e = tensor.empty() : tensor<1x8x4x4xf32>
  %t = linalg.transpose ins(%x : tensor<1x4x4x8xf32>) outs(%e : tensor<1x8x4x4xf32>) permutation = [0, 3, 1, 2]
  %e2 = tensor.empty() : tensor<1x8x8x4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (c)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       ins(%rows : tensor<8xi32>) outs(%e2 : tensor<1x8x8x4xf32>) {
  ^bb0(%r: i32, %o: f32):
    %a = linalg.index 0 : index
    %b = linalg.index 1 : index
    %row = arith.index_cast %r : i32 to index
    %d = linalg.index 3 : index
    %v = tensor.extract %t[%a, %b, %row, %d] : tensor<1x8x4x4xf32>
    linalg.yield %v : f32
  } -> tensor<1x8x8x4xf32>
  %e3 = tensor.empty() : tensor<1x8x4x8xf32>
  %back = linalg.transpose ins(%s : tensor<1x8x8x4xf32>) outs(%e3 : tensor<1x8x4x8xf32>) permutation = [0, 2, 3, 1]
  return %back : tensor<1x8x4x8xf32>
}

// -----

#all = affine_map<(h, c, w) -> (c, h, w)>
#left = affine_map<(h, c, w) -> (c, w)>

// The channels, which lie together, stay innermost in what is left of each column.
// CHECK-DAG: [[READ:#.*]] = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-DAG: [[WRITE:#.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-LABEL: @channels_stay_innermost
// CHECK: %[[LEFT:.*]] = linalg.generic {indexing_maps = {{\[}}[[READ]], [[WRITE]]]
// CHECK-SAME: ins(%{{.*}} : tensor<4x6x8xf32>) outs(%{{.*}} : tensor<6x8xf32>)
// CHECK: linalg.transpose ins(%[[LEFT]] : tensor<6x8xf32>)
func.func @channels_stay_innermost(%x: tensor<4x6x8xf32>) -> tensor<8x6xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x4x6xf32>
  %t = linalg.transpose ins(%x : tensor<4x6x8xf32>) outs(%e : tensor<8x4x6xf32>) permutation = [2, 0, 1]
  %e2 = tensor.empty() : tensor<8x6xf32>
  %f = linalg.fill ins(%low : f32) outs(%e2 : tensor<8x6xf32>) -> tensor<8x6xf32>
  %y = linalg.generic {indexing_maps = [#all, #left], iterator_types = ["reduction", "parallel", "parallel"]}
       ins(%t : tensor<8x4x6xf32>) outs(%f : tensor<8x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}

// -----

#id = affine_map<(a, b, c, d) -> (a, b, c, d)>

// An operand that is repeated where it has one row: in NHWC, whichever branch runs.
// CHECK-LABEL: @passes_an_operand_that_may_be_repeated
// CHECK-NOT: linalg.transpose
// CHECK: scf.if %{{.*}} -> (tensor<1x?x4x8xf32>)
// CHECK: tensor.extract %arg0
// CHECK: } else {
// CHECK-NEXT: scf.yield %arg0
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @passes_an_operand_that_may_be_repeated(%x: tensor<1x?x4x8xf32>, %size: index) -> tensor<1x?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %own = tensor.dim %x, %c1 : tensor<1x?x4x8xf32>
  %e = tensor.empty(%own) : tensor<1x8x?x4xf32>
  %t = linalg.transpose ins(%x : tensor<1x?x4x8xf32>) outs(%e : tensor<1x8x?x4xf32>) permutation = [0, 3, 1, 2]
  %repeats = arith.cmpi ne, %own, %size : index
  %fitted = scf.if %repeats -> tensor<1x8x?x4xf32> {
    %full = tensor.empty(%size) : tensor<1x8x?x4xf32>
    %all = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        outs(%full : tensor<1x8x?x4xf32>) {
    ^bb0(%o: f32):
      %n = linalg.index 0 : index
      %c = linalg.index 1 : index
      %w = linalg.index 3 : index
      %read = tensor.extract %t[%n, %c, %c0, %w] : tensor<1x8x?x4xf32>
      linalg.yield %read : f32
    } -> tensor<1x8x?x4xf32>
    scf.yield %all : tensor<1x8x?x4xf32>
  } else {
    scf.yield %t : tensor<1x8x?x4xf32>
  }
  %e2 = tensor.empty(%size) : tensor<1x?x4x8xf32>
  %back = linalg.transpose ins(%fitted : tensor<1x8x?x4xf32>) outs(%e2 : tensor<1x?x4x8xf32>) permutation = [0, 2, 3, 1]
  return %back : tensor<1x?x4x8xf32>
}

// -----

// CHECK-LABEL: @branches_of_two_layouts_stay
// CHECK: scf.if %{{.*}} -> (tensor<2x4x3xf32>)
// CHECK: } else {
// CHECK-NEXT: scf.yield %arg1
func.func @branches_of_two_layouts_stay(%x: tensor<2x3x4xf32>, %y: tensor<2x4x3xf32>, %c: i1) -> tensor<2x4x3xf32> {
  %e = tensor.empty() : tensor<2x4x3xf32>
  %t = linalg.transpose ins(%x : tensor<2x3x4xf32>) outs(%e : tensor<2x4x3xf32>) permutation = [0, 2, 1]
  %z = scf.if %c -> tensor<2x4x3xf32> {
    scf.yield %t : tensor<2x4x3xf32>
  } else {
    scf.yield %y : tensor<2x4x3xf32>
  }
  return %z : tensor<2x4x3xf32>
}

// -----

#pixels = affine_map<(h, w, o, i, j, c) -> (h + i, w + j, c)>
#filter = affine_map<(h, w, o, i, j, c) -> (i, j, c, o)>
#result = affine_map<(h, w, o, i, j, c) -> (h, w, o)>

// Each of 512 channels would be read from another line, for every panel again.
module attributes {onnxc.target = #onnxc.target<triple = "x86_64-linux-gnu", cpu = "x86-64-v3", features = "",
    vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64,
    heap = true, has_f16 = true>} {
// CHECK-LABEL: @many_channels_are_moved
// CHECK: %[[NHWC:.*]] = linalg.transpose ins(%arg0
// CHECK: linalg.generic {{.*}} ins(%[[NHWC]], %arg1
func.func @many_channels_are_moved(%x: tensor<512x7x7xf32>, %w: tensor<1x1x512x128xf32>) -> tensor<7x7x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x7x512xf32>
  %t = linalg.transpose ins(%x : tensor<512x7x7xf32>) outs(%e : tensor<7x7x512xf32>) permutation = [1, 2, 0]
  %e2 = tensor.empty() : tensor<7x7x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e2 : tensor<7x7x128xf32>) -> tensor<7x7x128xf32>
  %y = linalg.generic {indexing_maps = [#pixels, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
       ins(%t, %w : tensor<7x7x512xf32>, tensor<1x1x512x128xf32>) outs(%start : tensor<7x7x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  } -> tensor<7x7x128xf32>
  return %y : tensor<7x7x128xf32>
}

// CHECK-LABEL: @few_channels_are_read_where_they_lie
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1
func.func @few_channels_are_read_where_they_lie(%x: tensor<64x7x7xf32>, %w: tensor<1x1x64x128xf32>) -> tensor<7x7x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x7x64xf32>
  %t = linalg.transpose ins(%x : tensor<64x7x7xf32>) outs(%e : tensor<7x7x64xf32>) permutation = [1, 2, 0]
  %e2 = tensor.empty() : tensor<7x7x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e2 : tensor<7x7x128xf32>) -> tensor<7x7x128xf32>
  %y = linalg.generic {indexing_maps = [#pixels, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
       ins(%t, %w : tensor<7x7x64xf32>, tensor<1x1x64x128xf32>) outs(%start : tensor<7x7x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  } -> tensor<7x7x128xf32>
  return %y : tensor<7x7x128xf32>
}

// Planes of unknown size may lie pages apart, where caches hold fewer lines.
// CHECK-LABEL: @channels_of_the_run_are_moved
// CHECK: %[[NHWC:.*]] = linalg.transpose ins(%arg0
// CHECK: linalg.generic {{.*}} ins(%[[NHWC]], %arg1
func.func @channels_of_the_run_are_moved(%x: tensor<192x7x?xf32>, %w: tensor<1x1x192x128xf32>, %n: index)
    -> tensor<7x?x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<7x?x192xf32>
  %t = linalg.transpose ins(%x : tensor<192x7x?xf32>) outs(%e : tensor<7x?x192xf32>) permutation = [1, 2, 0]
  %e2 = tensor.empty(%n) : tensor<7x?x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e2 : tensor<7x?x128xf32>) -> tensor<7x?x128xf32>
  %y = linalg.generic {indexing_maps = [#pixels, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
       ins(%t, %w : tensor<7x?x192xf32>, tensor<1x1x192x128xf32>) outs(%start : tensor<7x?x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  } -> tensor<7x?x128xf32>
  return %y : tensor<7x?x128xf32>
}

// Five rows of taps take five lines of each of 64 channels, and 25 taps use an element often enough for few columns.
// CHECK-LABEL: @channels_of_windows_are_moved
// CHECK: %[[NHWC:.*]] = linalg.transpose ins(%arg0
// CHECK: linalg.generic {{.*}} ins(%[[NHWC]], %arg1
func.func @channels_of_windows_are_moved(%x: tensor<64x15x15xf32>, %w: tensor<5x5x64x16xf32>)
    -> tensor<11x11x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<15x15x64xf32>
  %t = linalg.transpose ins(%x : tensor<64x15x15xf32>) outs(%e : tensor<15x15x64xf32>) permutation = [1, 2, 0]
  %e2 = tensor.empty() : tensor<11x11x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e2 : tensor<11x11x16xf32>) -> tensor<11x11x16xf32>
  %y = linalg.generic {indexing_maps = [#pixels, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
       ins(%t, %w : tensor<15x15x64xf32>, tensor<5x5x64x16xf32>)
       outs(%start : tensor<11x11x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  } -> tensor<11x11x16xf32>
  return %y : tensor<11x11x16xf32>
}

// With two columns the elements of a window are not used that often.
// CHECK-LABEL: @windows_of_few_columns
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1
func.func @windows_of_few_columns(%x: tensor<64x15x15xf32>, %w: tensor<5x5x64x2xf32>)
    -> tensor<11x11x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<15x15x64xf32>
  %t = linalg.transpose ins(%x : tensor<64x15x15xf32>) outs(%e : tensor<15x15x64xf32>) permutation = [1, 2, 0]
  %e2 = tensor.empty() : tensor<11x11x2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e2 : tensor<11x11x2xf32>) -> tensor<11x11x2xf32>
  %y = linalg.generic {indexing_maps = [#pixels, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
       ins(%t, %w : tensor<15x15x64xf32>, tensor<5x5x64x2xf32>)
       outs(%start : tensor<11x11x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  } -> tensor<11x11x2xf32>
  return %y : tensor<11x11x2xf32>
}

// Planes of 4 KiB: all channels share a set of the first cache, which holds eight lines.
// CHECK-LABEL: @channels_in_one_set_are_moved
// CHECK: %[[NHWC:.*]] = linalg.transpose ins(%arg0
// CHECK: linalg.generic {{.*}} ins(%[[NHWC]], %arg1
func.func @channels_in_one_set_are_moved(%x: tensor<16x32x32xf32>, %w: tensor<5x5x16x16xf32>)
    -> tensor<28x28x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x32x16xf32>
  %t = linalg.transpose ins(%x : tensor<16x32x32xf32>) outs(%e : tensor<32x32x16xf32>) permutation = [1, 2, 0]
  %e2 = tensor.empty() : tensor<28x28x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e2 : tensor<28x28x16xf32>) -> tensor<28x28x16xf32>
  %y = linalg.generic {indexing_maps = [#pixels, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
       ins(%t, %w : tensor<32x32x16xf32>, tensor<5x5x16x16xf32>)
       outs(%start : tensor<28x28x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  } -> tensor<28x28x16xf32>
  return %y : tensor<28x28x16xf32>
}

// Of fewer channels a line would not be full.
// CHECK-LABEL: @few_channels_in_one_set
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1
func.func @few_channels_in_one_set(%x: tensor<12x32x32xf32>, %w: tensor<5x5x12x16xf32>)
    -> tensor<28x28x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x32x12xf32>
  %t = linalg.transpose ins(%x : tensor<12x32x32xf32>) outs(%e : tensor<32x32x12xf32>) permutation = [1, 2, 0]
  %e2 = tensor.empty() : tensor<28x28x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e2 : tensor<28x28x16xf32>) -> tensor<28x28x16xf32>
  %y = linalg.generic {indexing_maps = [#pixels, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
       ins(%t, %w : tensor<32x32x12xf32>, tensor<5x5x12x16xf32>)
       outs(%start : tensor<28x28x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  } -> tensor<28x28x16xf32>
  return %y : tensor<28x28x16xf32>
}

// What a head of an attention reads of one product for queries, keys and values: dimensions of one may lie anywhere.
// CHECK-LABEL: @dimensions_of_one_stop_nothing
// CHECK: %[[HEADS:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1, 2], [3], [4]] : tensor<1x9x1x4x8xf32> into tensor<9x4x8xf32>
// CHECK: linalg.generic {{.*}} ins(%[[HEADS]]
// CHECK-NOT: linalg.transpose
func.func @dimensions_of_one_stop_nothing(%x: tensor<1x9x1x4x8xf32>) -> tensor<4x9xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1x4x9x8xf32>
  %t = linalg.transpose ins(%x : tensor<1x9x1x4x8xf32>) outs(%e : tensor<1x1x4x9x8xf32>) permutation = [2, 0, 3, 1, 4]
  %c = tensor.collapse_shape %t [[0, 1, 2], [3], [4]] : tensor<1x1x4x9x8xf32> into tensor<4x9x8xf32>
  %e2 = tensor.empty() : tensor<4x9xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4x9xf32>) -> tensor<4x9xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(h, n, i) -> (h, n, i)>, affine_map<(h, n, i) -> (h, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%c : tensor<4x9x8xf32>) outs(%start : tensor<4x9xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = arith.addf %o, %a : f32
    linalg.yield %sum : f32
  } -> tensor<4x9xf32>
  return %y : tensor<4x9xf32>
}
}

// -----

// What is gathered stays as it is, however the index lies.
// CHECK-LABEL: @index_of_a_gather
// CHECK: linalg.transpose ins(%arg1
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK: linalg.yield
// CHECK: tensor<?x64xf32>
// CHECK-NEXT: return %[[Y]]
func.func @index_of_a_gather(%x: tensor<1000x64xf32>, %i: tensor<2x?xi64>, %n: index) -> tensor<?x64xf32> {
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%n) : tensor<?x2xi64>
  %t = linalg.transpose ins(%i : tensor<2x?xi64>) outs(%e : tensor<?x2xi64>) permutation = [1, 0]
  %e2 = tensor.empty(%n) : tensor<?x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
      outs(%e2 : tensor<?x64xf32>) {
  ^bb0(%o: f32):
    %r = linalg.index 0 : index
    %c = linalg.index 1 : index
    %at = tensor.extract %t[%r, %c1] : tensor<?x2xi64>
    %row = arith.index_cast %at : i64 to index
    %read = tensor.extract %x[%row, %c] : tensor<1000x64xf32>
    linalg.yield %read : f32
  } -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// Residuals of an image in NCHW: three results of convolutions are added to it, so moving it once is less.
// CHECK-LABEL: @most_operands_decide
// CHECK: %[[X:.*]] = linalg.transpose ins(%arg0 {{.*}} permutation = [0, 2, 3, 1]
// CHECK: linalg.generic {{.*}} ins(%arg1, %[[X]] :
// CHECK: linalg.generic {{.*}} ins(%arg2,
// CHECK: %[[Y:.*]] = linalg.transpose {{.*}} permutation = [0, 3, 1, 2]
// CHECK-NEXT: return %[[Y]]
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#add = {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
func.func @most_operands_decide(%x: tensor<1x8x5x6xf32>, %c1: tensor<1x5x6x8xf32>, %c2: tensor<1x5x6x8xf32>,
                                %c3: tensor<1x5x6x8xf32>) -> tensor<1x8x5x6xf32> {
  %e = tensor.empty() : tensor<1x8x5x6xf32>
  %t1 = linalg.transpose ins(%c1 : tensor<1x5x6x8xf32>) outs(%e : tensor<1x8x5x6xf32>) permutation = [0, 3, 1, 2]
  %r1 = linalg.generic #add ins(%t1, %x : tensor<1x8x5x6xf32>, tensor<1x8x5x6xf32>) outs(%e : tensor<1x8x5x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<1x8x5x6xf32>
  %t2 = linalg.transpose ins(%c2 : tensor<1x5x6x8xf32>) outs(%e : tensor<1x8x5x6xf32>) permutation = [0, 3, 1, 2]
  %r2 = linalg.generic #add ins(%t2, %r1 : tensor<1x8x5x6xf32>, tensor<1x8x5x6xf32>) outs(%e : tensor<1x8x5x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<1x8x5x6xf32>
  %t3 = linalg.transpose ins(%c3 : tensor<1x5x6x8xf32>) outs(%e : tensor<1x8x5x6xf32>) permutation = [0, 3, 1, 2]
  %r3 = linalg.generic #add ins(%t3, %r2 : tensor<1x8x5x6xf32>, tensor<1x8x5x6xf32>) outs(%e : tensor<1x8x5x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<1x8x5x6xf32>
  return %r3 : tensor<1x8x5x6xf32>
}

// -----

// One residual: moving the convolution's result is all that has to be moved.
// CHECK-LABEL: @one_operand_stays
// CHECK: %[[C:.*]] = linalg.transpose ins(%arg1 {{.*}} permutation = [0, 3, 1, 2]
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[C]], %arg0 :
// CHECK: return %[[Y]]
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#add = {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
func.func @one_operand_stays(%x: tensor<1x8x5x6xf32>, %c: tensor<1x5x6x8xf32>) -> tensor<1x8x5x6xf32> {
  %e = tensor.empty() : tensor<1x8x5x6xf32>
  %t = linalg.transpose ins(%c : tensor<1x5x6x8xf32>) outs(%e : tensor<1x8x5x6xf32>) permutation = [0, 3, 1, 2]
  %r = linalg.generic #add ins(%t, %x : tensor<1x8x5x6xf32>, tensor<1x8x5x6xf32>) outs(%e : tensor<1x8x5x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<1x8x5x6xf32>
  return %r : tensor<1x8x5x6xf32>
}

// -----

// What is between a convolution and the sum goes first, else the sum would find both of its operands moved alike.
// CHECK-LABEL: @operands_move_first
// CHECK-COUNT-2: linalg.transpose
// CHECK-NOT: linalg.transpose
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#one = {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#add = {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
func.func @operands_move_first(%x: tensor<1x8x5x6xf32>, %c1: tensor<1x5x6x8xf32>, %c2: tensor<1x5x6x8xf32>,
                               %c3: tensor<1x5x6x8xf32>) -> tensor<1x8x5x6xf32> {
  %e = tensor.empty() : tensor<1x8x5x6xf32>
  %t1 = linalg.transpose ins(%c1 : tensor<1x5x6x8xf32>) outs(%e : tensor<1x8x5x6xf32>) permutation = [0, 3, 1, 2]
  %h1 = linalg.generic #one ins(%t1 : tensor<1x8x5x6xf32>) outs(%e : tensor<1x8x5x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %tanh = math.tanh %a : f32
    linalg.yield %tanh : f32
  } -> tensor<1x8x5x6xf32>
  %r1 = linalg.generic #add ins(%h1, %x : tensor<1x8x5x6xf32>, tensor<1x8x5x6xf32>) outs(%e : tensor<1x8x5x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<1x8x5x6xf32>
  %t2 = linalg.transpose ins(%c2 : tensor<1x5x6x8xf32>) outs(%e : tensor<1x8x5x6xf32>) permutation = [0, 3, 1, 2]
  %r2 = linalg.generic #add ins(%t2, %r1 : tensor<1x8x5x6xf32>, tensor<1x8x5x6xf32>) outs(%e : tensor<1x8x5x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<1x8x5x6xf32>
  %t3 = linalg.transpose ins(%c3 : tensor<1x5x6x8xf32>) outs(%e : tensor<1x8x5x6xf32>) permutation = [0, 3, 1, 2]
  %r3 = linalg.generic #add ins(%t3, %r2 : tensor<1x8x5x6xf32>, tensor<1x8x5x6xf32>) outs(%e : tensor<1x8x5x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<1x8x5x6xf32>
  return %r3 : tensor<1x8x5x6xf32>
}

// -----

// What reads a sum through padding reads it in any layout, too.
// CHECK-LABEL: @padded_for_a_reader
// CHECK: %[[X:.*]] = linalg.transpose ins(%arg0 {{.*}} permutation = [0, 2, 3, 1]
// CHECK: linalg.generic {{.*}} ins(%arg1, %[[X]] :
// CHECK: tensor.pad {{.*}} low[0, 1, 1, 0]
// CHECK: linalg.generic {{.*}} ins(%arg2,
// CHECK: linalg.transpose {{.*}} permutation = [0, 3, 1, 2]
// CHECK-NOT: linalg.transpose
#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#row = affine_map<(a, b, c, d) -> (a, b)>
#add = {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
func.func @padded_for_a_reader(%x: tensor<1x8x5x6xf32>, %c1: tensor<1x5x6x8xf32>, %c2: tensor<1x5x6x8xf32>,
                               %c3: tensor<1x5x6x8xf32>, %s: tensor<1x8xf32>) -> (tensor<1x8x5x6xf32>, tensor<1x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x5x6xf32>
  %t1 = linalg.transpose ins(%c1 : tensor<1x5x6x8xf32>) outs(%e : tensor<1x8x5x6xf32>) permutation = [0, 3, 1, 2]
  %r1 = linalg.generic #add ins(%t1, %x : tensor<1x8x5x6xf32>, tensor<1x8x5x6xf32>) outs(%e : tensor<1x8x5x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<1x8x5x6xf32>
  %p = tensor.pad %r1 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x8x5x6xf32> to tensor<1x8x7x8xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%p : tensor<1x8x7x8xf32>) outs(%s : tensor<1x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = arith.addf %a, %o : f32
    linalg.yield %sum : f32
  } -> tensor<1x8xf32>
  %t2 = linalg.transpose ins(%c2 : tensor<1x5x6x8xf32>) outs(%e : tensor<1x8x5x6xf32>) permutation = [0, 3, 1, 2]
  %r2 = linalg.generic #add ins(%t2, %r1 : tensor<1x8x5x6xf32>, tensor<1x8x5x6xf32>) outs(%e : tensor<1x8x5x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<1x8x5x6xf32>
  %t3 = linalg.transpose ins(%c3 : tensor<1x5x6x8xf32>) outs(%e : tensor<1x8x5x6xf32>) permutation = [0, 3, 1, 2]
  %r3 = linalg.generic #add ins(%t3, %r2 : tensor<1x8x5x6xf32>, tensor<1x8x5x6xf32>) outs(%e : tensor<1x8x5x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<1x8x5x6xf32>
  return %r3, %m : tensor<1x8x5x6xf32>, tensor<1x8xf32>
}
