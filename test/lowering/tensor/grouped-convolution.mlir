// RUN: onnxc-opt %s --onnx-to-linalg --propagate-layouts --pack-layouts --fuse-elementwise --form-kernels | FileCheck %s
// RUN: onnxc-opt %s --onnx-to-linalg --propagate-layouts --pack-layouts --fuse-elementwise --form-kernels \
// RUN:     --bufferize --expand-kernels | FileCheck %s --check-prefix=CODE

// Two groups of four channels fill a vector: each lane multiplies one channel of its group at a time.
// CHECK-DAG: #[[MAPS:.*]] = affine_map<{{.*}} -> (d0, d1 + d4, d2 + d5, d3 floordiv 4)>
// CHECK-DAG: #[[IMAGE:.*]] = affine_map<{{.*}} -> (d0, d1 + d4, d2 + d5, (d3 floordiv 4) * 4 + d6)>
module attributes {onnxc.target = #onnxc.target<triple = "x86_64-linux-gnu", cpu = "x86-64-v3", features = "",
    vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64,
    heap = true, has_f16 = true>} {

// CHECK-LABEL: @groups_share_vectors
// CHECK: onnxc.kernel
// CHECK: linalg.generic {indexing_maps = [#[[IMAGE]],
// CODE-LABEL: func.func private @k_
// CODE-DAG: vector.shuffle {{.*}} [0, 0, 0, 0, 4, 4, 4, 4] : vector<8xf32>
// CODE-DAG: vector.shuffle {{.*}} [3, 3, 3, 3, 7, 7, 7, 7] : vector<8xf32>
// CODE: vector.fma {{.*}} : vector<8xf32>
func.func @groups_share_vectors(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x6x6xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<16x4x3x3xf32>}> : () -> tensor<16x4x3x3xf32>
  %y = "onnx.Conv"(%x, %w) {group = 4 : i64} : (tensor<1x16x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<1x16x6x6xf32>
  return %y : tensor<1x16x6x6xf32>
}

// Four lanes multiply the same channel: two channels are read for a vector of eight maps.
// CHECK-LABEL: @one_channel_makes_four_maps
// CHECK: onnxc.kernel
// CHECK: linalg.generic {indexing_maps = [#[[MAPS]],
// CODE-LABEL: func.func private @k_
// CODE: vector.load {{.*}} vector<2xf32>
// CODE: vector.shuffle {{.*}} [0, 0, 0, 0, 1, 1, 1, 1] : vector<2xf32>
// CODE: vector.fma {{.*}} : vector<8xf32>
func.func @one_channel_makes_four_maps(%x: tensor<1x6x8x8xf32>) -> tensor<1x24x6x6xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<24x1x3x3xf32>}> : () -> tensor<24x1x3x3xf32>
  %y = "onnx.Conv"(%x, %w) {group = 6 : i64} : (tensor<1x6x8x8xf32>, tensor<24x1x3x3xf32>) -> tensor<1x24x6x6xf32>
  return %y : tensor<1x24x6x6xf32>
}

// Three channels do not fit a vector of eight.
// CHECK-LABEL: @groups_that_do_not_fill_a_vector
// CHECK-NOT: floordiv
// CHECK: return
func.func @groups_that_do_not_fill_a_vector(%x: tensor<1x12x8x8xf32>) -> tensor<1x12x6x6xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<12x3x3x3xf32>}> : () -> tensor<12x3x3x3xf32>
  %y = "onnx.Conv"(%x, %w) {group = 4 : i64} : (tensor<1x12x8x8xf32>, tensor<12x3x3x3xf32>) -> tensor<1x12x6x6xf32>
  return %y : tensor<1x12x6x6xf32>
}
}
