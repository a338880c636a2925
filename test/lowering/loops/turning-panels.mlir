// RUN: onnxc-opt %s --split-input-file --expand-kernels | FileCheck %s

#panels = #onnxc.contraction<rows = 1, columns = 16, vector = 8, outer = panels>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 4096, l2_bytes = 16384, index_bits = 64, heap = true,
    has_f16 = true>} {

// A loop reads 16 KiB of weights again and again, as much as L2 holds: every other time from the last panel on.
// CHECK-LABEL: @weights_of_a_loop
// CHECK: scf.for %[[STEP:.*]] =
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[STEP]] : index to i32
// CHECK: %[[ODD:.*]] = arith.trunci %[[NUMBER]] : i32 to i1
// CHECK: call @k_{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}, %[[ODD]])
func.func @weights_of_a_loop(%A: memref<1x64xf32>, %W: memref<4x64x16xf32>, %C: memref<1x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    onnxc.kernel #panels ins(%A, %W : memref<1x64xf32>, memref<4x64x16xf32>) outs(%C : memref<1x64xf32>) {
    ^bb0(%a: tensor<1x64xf32>, %w: tensor<4x64x16xf32>, %c: tensor<1x64xf32>):
      %e = tensor.empty() : tensor<64x64xf32>
      %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e
          : tensor<4x64x16xf32> -> tensor<64x64xf32>
      %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<1x64xf32>, tensor<64x64xf32>) outs(%c : tensor<1x64xf32>) {
      ^bb1(%x: f32, %y: f32, %s: f32):
        %p = arith.mulf %x, %y : f32
        %t = arith.addf %s, %p : f32
        linalg.yield %t : f32
      } -> tensor<1x64xf32>
      onnxc.yield %sum : tensor<1x64xf32>
    }
  }
  return
}

// Twelve KiB of them stay there anyway.
// CHECK-LABEL: @weights_that_stay
// CHECK: call @k_{{.*}}(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) :
func.func @weights_that_stay(%A: memref<1x64xf32>, %W: memref<3x64x16xf32>, %C: memref<1x48xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    onnxc.kernel #panels ins(%A, %W : memref<1x64xf32>, memref<3x64x16xf32>) outs(%C : memref<1x48xf32>) {
    ^bb0(%a: tensor<1x64xf32>, %w: tensor<3x64x16xf32>, %c: tensor<1x48xf32>):
      %e = tensor.empty() : tensor<64x48xf32>
      %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e
          : tensor<3x64x16xf32> -> tensor<64x48xf32>
      %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<1x64xf32>, tensor<64x48xf32>) outs(%c : tensor<1x48xf32>) {
      ^bb1(%x: f32, %y: f32, %s: f32):
        %p = arith.mulf %x, %y : f32
        %t = arith.addf %s, %p : f32
        linalg.yield %t : f32
      } -> tensor<1x48xf32>
      onnxc.yield %sum : tensor<1x48xf32>
    }
  }
  return
}

// Once from the first panel on or once from the last.
// CHECK-LABEL: func.func private @k_
// CHECK-SAME: %[[BACKWARDS:[a-z0-9]*]]: i1)
// CHECK: scf.for %[[AT:.*]] =
// CHECK: arith.select %[[BACKWARDS]], %{{.*}}, %[[AT]] : index
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 4096, l2_bytes = 16384, index_bits = 64, heap = true,
    has_f16 = true, memory_bytes_per_cycle = 3>} {

// Where memory is far away, groups of panels are turned round, too, and so are the panels of each.
// CHECK-LABEL: @groups_of_a_loop
// CHECK: call @k_{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : ({{.*}}, i1) -> ()
// CHECK: func.func private @k_
// CHECK-SAME: %[[BACKWARDS:[a-z0-9]*]]: i1)
// CHECK: scf.for %[[AT:.*]] = %c0{{.*}} to %c5{{.*}} step %c2
// CHECK: %[[FIRST:.*]] = arith.select %[[BACKWARDS]], %{{.*}}, %[[AT]] : index
// CHECK: %[[LAST:.*]] = arith.select %[[BACKWARDS]]
// CHECK: scf.for %[[PANEL:.*]] = %[[FIRST]] to %[[LAST]]
// CHECK: arith.select %[[BACKWARDS]], %{{.*}}, %[[PANEL]] : index
func.func @groups_of_a_loop(%A: memref<?x64xf32>, %W: memref<5x64x16xf32>, %C: memref<?x80xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    onnxc.kernel #onnxc.contraction<rows = 2, columns = 16, vector = 8, outer = panels, group = 2>
        ins(%A, %W : memref<?x64xf32>, memref<5x64x16xf32>) outs(%C : memref<?x80xf32>) {
    ^bb0(%a: tensor<?x64xf32>, %w: tensor<5x64x16xf32>, %c: tensor<?x80xf32>):
      %e = tensor.empty() : tensor<64x80xf32>
      %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e
          : tensor<5x64x16xf32> -> tensor<64x80xf32>
      %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<?x64xf32>, tensor<64x80xf32>) outs(%c : tensor<?x80xf32>) {
      ^bb1(%x: f32, %y: f32, %s: f32):
        %p = arith.mulf %x, %y : f32
        %t = arith.addf %s, %p : f32
        linalg.yield %t : f32
      } -> tensor<?x80xf32>
      onnxc.yield %sum : tensor<?x80xf32>
    }
  }
  return
}
}
