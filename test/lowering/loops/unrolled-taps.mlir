// RUN: onnxc-opt %s --expand-kernels | FileCheck %s

#image = affine_map<(n, h, w, o, kh, kw, i) -> (n, h + kh, w + kw, i)>
#filter = affine_map<(n, h, w, o, kh, kw, i) -> (o, i, kh, kw)>
#result = affine_map<(n, h, w, o, kh, kw, i) -> (n, h, w, o)>

// Channels without a loop around them: what one loads is not loaded ahead of the one before.
// CHECK-LABEL: func.func private @k_
// CHECK-SAME: passthrough = ["onnxc-ordered"]
// CHECK-COUNT-12: vector.fma
// CHECK-NEXT: llvm.fence syncscope("singlethread") acq_rel
// CHECK-COUNT-12: vector.fma
// CHECK-NEXT: llvm.fence syncscope("singlethread") acq_rel
func.func @few_channels(%X: memref<1x58x58x2xf32>, %W: memref<4x3x3x2x16xf32>, %Y: memref<1x56x56x64xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = pixels>
      ins(%X, %W : memref<1x58x58x2xf32>, memref<4x3x3x2x16xf32>) outs(%Y : memref<1x56x56x64xf32>) {
  ^bb0(%x: tensor<1x58x58x2xf32>, %w: tensor<4x3x3x2x16xf32>, %y: tensor<1x56x56x64xf32>):
    %zero = arith.constant 0.0 : f32
    %fill = linalg.fill ins(%zero : f32) outs(%y : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
    %e = tensor.empty() : tensor<64x2x3x3xf32>
    %u = linalg.unpack %w outer_dims_perm = [0, 2, 3, 1] inner_dims_pos = [0] inner_tiles = [16] into %e
        : tensor<4x3x3x2x16xf32> -> tensor<64x2x3x3xf32>
    %c = linalg.generic {indexing_maps = [#image, #filter, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %u : tensor<1x58x58x2xf32>, tensor<64x2x3x3xf32>) outs(%fill : tensor<1x56x56x64xf32>) {
    ^bb0(%a: f32, %b: f32, %s: f32):
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<1x56x56x64xf32>
    onnxc.yield %c : tensor<1x56x56x64xf32>
  }
  return
}
