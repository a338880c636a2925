// RUN: onnxc-opt %s --expand-kernels --canonicalize --cse | FileCheck %s

#image = affine_map<(n, h, w, o, kh, kw, i) -> (n, h + kh, w + kw, (o floordiv 4) * 4 + i)>
#filter = affine_map<(n, h, w, o, kh, kw, i) -> (kh, kw, i, o)>
#result = affine_map<(n, h, w, o, kh, kw, i) -> (n, h, w, o)>

// Two rows of a tile and three taps see four pixels. The lanes that hold one channel of each pixel's groups serve all
// taps before those of the next channel are made.
// CHECK-LABEL: func.func private @k_
// CHECK: vector.shuffle {{.*}} [0, 0, 0, 0, 4, 4, 4, 4]
// CHECK: vector.fma
// CHECK: vector.shuffle {{.*}} [0, 0, 0, 0, 4, 4, 4, 4]
// CHECK-COUNT-2: vector.fma
// CHECK: vector.shuffle {{.*}} [0, 0, 0, 0, 4, 4, 4, 4]
// CHECK-COUNT-2: vector.fma
// CHECK: vector.shuffle {{.*}} [0, 0, 0, 0, 4, 4, 4, 4]
// CHECK: vector.fma
// CHECK: llvm.fence
// CHECK: vector.shuffle {{.*}} [1, 1, 1, 1, 5, 5, 5, 5]
func.func @groups(%X: memref<1x10x10x32xf32>, %W: memref<3x3x4x32xf32>, %Y: memref<1x8x8x32xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 2, columns = 8, vector = 8, outer = pixels>
      ins(%X, %W : memref<1x10x10x32xf32>, memref<3x3x4x32xf32>) outs(%Y : memref<1x8x8x32xf32>) {
  ^bb0(%x: tensor<1x10x10x32xf32>, %w: tensor<3x3x4x32xf32>, %y: tensor<1x8x8x32xf32>):
    %zero = arith.constant 0.0 : f32
    %fill = linalg.fill ins(%zero : f32) outs(%y : tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
    %c = linalg.generic {indexing_maps = [#image, #filter, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : tensor<1x10x10x32xf32>, tensor<3x3x4x32xf32>) outs(%fill : tensor<1x8x8x32xf32>) {
    ^bb0(%a: f32, %b: f32, %s: f32):
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<1x8x8x32xf32>
    onnxc.yield %c : tensor<1x8x8x32xf32>
  }
  return
}
