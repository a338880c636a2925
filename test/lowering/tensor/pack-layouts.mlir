// RUN: onnxc-opt %s --pack-layouts | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {

// Two columns become the first two of a panel of eight, the rest zeros; k is the order inside.
// CHECK-LABEL: @weights_become_panels
// CHECK: %[[PACKED:.*]] = arith.constant #onnxc.packed<dense<{{.*}}> : tensor<2x3xf32>, outer = [0, 1], tiled = 0, columns = 8> : tensor<1x3x8xf32>
// CHECK: linalg.unpack %[[PACKED]] outer_dims_perm = [0, 1] inner_dims_pos = [0] inner_tiles = [8]
// CHECK-SAME: tensor<1x3x8xf32> -> tensor<2x3xf32>
func.func @weights_become_panels(%a: tensor<1x3xf32>, %c: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                        affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<1x3xf32>, tensor<2x3xf32>) outs(%c : tensor<1x2xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

// CHECK-LABEL: @a_splat_stays_a_splat
// CHECK: arith.constant dense<5.000000e-01> : tensor<{{[0-9]+x768x[0-9]+}}xf32>
func.func @a_splat_stays_a_splat(%a: tensor<128x768xf32>, %c: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %w = arith.constant dense<0.5> : tensor<768x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                        affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<128x768xf32>, tensor<768x64xf32>) outs(%c : tensor<128x64xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<128x64xf32>
  return %r : tensor<128x64xf32>
}

// Recurrent networks store the weights of both directions together.
// CHECK-LABEL: @a_slice_of_a_constant_is_one
// CHECK: %[[PACKED:.*]] = arith.constant #onnxc.packed<dense<{{\[\[}}7.0{{.*}}> : tensor<2x3xf32>, {{.*}}> : tensor<1x3x8xf32>
// CHECK: linalg.unpack %[[PACKED]]
func.func @a_slice_of_a_constant_is_one(%a: tensor<1x3xf32>, %c: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %all = arith.constant dense<[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]]>
      : tensor<2x2x3xf32>
  %one = tensor.extract_slice %all[1, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<2x2x3xf32> to tensor<1x2x3xf32>
  %w = tensor.collapse_shape %one [[0, 1], [2]] : tensor<1x2x3xf32> into tensor<2x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                        affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<1x3xf32>, tensor<2x3xf32>) outs(%c : tensor<1x2xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

// The first step of a recurrent network may start from zeros: fusion leaves no
// contraction, and what is packed nobody could read.
// CHECK-LABEL: @by_a_number
// CHECK-NOT: linalg.unpack
func.func @by_a_number(%number: f32, %c: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]]>
      : tensor<2x8xf32>
  %empty = tensor.empty() : tensor<1x2xf32>
  %a = linalg.fill ins(%number : f32) outs(%empty : tensor<1x2xf32>) -> tensor<1x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                        affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<1x2xf32>, tensor<2x8xf32>) outs(%c : tensor<1x8xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x8xf32>
  return %r : tensor<1x8xf32>
}

// CHECK-LABEL: @other_operands_stay
// CHECK-NOT: linalg.unpack
func.func @other_operands_stay(%a: tensor<4x3xf32>, %w: tensor<3x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                        affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<4x3xf32>, tensor<3x8xf32>) outs(%c : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// The weights of ten channels are no whole panels of eight: they lie as channels do.
// CHECK-LABEL: @depthwise_weights_of_a_broken_panel
// CHECK: %[[W:.*]] = arith.constant {{.*}} : tensor<1x2x10xf32>
// CHECK-NOT: linalg.unpack
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}}, %[[W]] :
func.func @depthwise_weights_of_a_broken_panel(%x: tensor<1x8x9x10xf32>, %c: tensor<1x8x8x10xf32>)
    -> tensor<1x8x8x10xf32> {
  %w = arith.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]], [[7.0, 8.0]], [[9.0, 1.0]], [[2.0, 3.0]],
      [[4.0, 5.0]], [[6.0, 7.0]], [[8.0, 9.0]], [[1.5, 2.5]]]> : tensor<10x1x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, h, w, c, i, j) -> (n, h + i, w + j, c)>,
                                        affine_map<(n, h, w, c, i, j) -> (c, i, j)>,
                                        affine_map<(n, h, w, c, i, j) -> (n, h, w, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x8x9x10xf32>, tensor<10x1x2xf32>) outs(%c : tensor<1x8x8x10xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x8x8x10xf32>
  return %r : tensor<1x8x8x10xf32>
}

}
