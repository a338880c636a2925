// RUN: onnxc-opt %s --form-kernels --form-line-kernels | FileCheck %s
// RUN: onnxc-opt %s --form-kernels --form-line-kernels --bufferize --expand-kernels | FileCheck %s --check-prefix=CODE

#image = affine_map<(n, h, w, o, i, kh, kw) -> (n, h + kh, w + kw, i)>
#filter = affine_map<(n, h, w, o, i, kh, kw) -> (kh, kw, i, o)>
#pixel = affine_map<(n, h, w, o, i, kh, kw) -> (n, h, w, o)>
#two = affine_map<(n, h, w, c, kh, kw) -> (n, h * 2 + kh, w * 2 + kw, c)>
#window = affine_map<(n, h, w, c, kh, kw) -> (kh, kw)>
#pooled = affine_map<(n, h, w, c, kh, kw) -> (n, h, w, c)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {

// Windows of three rows, one of which the row before has had. The convolution's result is a line buffer.
// CHECK-LABEL: @overlapping
// CHECK: onnxc.kernel #onnxc.lines
// CHECK-SAME: outs({{.*}} : tensor<1x15x15x16xf32>, tensor<1600xf32>)
// CHECK: onnxc.kernel #onnxc.contraction
// CHECK: onnxc.kernel #onnxc.contraction
// CHECK: arith.maximumf
// CHECK-NOT: onnxc.kernel

// Of a row that is not a task's first one, the line that it shares with the row before it moves up, and two are made.
// CODE: func.func private @k_kernel
// CODE: scf.for {{.*}} to %c1 step
// CODE: scf.for %[[ROW:.*]] = %[[FIRST:.*]] to
// CODE: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[ROW]], %[[FIRST]] {onnxc.first}
// CODE: scf.if %[[IS_FIRST]] {
// CODE-NEXT: } else {
// CODE: scf.for {{.*}} to %c512 step %c8
// CODE: vector.load {{.*}} : memref<1600xf32>, vector<8xf32>
// CODE: vector.store {{.*}} : memref<1600xf32>, vector<8xf32>
// CODE: %[[NEXT:.*]] = arith.select %[[IS_FIRST]]
// CODE: scf.for {{.*}} = %[[NEXT]] to
func.func @overlapping(%x: tensor<1x34x34x8xf32>, %w: tensor<3x3x8x16xf32>) -> tensor<1x15x15x16xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x32x32x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x32x16xf32>) -> tensor<1x32x32x16xf32>
  %c = linalg.generic {indexing_maps = [#image, #filter, #pixel],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x34x34x8xf32>, tensor<3x3x8x16xf32>) outs(%start : tensor<1x32x32x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %s, %p : f32
    linalg.yield %r : f32
  } -> tensor<1x32x32x16xf32>
  %k = tensor.empty() : tensor<3x3xf32>
  %pe = tensor.empty() : tensor<1x15x15x16xf32>
  %ps = linalg.fill ins(%least : f32) outs(%pe : tensor<1x15x15x16xf32>) -> tensor<1x15x15x16xf32>
  %p = linalg.generic {indexing_maps = [#two, #window, #pooled],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%c, %k : tensor<1x32x32x16xf32>, tensor<3x3xf32>) outs(%ps : tensor<1x15x15x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %r = arith.maximumf %s, %a : f32
    linalg.yield %r : f32
  } -> tensor<1x15x15x16xf32>
  return %p : tensor<1x15x15x16xf32>
}
}
