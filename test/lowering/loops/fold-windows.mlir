// RUN: onnxc-opt %s --form-kernels | FileCheck %s

#image = affine_map<(n, h, w, o, i, kh, kw) -> (n, h + kh, w + kw, i)>
#filter = affine_map<(n, h, w, o, i, kh, kw) -> (o, i, kh, kw)>
#pixel = affine_map<(n, h, w, o, i, kh, kw) -> (n, h, w, o)>
#two = affine_map<(n, h, w, c, kh, kw) -> (n, h * 2 + kh, w * 2 + kw, c)>
#window = affine_map<(n, h, w, c, kh, kw) -> (kh, kw)>
#pooled = affine_map<(n, h, w, c, kh, kw) -> (n, h, w, c)>
#same = affine_map<(n, h, w, c) -> (n, h, w, c)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {

// Windows that tiles are made of: the pool and what follows it are part of the kernel, which stores nothing else.
// CHECK-LABEL: @side_by_side
// CHECK: onnxc.kernel #onnxc.winograd<tile = 4
// CHECK-SAME: outs({{[^:]*}} : tensor<1x14x14x64xf32>, tensor<36x{{[0-9]+}}xf32>, tensor<36x{{[0-9]+}}xf32>)
// CHECK: arith.maximumf
// CHECK: arith.negf
// CHECK-NOT: onnxc.kernel
func.func @side_by_side(%x: tensor<1x30x30x64xf32>, %t: tensor<36x4x64x16xf32>) -> tensor<1x14x14x64xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %w = onnxc.winograd_filter %t, <tile = 4, tile_rows = 1, product = <rows = 6, columns = 16, vector = 8, outer = panels>>
      : tensor<36x4x64x16xf32> -> tensor<64x64x3x3xf32>
  %e = tensor.empty() : tensor<1x28x28x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  %c = linalg.generic {indexing_maps = [#image, #filter, #pixel],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x30x30x64xf32>, tensor<64x64x3x3xf32>) outs(%start : tensor<1x28x28x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %s, %p : f32
    linalg.yield %r : f32
  } -> tensor<1x28x28x64xf32>
  %k = tensor.empty() : tensor<2x2xf32>
  %pe = tensor.empty() : tensor<1x14x14x64xf32>
  %ps = linalg.fill ins(%least : f32) outs(%pe : tensor<1x14x14x64xf32>) -> tensor<1x14x14x64xf32>
  %p = linalg.generic {indexing_maps = [#two, #window, #pooled],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%c, %k : tensor<1x28x28x64xf32>, tensor<2x2xf32>) outs(%ps : tensor<1x14x14x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %r = arith.maximumf %s, %a : f32
    linalg.yield %r : f32
  } -> tensor<1x14x14x64xf32>
  %n = linalg.generic {indexing_maps = [#same, #same],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p : tensor<1x14x14x64xf32>) outs(%pe : tensor<1x14x14x64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<1x14x14x64xf32>
  return %n : tensor<1x14x14x64xf32>
}

// Others read the convolution's result as well: both are stored, and what follows the pool is not part of it.
// CHECK-LABEL: @beside
// CHECK: %[[Y:.*]]:4 = onnxc.kernel #onnxc.winograd<tile = 4
// CHECK-SAME: outs({{[^:]*}} : tensor<1x28x28x64xf32>, tensor<1x14x14x64xf32>, {{.*}})
// CHECK: return %[[Y]]#0, %[[Y]]#1
func.func @beside(%x: tensor<1x30x30x64xf32>, %t: tensor<36x4x64x16xf32>) -> (tensor<1x28x28x64xf32>, tensor<1x14x14x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %w = onnxc.winograd_filter %t, <tile = 4, tile_rows = 1, product = <rows = 6, columns = 16, vector = 8, outer = panels>>
      : tensor<36x4x64x16xf32> -> tensor<64x64x3x3xf32>
  %e = tensor.empty() : tensor<1x28x28x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  %c = linalg.generic {indexing_maps = [#image, #filter, #pixel],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x30x30x64xf32>, tensor<64x64x3x3xf32>) outs(%start : tensor<1x28x28x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %s, %p : f32
    linalg.yield %r : f32
  } -> tensor<1x28x28x64xf32>
  %k = tensor.empty() : tensor<2x2xf32>
  %pe = tensor.empty() : tensor<1x14x14x64xf32>
  %ps = linalg.fill ins(%least : f32) outs(%pe : tensor<1x14x14x64xf32>) -> tensor<1x14x14x64xf32>
  %p = linalg.generic {indexing_maps = [#two, #window, #pooled],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%c, %k : tensor<1x28x28x64xf32>, tensor<2x2xf32>) outs(%ps : tensor<1x14x14x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %r = arith.maximumf %s, %a : f32
    linalg.yield %r : f32
  } -> tensor<1x14x14x64xf32>
  return %c, %p : tensor<1x28x28x64xf32>, tensor<1x14x14x64xf32>
}

// A mean of all pixels, with the residual sum in front of it: rows are folded in the tiles, and nothing else is stored.
// CHECK-LABEL: @mean
// CHECK: onnxc.kernel #onnxc.winograd<tile = 4
// CHECK-SAME: outs({{[^:]*}} : tensor<1x28x64xf32>, tensor<36x{{[0-9]+}}xf32>, tensor<36x{{[0-9]+}}xf32>)
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: onnxc.yield
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
func.func @mean(%x: tensor<1x30x30x64xf32>, %t: tensor<36x4x64x16xf32>, %y: tensor<1x28x28x64xf32>) -> tensor<1x64xf32> {
  %zero = arith.constant 0.0 : f32
  %w = onnxc.winograd_filter %t, <tile = 4, tile_rows = 1, product = <rows = 6, columns = 16, vector = 8, outer = panels>>
      : tensor<36x4x64x16xf32> -> tensor<64x64x3x3xf32>
  %e = tensor.empty() : tensor<1x28x28x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  %c = linalg.generic {indexing_maps = [#image, #filter, #pixel],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x30x30x64xf32>, tensor<64x64x3x3xf32>) outs(%start : tensor<1x28x28x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %s, %p : f32
    linalg.yield %r : f32
  } -> tensor<1x28x28x64xf32>
  %n = linalg.generic {indexing_maps = [#same, #same, #same],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %c : tensor<1x28x28x64xf32>, tensor<1x28x28x64xf32>) outs(%e : tensor<1x28x28x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x28x28x64xf32>
  %me = tensor.empty() : tensor<1x64xf32>
  %ms = linalg.fill ins(%zero : f32) outs(%me : tensor<1x64xf32>) -> tensor<1x64xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, h, w, c)>, affine_map<(n, c, h, w) -> (n, c)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%n : tensor<1x28x28x64xf32>) outs(%ms : tensor<1x64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %r = arith.addf %s, %a : f32
    linalg.yield %r : f32
  } -> tensor<1x64xf32>
  return %m : tensor<1x64xf32>
}
}
