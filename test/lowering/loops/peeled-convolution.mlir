// A 3x3 convolution over a padded image becomes loops that multiply no zero and spill no vector.
// `tools/scripts/convolution_peak.sh` runs this kernel and prints its share of the core's peak.
// RUN: onnxc-opt %s --expand-kernels --cse | FileCheck %s
// RUN: onnxc-opt %s --expand-kernels --canonicalize --cse --convert-scf-to-cf --expand-strided-metadata \
// RUN:     --convert-vector-to-llvm --convert-arith-to-llvm --finalize-memref-to-llvm --convert-cf-to-llvm \
// RUN:     --convert-func-to-llvm=use-bare-ptr-memref-call-conv --reconcile-unrealized-casts | \
// RUN: mlir-translate --mlir-to-llvmir | llc -O3 -mtriple=x86_64-linux-gnu -mcpu=znver3 | FileCheck %s --check-prefix=ASM

#image = affine_map<(n, h, w, o, kh, kw, i) -> (n, h + kh, w + kw, i)>
#filter = affine_map<(n, h, w, o, kh, kw, i) -> (o, i, kh, kw)>
#result = affine_map<(n, h, w, o, kh, kw, i) -> (n, h, w, o)>
#all = affine_map<(n, h, w, o) -> (n, h, w, o)>
#channel = affine_map<(n, h, w, o) -> (o)>

// CHECK-LABEL: func.func private @k_
// CHECK-NOT: tensor.pad
// CHECK-NOT: memref.copy
// The rows of the filter that lie in the image:
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: scf.for
// The leftmost tile, first tap: five of six pixels by two vectors.
// CHECK: scf.for
// CHECK-COUNT-10: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// Second tap: all of them.
// CHECK: scf.for
// CHECK-COUNT-12: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK: memref.load

// ASM-LABEL: k_
// ASM: vfmadd231ps
// ASM-NOT: 32-byte Spill
// ASM: .size
func.func @conv(%X: memref<1x56x56x64xf32>, %W: memref<4x3x3x64x16xf32>, %B: memref<64xf32>,
                %Y: memref<1x56x56x64xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = pixels>
      ins(%X, %W, %B : memref<1x56x56x64xf32>, memref<4x3x3x64x16xf32>, memref<64xf32>)
      outs(%Y : memref<1x56x56x64xf32>) {
  ^bb0(%x: tensor<1x56x56x64xf32>, %w: tensor<4x3x3x64x16xf32>, %b: tensor<64xf32>, %y: tensor<1x56x56x64xf32>):
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%y : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
    %e = tensor.empty() : tensor<64x64x3x3xf32>
    %filter = linalg.unpack %w outer_dims_perm = [0, 2, 3, 1] inner_dims_pos = [0] inner_tiles = [16] into %e
        : tensor<4x3x3x64x16xf32> -> tensor<64x64x3x3xf32>
    %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb1(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %zero : f32
    } : tensor<1x56x56x64xf32> to tensor<1x58x58x64xf32>
    %sum = linalg.generic {indexing_maps = [#image, #filter, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%padded, %filter : tensor<1x58x58x64xf32>, tensor<64x64x3x3xf32>)
        outs(%start : tensor<1x56x56x64xf32>) {
    ^bb1(%p: f32, %q: f32, %s: f32):
      %m = arith.mulf %p, %q : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
    } -> tensor<1x56x56x64xf32>
    %r = linalg.generic {indexing_maps = [#all, #channel, #all],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%sum, %b : tensor<1x56x56x64xf32>, tensor<64xf32>) outs(%y : tensor<1x56x56x64xf32>) {
    ^bb1(%p: f32, %q: f32, %s: f32):
      %t = arith.addf %p, %q : f32
      %negative = arith.cmpf olt, %t, %zero : f32
      %relu = arith.select %negative, %zero, %t : f32
      linalg.yield %relu : f32
    } -> tensor<1x56x56x64xf32>
    onnxc.yield %r : tensor<1x56x56x64xf32>
  }
  return
}
