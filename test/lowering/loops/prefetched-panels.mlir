// RUN: onnxc-opt --expand-kernels --cse --split-input-file %s | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 4096, l2_bytes = 16384, index_bits = 64, heap = true,
    has_f16 = true>} {

// Four tiles of two rows read a panel of 64 rows of 32 elements: each asks for a slice of the next one, 8 elements in
// each of its steps.
// CHECK-LABEL: func.func private @k_
// CHECK: scf.for %[[PANEL:[^ ]*]] =
// CHECK: scf.for %[[ROW:[^ ]*]] =
// CHECK: scf.for %[[K:[^ ]*]] =
// CHECK: %[[TILE:.*]] = arith.floordivsi %[[ROW]], %c2
// CHECK: %[[SLICE:.*]] = arith.muli %[[TILE]], %c64
// CHECK: %[[STEP:.*]] = arith.addi %[[SLICE]], %[[K]]
// CHECK: %[[PLACE:.*]] = arith.muli %[[STEP]], %c8
// CHECK: %[[NEXT:.*]] = arith.addi %[[PANEL]], %c1
// CHECK: %[[BEGIN:.*]] = arith.muli %c2048{{.*}}, %[[NEXT]]
// CHECK: %[[AT:.*]] = arith.addi %[[BEGIN]], %[[PLACE]]
// CHECK: memref.prefetch {{.*}}[%[[AT]]], read, locality<3>
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @panels(%A: memref<8x64xf32>, %W: memref<2x64x32xf32>, %C: memref<8x64xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 2, columns = 32, vector = 8, outer = panels>
      ins(%A, %W : memref<8x64xf32>, memref<2x64x32xf32>) outs(%C : memref<8x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>, %w: tensor<2x64x32xf32>, %c: tensor<8x64xf32>):
    %e = tensor.empty() : tensor<64x64xf32>
    %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [32] into %e
        : tensor<2x64x32xf32> -> tensor<64x64xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<8x64xf32>, tensor<64x64xf32>) outs(%c : tensor<8x64xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<8x64xf32>
    onnxc.yield %sum : tensor<8x64xf32>
  }
  return
}
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 4096, l2_bytes = 16384, index_bits = 64, heap = true,
    has_f16 = true>} {

// Of rows of unknown number each tile asks for the part of the next panel that its rows are of all. One that is all asks
// for what it reads itself a little later, here where the next panel begins, and for whole lines in either case. A single
// row takes both panels at once, when it is at the first of them.
// CHECK-LABEL: module attributes
// CHECK: func.func private @k_
// CHECK: %[[ROWS:.*]] = memref.dim
// CHECK: scf.for %[[PANEL:[^ ]*]] = %c0 to %c2 step %c1 {
// CHECK: %[[IS_ONE:.*]] = arith.cmpi eq, %[[ROWS]], %c1
// CHECK: scf.if %[[IS_ONE]] {
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[PANEL]],
// CHECK: scf.if %[[IS_FIRST]] {
// CHECK: scf.for {{.*}} -> (vector<8xf32>{{(, vector<8xf32>)+}})
// CHECK-COUNT-4: memref.prefetch {{.*}} locality<3>
// CHECK: } else {
// CHECK: arith.ceildivui %c64, %[[ROWS]]
// CHECK: %[[SLICE:.*]] = arith.ceildivui %{{.*}}, %[[ROWS]]
// CHECK: %[[IS_ALL:.*]] = arith.cmpi eq, %[[ROWS]], %c2
// CHECK: arith.select %[[IS_ALL]], %c0, %[[SLICE]]
// CHECK-COUNT-2: memref.prefetch {{.*}} locality<3>
// CHECK: arith.ceildivui %c32, %[[ROWS]]
// CHECK: %[[SLICE:.*]] = arith.ceildivui %{{.*}}, %[[ROWS]]
// CHECK: arith.select %[[IS_ONE]], %c0, %[[SLICE]]
// CHECK-COUNT-2: memref.prefetch {{.*}} locality<3>
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @rows_of_the_run(%A: memref<?x64xf32>, %W: memref<2x64x32xf32>, %C: memref<?x64xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 2, columns = 32, vector = 8, outer = panels>
      ins(%A, %W : memref<?x64xf32>, memref<2x64x32xf32>) outs(%C : memref<?x64xf32>) {
  ^bb0(%a: tensor<?x64xf32>, %w: tensor<2x64x32xf32>, %c: tensor<?x64xf32>):
    %e = tensor.empty() : tensor<64x64xf32>
    %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [32] into %e
        : tensor<2x64x32xf32> -> tensor<64x64xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<?x64xf32>, tensor<64x64xf32>) outs(%c : tensor<?x64xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<?x64xf32>
    onnxc.yield %sum : tensor<?x64xf32>
  }
  return
}
}

// -----

#a = affine_map<(b, m, n, k) -> (b, m, k)>
#b = affine_map<(b, m, n, k) -> (k, n)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 4096, l2_bytes = 16384, l2_bytes_per_cycle = 32, index_bits = 64, heap = true,
    has_f16 = true>} {

// Sequences of unknown number may be few: both lines of a step are asked for. A tile that is all rows asks for the first
// line of its own panel again and again.
// CHECK-LABEL: func.func @sequences
// CHECK: func.func private @k_
// CHECK: scf.for {{.*}} vector<8xf32>) {
// CHECK: %[[ISALL:.*]] = arith.cmpi eq, %{{.*}}, %c1
// CHECK: %[[FIRST:.*]] = arith.select %[[ISALL]], %c-2048, %
// CHECK: %[[PACE:.*]] = arith.select %[[ISALL]], %c0, %
// CHECK: %[[STEP:.*]] = arith.muli %{{.*}}, %[[PACE]]
// CHECK: arith.addi %[[FIRST]], %[[STEP]]
// CHECK: memref.prefetch
// CHECK-NOT: scf.
// CHECK: memref.prefetch
func.func @sequences(%A: memref<?x?x64xf32>, %W: memref<2x64x32xf32>, %C: memref<?x?x64xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 2, columns = 32, vector = 8, outer = panels>
      ins(%A, %W : memref<?x?x64xf32>, memref<2x64x32xf32>) outs(%C : memref<?x?x64xf32>) {
  ^bb0(%a: tensor<?x?x64xf32>, %w: tensor<2x64x32xf32>, %c: tensor<?x?x64xf32>):
    %e = tensor.empty() : tensor<64x64xf32>
    %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [32] into %e
        : tensor<2x64x32xf32> -> tensor<64x64xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<?x?x64xf32>, tensor<64x64xf32>) outs(%c : tensor<?x?x64xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<?x?x64xf32>
    onnxc.yield %sum : tensor<?x?x64xf32>
  }
  return
}
}

// -----

#a = affine_map<(b, m, n, k) -> (b, m, k)>
#b = affine_map<(b, m, n, k) -> (k, n)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 4096, l2_bytes = 16384, l2_bytes_per_cycle = 32, index_bits = 64, heap = true,
    has_f16 = true>} {

// The next panel lies a group of two behind.
// CHECK-LABEL: func.func @groups
// CHECK: func.func private @k_
// CHECK: scf.for {{.*}} vector<8xf32>) {
// CHECK: %[[ISALL:.*]] = arith.cmpi eq, %{{.*}}, %c1
// CHECK: %[[FIRST:.*]] = arith.select %[[ISALL]], %c-4096, %
// CHECK: %[[PACE:.*]] = arith.select %[[ISALL]], %c0, %
// CHECK: %[[STEP:.*]] = arith.muli %{{.*}}, %[[PACE]]
// CHECK: arith.addi %[[FIRST]], %[[STEP]]
// CHECK: memref.prefetch
// CHECK-NOT: scf.
// CHECK: memref.prefetch
func.func @groups(%A: memref<?x?x64xf32>, %W: memref<4x64x32xf32>, %C: memref<?x?x128xf32>) {
  onnxc.kernel #onnxc.contraction<rows = 2, columns = 32, vector = 8, outer = panels, group = 2>
      ins(%A, %W : memref<?x?x64xf32>, memref<4x64x32xf32>) outs(%C : memref<?x?x128xf32>) {
  ^bb0(%a: tensor<?x?x64xf32>, %w: tensor<4x64x32xf32>, %c: tensor<?x?x128xf32>):
    %e = tensor.empty() : tensor<64x128xf32>
    %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [32] into %e
        : tensor<4x64x32xf32> -> tensor<64x128xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<?x?x64xf32>, tensor<64x128xf32>) outs(%c : tensor<?x?x128xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<?x?x128xf32>
    onnxc.yield %sum : tensor<?x?x128xf32>
  }
  return
}
}
