// Where lanes lie along a padded row, panels at its ends ask which of them lie in the image, and those between do not.
// RUN: onnxc-opt %s --expand-kernels --cse | FileCheck %s

#image = affine_map<(n, l, c, t, i) -> (n, i, l + t)>
#filter = affine_map<(n, l, c, t, i) -> (c, i, t)>
#result = affine_map<(n, l, c, t, i) -> (n, c, l)>

// CHECK-LABEL: func.func private @k_{{.*}}(%{{.*}}: memref<1x1x256xf32
// CHECK: vector.maskedload
// CHECK: vector.fma
// CHECK: scf.for %{{.*}} = %c1 to %c7
// CHECK-NOT: vector.maskedload
// CHECK: vector.load
// CHECK: vector.fma
// CHECK-NOT: vector.maskedload
// CHECK: vector.store
// CHECK: vector.maskedload
// CHECK: vector.fma
func.func @long_row(%X: memref<1x1x256xf32>, %W: memref<4x1x9xf32>, %Y: memref<1x4x256xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 4, columns = 32, vector = 16, outer = panels>
      ins(%X, %W : memref<1x1x256xf32>, memref<4x1x9xf32>) outs(%Y : memref<1x4x256xf32>) {
  ^bb0(%x: tensor<1x1x256xf32>, %w: tensor<4x1x9xf32>, %y: tensor<1x4x256xf32>):
    %zero = arith.constant 0.0 : f32
    %padded = tensor.pad %x low[0, 0, 4] high[0, 0, 4] {
    ^bb0(%n: index, %c: index, %l: index):
      tensor.yield %zero : f32
    } : tensor<1x1x256xf32> to tensor<1x1x264xf32>
    %begin = linalg.fill ins(%zero : f32) outs(%y : tensor<1x4x256xf32>) -> tensor<1x4x256xf32>
    %sum = linalg.generic {indexing_maps = [#image, #filter, #result],
        iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%padded, %w : tensor<1x1x264xf32>, tensor<4x1x9xf32>) outs(%begin : tensor<1x4x256xf32>) {
    ^bb0(%a: f32, %b: f32, %s: f32):
      %product = arith.mulf %a, %b : f32
      %next = arith.addf %s, %product : f32
      linalg.yield %next : f32
    } -> tensor<1x4x256xf32>
    onnxc.yield %sum : tensor<1x4x256xf32>
  }
  return
}

// Both panels are at an end: one loop.
// CHECK-LABEL: func.func private @k_{{.*}}(%{{.*}}: memref<1x1x64xf32
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK-COUNT-2: vector.maskedload
// CHECK-NOT: vector.maskedload
// CHECK: return
func.func @short_row(%X: memref<1x1x64xf32>, %W: memref<4x1x9xf32>, %Y: memref<1x4x64xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 4, columns = 32, vector = 16, outer = panels>
      ins(%X, %W : memref<1x1x64xf32>, memref<4x1x9xf32>) outs(%Y : memref<1x4x64xf32>) {
  ^bb0(%x: tensor<1x1x64xf32>, %w: tensor<4x1x9xf32>, %y: tensor<1x4x64xf32>):
    %zero = arith.constant 0.0 : f32
    %padded = tensor.pad %x low[0, 0, 4] high[0, 0, 4] {
    ^bb0(%n: index, %c: index, %l: index):
      tensor.yield %zero : f32
    } : tensor<1x1x64xf32> to tensor<1x1x72xf32>
    %begin = linalg.fill ins(%zero : f32) outs(%y : tensor<1x4x64xf32>) -> tensor<1x4x64xf32>
    %sum = linalg.generic {indexing_maps = [#image, #filter, #result],
        iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%padded, %w : tensor<1x1x72xf32>, tensor<4x1x9xf32>) outs(%begin : tensor<1x4x64xf32>) {
    ^bb0(%a: f32, %b: f32, %s: f32):
      %product = arith.mulf %a, %b : f32
      %next = arith.addf %s, %product : f32
      linalg.yield %next : f32
    } -> tensor<1x4x64xf32>
    onnxc.yield %sum : tensor<1x4x64xf32>
  }
  return
}
