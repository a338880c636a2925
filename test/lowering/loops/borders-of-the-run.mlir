// Of an image whose width only the run knows, tiles at its ends are whole ones: a row beside the image reads the nearest
// element that exists, and zeros instead of it.
// RUN: onnxc-opt %s --expand-kernels --cse | FileCheck %s

#image = affine_map<(n, h, w, o, kh, kw, i) -> (n, h + kh * 4, w + kw * 4, i)>
#filter = affine_map<(n, h, w, o, kh, kw, i) -> (o, i, kh, kw)>
#result = affine_map<(n, h, w, o, kh, kw, i) -> (n, h, w, o)>

// CHECK-LABEL: func.func private @k_
// Whole tiles, inside of the image or at a border.
// CHECK: scf.for
// CHECK: %[[ROW:.*]] = arith.minsi
// CHECK: scf.if
// CHECK-NOT: arith.select {{.*}} : vector
// CHECK-COUNT-12: vector.fma
// CHECK-NOT: vector.fma
// CHECK: } else {
// The taps that any of the rows has, and only if there is an image.
// CHECK: %[[TAPS:.*]] = arith.muli %c3, %dim
// CHECK: arith.minsi %c3, %[[TAPS]]
// CHECK: scf.for
// All rows have the tap.
// CHECK: scf.if
// CHECK-NOT: arith.select {{.*}} : vector
// CHECK-COUNT-12: vector.fma
// CHECK-NOT: vector.fma
// CHECK: } else {
// Each of six rows asks what it reads, for the window reaches further than the tile does: three of them, if any of those
// has it, then the other three.
// CHECK: scf.if
// CHECK-COUNT-3: arith.select {{.*}} : vector<8xi1>, vector<8xf32>
// CHECK-NOT: arith.select {{.*}} : vector<8xi1>, vector<8xf32>
// CHECK: scf.if
// CHECK-COUNT-3: arith.select {{.*}} : vector<8xi1>, vector<8xf32>
// CHECK-NOT: arith.select {{.*}} : vector<8xi1>, vector<8xf32>
// Four rows, which overlap those before.
// CHECK: scf.for
// CHECK: arith.minsi
// CHECK-COUNT-4: arith.select {{.*}} : vector<8xi1>, vector<8xf32>
func.func @dilated(%X: memref<1x?x?x64xf32>, %W: memref<4x3x3x64x16xf32>, %Y: memref<1x?x?x64xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = pixels>
      ins(%X, %W : memref<1x?x?x64xf32>, memref<4x3x3x64x16xf32>) outs(%Y : memref<1x?x?x64xf32>) {
  ^bb0(%x: tensor<1x?x?x64xf32>, %packed: tensor<4x3x3x64x16xf32>, %y: tensor<1x?x?x64xf32>):
    %zero = arith.constant 0.0 : f32
    %padded = tensor.pad %x low[0, 4, 4, 0] high[0, 4, 4, 0] {
    ^bb0(%n: index, %h: index, %w: index, %c: index):
      tensor.yield %zero : f32
    } : tensor<1x?x?x64xf32> to tensor<1x?x?x64xf32>
    %empty = tensor.empty() : tensor<64x64x3x3xf32>
    %weights = linalg.unpack %packed outer_dims_perm = [0, 2, 3, 1] inner_dims_pos = [0] inner_tiles = [16]
        into %empty : tensor<4x3x3x64x16xf32> -> tensor<64x64x3x3xf32>
    %begin = linalg.fill ins(%zero : f32) outs(%y : tensor<1x?x?x64xf32>) -> tensor<1x?x?x64xf32>
    %sum = linalg.generic {indexing_maps = [#image, #filter, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%padded, %weights : tensor<1x?x?x64xf32>, tensor<64x64x3x3xf32>) outs(%begin : tensor<1x?x?x64xf32>) {
    ^bb0(%a: f32, %b: f32, %s: f32):
      %product = arith.mulf %a, %b : f32
      %next = arith.addf %s, %product : f32
      linalg.yield %next : f32
    } -> tensor<1x?x?x64xf32>
    onnxc.yield %sum : tensor<1x?x?x64xf32>
  }
  return
}
