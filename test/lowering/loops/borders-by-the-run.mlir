// What lies in front of an image may be a number of the run: half of what is missing, where windows are to begin at every
// second element and end with the image.
// RUN: onnxc-opt %s --split-input-file --form-kernels | FileCheck %s
// RUN: onnxc-opt %s --split-input-file --form-kernels --bufferize --expand-kernels --cse \
// RUN:   | FileCheck %s --check-prefix=CODE

#image = affine_map<(n, h, w, o, kh, kw, i) -> (n, h * 2 + kh, w * 2 + kw, i)>
#filter = affine_map<(n, h, w, o, kh, kw, i) -> (kh, kw, i, o)>
#result = affine_map<(n, h, w, o, kh, kw, i) -> (n, h, w, o)>
#target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256, vector_registers = 16,
    fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true, has_f16 = true>

module attributes {onnxc.target = #target} {

// The kernel gets the numbers and reads no copy; one that is known after all is no operand.
// CHECK-LABEL: @strided
// CHECK: onnxc.kernel
// CHECK-SAME: ins(%arg0, %arg2, {{.*}} : tensor<1x?x?x8xf32>, index, tensor<{{.*}}>)
// CHECK: tensor.pad %{{.*}} low[0, 1, %{{.*}}, 0] high[0, 1, 1, 0]
// The image is read that many pixels further in front; whole tiles have all taps from where it ends, and any row of the
// others may lack one.
// CODE-LABEL: func.func private @k_
// CODE-SAME: %[[LOW:[a-z0-9]+]]: index
// CODE: %[[FRONT:.*]] = arith.muli %c8, %[[LOW]]
// CODE: arith.subi %{{.*}}, %[[FRONT]]
// CODE: scf.if
// CODE-NOT: arith.select {{.*}} : vector
// CODE-COUNT-12: vector.fma
// CODE-NOT: vector.fma
// CODE: } else {
// CODE: scf.if
// CODE: } else {
// CODE: scf.if
// CODE-COUNT-3: arith.select {{.*}} : vector<8xi1>, vector<8xf32>
// CODE: scf.if
// CODE-COUNT-3: arith.select {{.*}} : vector<8xi1>, vector<8xf32>
func.func @strided(%x: tensor<1x?x?x8xf32>, %w: tensor<3x3x8x16xf32>, %low: index, %e: tensor<1x?x?x16xf32>)
    -> tensor<1x?x?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %padded = tensor.pad %x low[0, %one, %low, 0] high[0, %one, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x?x?x8xf32> to tensor<1x?x?x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x?x?x16xf32>) -> tensor<1x?x?x16xf32>
  %sum = linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%padded, %w : tensor<1x?x?x8xf32>, tensor<3x3x8x16xf32>) outs(%start : tensor<1x?x?x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x?x?x16xf32>
  return %sum : tensor<1x?x?x16xf32>
}

}

// -----

#image = affine_map<(n, h, w, o, kh, kw, i) -> (n, h + kh, w + kw, i)>
#filter = affine_map<(n, h, w, o, kh, kw, i) -> (o, i, kh, kw)>
#result = affine_map<(n, h, w, o, kh, kw, i) -> (n, h, w, o)>
#target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256, vector_registers = 16,
    fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true, has_f16 = true>

module attributes {onnxc.target = #target} {

// Winograd's tiles are cut where the image is known to begin, so they get a padded copy.
// CHECK-LABEL: @filtered
// CHECK: %[[PADDED:.*]] = tensor.pad
// CHECK: onnxc.kernel #onnxc.winograd
// CHECK-SAME: ins(%{{.*}}, %[[PADDED]] :
// CHECK-NOT: tensor.pad
func.func @filtered(%x: tensor<1x?x?x64xf32>, %t: tensor<36x4x64x16xf32>, %low: index, %e: tensor<1x?x?x64xf32>)
    -> tensor<1x?x?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, %low, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x?x?x64xf32> to tensor<1x?x?x64xf32>
  %w = onnxc.winograd_filter %t, <tile = 4, tile_rows = 1, product = <rows = 6, columns = 16, vector = 8, outer = panels>>
      : tensor<36x4x64x16xf32> -> tensor<64x64x3x3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x?x?x64xf32>) -> tensor<1x?x?x64xf32>
  %c = linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%padded, %w : tensor<1x?x?x64xf32>, tensor<64x64x3x3xf32>) outs(%start : tensor<1x?x?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %s, %p : f32
    linalg.yield %r : f32
  } -> tensor<1x?x?x64xf32>
  return %c : tensor<1x?x?x64xf32>
}

}
