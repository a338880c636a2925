// RUN: onnxc-opt %s --expand-kernels --split-input-file | FileCheck %s

// LLVM is not to unroll the loop over tiles, nor the sums of many rows of one vector.
// CHECK: #[[UNROLL:.*]] = #llvm.loop_unroll<disable = true>
// CHECK: #[[ROLLED:.*]] = #llvm.loop_annotation<unroll = #[[UNROLL]]>
// CHECK-LABEL: func.func private @k_
// CHECK-COUNT-14: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK-NEXT: } {loop_annotation = #[[ROLLED]]}
// CHECK-COUNT-14: vector.store
// CHECK-NEXT: } {loop_annotation = #[[ROLLED]]}
#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
func.func @one_vector(%A: memref<28x64xf32>, %B: memref<64x8xf32>, %C: memref<28x8xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 14, columns = 8, vector = 8, outer = pixels>
      ins(%A, %B : memref<28x64xf32>, memref<64x8xf32>) outs(%C : memref<28x8xf32>) {
  ^bb0(%a: tensor<28x64xf32>, %b: tensor<64x8xf32>, %c: tensor<28x8xf32>):
    %zero = arith.constant 0.0 : f32
    %fill = linalg.fill ins(%zero : f32) outs(%c : tensor<28x8xf32>) -> tensor<28x8xf32>
    %p = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<28x64xf32>, tensor<64x8xf32>) outs(%fill : tensor<28x8xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %m = arith.mulf %x, %y : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
    } -> tensor<28x8xf32>
    onnxc.yield %p : tensor<28x8xf32>
  }
  return
}

// -----

// Sums of two vectors: as LLVM likes.
// CHECK-LABEL: func.func private @k_
// CHECK-COUNT-12: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK-NEXT: {{^ *}$}}
// CHECK-COUNT-12: vector.store
// CHECK-NEXT: } {loop_annotation = #{{.*}}}
#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
func.func @two_vectors(%A: memref<24x64xf32>, %B: memref<64x16xf32>, %C: memref<24x16xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = pixels>
      ins(%A, %B : memref<24x64xf32>, memref<64x16xf32>) outs(%C : memref<24x16xf32>) {
  ^bb0(%a: tensor<24x64xf32>, %b: tensor<64x16xf32>, %c: tensor<24x16xf32>):
    %zero = arith.constant 0.0 : f32
    %fill = linalg.fill ins(%zero : f32) outs(%c : tensor<24x16xf32>) -> tensor<24x16xf32>
    %p = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<24x64xf32>, tensor<64x16xf32>) outs(%fill : tensor<24x16xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %m = arith.mulf %x, %y : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
    } -> tensor<24x16xf32>
    onnxc.yield %p : tensor<24x16xf32>
  }
  return
}

// -----

// A single channel has no loop: the one around it is the innermost.
// CHECK: #[[UNROLL:.*]] = #llvm.loop_unroll<disable = true>
// CHECK: #[[ROLLED:.*]] = #llvm.loop_annotation<unroll = #[[UNROLL]]>
// CHECK-LABEL: func.func private @k_
// CHECK-COUNT-12: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK-NEXT: } {loop_annotation = #[[ROLLED]]}
#left = affine_map<(m, n, k, c) -> (m, k, c)>
#right = affine_map<(m, n, k, c) -> (k, c, n)>
#result = affine_map<(m, n, k, c) -> (m, n)>
func.func @one_channel(%A: memref<24x64x1xf32>, %B: memref<64x1x8xf32>, %C: memref<24x8xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 12, columns = 8, vector = 8, outer = pixels>
      ins(%A, %B : memref<24x64x1xf32>, memref<64x1x8xf32>) outs(%C : memref<24x8xf32>) {
  ^bb0(%a: tensor<24x64x1xf32>, %b: tensor<64x1x8xf32>, %c: tensor<24x8xf32>):
    %zero = arith.constant 0.0 : f32
    %fill = linalg.fill ins(%zero : f32) outs(%c : tensor<24x8xf32>) -> tensor<24x8xf32>
    %p = linalg.generic {indexing_maps = [#left, #right, #result],
                         iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%a, %b : tensor<24x64x1xf32>, tensor<64x1x8xf32>) outs(%fill : tensor<24x8xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %m = arith.mulf %x, %y : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
    } -> tensor<24x8xf32>
    onnxc.yield %p : tensor<24x8xf32>
  }
  return
}
