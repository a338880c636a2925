// RUN: onnxc-opt %s --fuse-elementwise --form-kernels | FileCheck %s

#image = affine_map<(n, h, w, c, kh, kw) -> (n, h + kh, w + kw, c)>
#filter = affine_map<(n, h, w, c, kh, kw) -> (c, kh, kw)>
#pixel = affine_map<(n, h, w, c, kh, kw) -> (n, h, w, c)>
#rows = affine_map<(n, h, w, o, i) -> (n, h, w, i)>
#columns = affine_map<(n, h, w, o, i) -> (i, o)>
#product = affine_map<(n, h, w, o, i) -> (n, h, w, o)>
#all = affine_map<(n, c, h, w) -> (n, h, w, c)>
#folded = affine_map<(n, c, h, w) -> (n, c)>
#same = affine_map<(n, h, w, c) -> (n, h, w, c)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {


// Tasks share rows of the image, so each row is folded by itself. What else reads the result gets it, too.
// CHECK-LABEL: @rows
// CHECK: %[[Y:.*]]:2 = onnxc.kernel {{.*}}outer = pixels> {{.*}} outs({{.*}} : tensor<1x12x20x32xf32>, tensor<1x12x32xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[Y]]#1 : tensor<1x12x32xf32>)
// CHECK: return %[[Y]]#0
func.func @rows(%x: tensor<1x14x22x32xf32>, %w: tensor<32x3x3xf32>) -> (tensor<1x12x20x32xf32>, tensor<1x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x12x20x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x12x20x32xf32>) -> tensor<1x12x20x32xf32>
  %c = linalg.generic {indexing_maps = [#image, #filter, #pixel],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x14x22x32xf32>, tensor<32x3x3xf32>) outs(%start : tensor<1x12x20x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x12x20x32xf32>
  %f = tensor.empty() : tensor<1x32xf32>
  %nothing = linalg.fill ins(%zero : f32) outs(%f : tensor<1x32xf32>) -> tensor<1x32xf32>
  %sum = linalg.generic {indexing_maps = [#all, #folded],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%c : tensor<1x12x20x32xf32>) outs(%nothing : tensor<1x32xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<1x32xf32>
  return %c, %sum : tensor<1x12x20x32xf32>, tensor<1x32xf32>
}


// Tasks share panels, each of which sees all pixels. Nobody else wants the result. Its epilogue stays with it.
// CHECK-LABEL: @panels
// CHECK: %[[Y:.*]] = onnxc.kernel {{.*}}outer = panels> {{.*}} outs({{.*}} : tensor<1x1024xf32>)
// CHECK: arith.maximumf
// CHECK: return %[[Y]] : tensor<1x1024xf32>
func.func @panels(%x: tensor<1x7x7x512xf32>, %w: tensor<512x1024xf32>) -> tensor<1x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x7x7x1024xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x7x7x1024xf32>) -> tensor<1x7x7x1024xf32>
  %c = linalg.generic {indexing_maps = [#rows, #columns, #product],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x7x7x512xf32>, tensor<512x1024xf32>) outs(%start : tensor<1x7x7x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x7x7x1024xf32>
  %relu = linalg.generic {indexing_maps = [#same, #same],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c : tensor<1x7x7x1024xf32>) outs(%e : tensor<1x7x7x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x7x7x1024xf32>
  %f = tensor.empty() : tensor<1x1024xf32>
  %nothing = linalg.fill ins(%zero : f32) outs(%f : tensor<1x1024xf32>) -> tensor<1x1024xf32>
  %sum = linalg.generic {indexing_maps = [#all, #folded],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%relu : tensor<1x7x7x1024xf32>) outs(%nothing : tensor<1x1024xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<1x1024xf32>
  return %sum : tensor<1x1024xf32>
}

}
