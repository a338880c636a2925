// RUN: onnxc-opt %s --expand-kernels | FileCheck %s

#image = affine_map<(n, h, w, c, kh, kw) -> (n, h + kh, w + kw, c)>
#window = affine_map<(n, h, w, c, kh, kw) -> (kh, kw)>
#result = affine_map<(n, h, w, c, kh, kw) -> (n, h, w, c)>

// A maximum is the machine's own, where the elements so far come second.
// CHECK-LABEL: func.func private @k_
// CHECK: %[[X:.*]] = vector.load
// CHECK: %[[M:.*]] = llvm.intr.maximum(%[[X]], %{{.*}}) {fastmathFlags = #llvm.fastmath<nsz>}
// CHECK: llvm.intr.maximum(%{{.*}}, %{{.*}})
// CHECK-NOT: arith.maximumf
func.func @largest(%X: memref<1x9x9x16xf32>, %Y: memref<1x8x8x16xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 4, columns = 16, vector = 16, outer = pixels>
      ins(%X : memref<1x9x9x16xf32>) outs(%Y : memref<1x8x8x16xf32>) {
  ^bb0(%x: tensor<1x9x9x16xf32>, %y: tensor<1x8x8x16xf32>):
    %least = arith.constant 0xFF800000 : f32
    %fill = linalg.fill ins(%least : f32) outs(%y : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    %w = tensor.empty() : tensor<2x2xf32>
    %m = linalg.generic {indexing_maps = [#image, #window, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<1x9x9x16xf32>, tensor<2x2xf32>) outs(%fill : tensor<1x8x8x16xf32>) {
    ^bb0(%a: f32, %b: f32, %s: f32):
      %t = arith.maximumf %s, %a : f32
      linalg.yield %t : f32
    } -> tensor<1x8x8x16xf32>
    onnxc.yield %m : tensor<1x8x8x16xf32>
  }
  return
}
