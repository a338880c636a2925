// Where memory is far (3 bytes a cycle) and L2 (16 KiB) does not hold an image of 32 KiB, the rows of a depthwise window are
// kept; a bare machine needs no room for the image beside what is written.
// RUN: sed 's/MACHINE/l2_bytes = 16384, heap = true, memory_bytes_per_cycle = 3/' %s | onnxc-opt --form-kernels --form-line-kernels | FileCheck %s
// RUN: sed 's/MACHINE/l2_bytes = 32768, heap = true, memory_bytes_per_cycle = 3/' %s | onnxc-opt --form-kernels --form-line-kernels | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/MACHINE/l2_bytes = 16384, heap = true, memory_bytes_per_cycle = 8/' %s | onnxc-opt --form-kernels --form-line-kernels | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/MACHINE/l2_bytes = 16384, heap = false, memory_bytes_per_cycle = 8/' %s | onnxc-opt --form-kernels --form-line-kernels | FileCheck %s
// RUN: sed 's/MACHINE/l2_bytes = 16384, heap = true, memory_bytes_per_cycle = 3/' %s | onnxc-opt --form-kernels --form-line-kernels --bufferize --expand-kernels | FileCheck %s --check-prefix=CODE

#point = affine_map<(n, h, w, o, i) -> (n, h, w, i)>
#weights = affine_map<(n, h, w, o, i) -> (i, o)>
#made = affine_map<(n, h, w, o, i) -> (n, h, w, o)>
#window = affine_map<(n, h, w, c, kh, kw) -> (n, h + kh, w + kw, c)>
#taps = affine_map<(n, h, w, c, kh, kw) -> (kh, kw, c)>
#moved = affine_map<(n, h, w, c, kh, kw) -> (n, h, w, c)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 8192, index_bits = 64, has_f16 = true, MACHINE>} {

// CHECK: onnxc.kernel #onnxc.lines
// CHECK-SAME: outs({{.*}} : tensor<1x30x30x8xf32>, tensor<832xf32>)
// CHECK: arith.mulf
// CHECK: arith.mulf
// WHOLE-NOT: #onnxc.lines
// CODE-NOT: memref.alloc{{.*}}memref<1x32x32x8xf32>
// CODE: func.func @depthwise
// CODE: memref.alloc{{.*}}memref<832xf32>
// CODE-NOT: memref<1x32x32x8xf32>
func.func @depthwise(%x: tensor<1x32x32x2xf32>, %w: tensor<2x8xf32>, %v: tensor<3x3x8xf32>) -> tensor<1x30x30x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32x32x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x32x8xf32>) -> tensor<1x32x32x8xf32>
  %c = linalg.generic {indexing_maps = [#point, #weights, #made],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x32x32x2xf32>, tensor<2x8xf32>) outs(%start : tensor<1x32x32x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %s, %p : f32
    linalg.yield %r : f32
  } -> tensor<1x32x32x8xf32>
  %f = tensor.empty() : tensor<1x30x30x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<1x30x30x8xf32>) -> tensor<1x30x30x8xf32>
  %y = linalg.generic {indexing_maps = [#window, #taps, #moved],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%c, %v : tensor<1x32x32x8xf32>, tensor<3x3x8xf32>) outs(%zeros : tensor<1x30x30x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %s, %p : f32
    linalg.yield %r : f32
  } -> tensor<1x30x30x8xf32>
  return %y : tensor<1x30x30x8xf32>
}
}
