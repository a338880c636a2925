// RUN: onnxc-opt --expand-kernels --cse --split-input-file %s | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

#slow = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256, vector_registers = 16,
    fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true,
    l3_bytes = 1048576, l2_bytes_per_cycle = 32>

// A model whose weights stay in half of L3 asks for none of them.
// CHECK-LABEL: module attributes
// CHECK: func.func private @k_
// CHECK-NOT: memref.prefetch
// CHECK: return
module attributes {onnxc.target = #slow, onnxc.weights = [#onnxc.weight<0, dense<0.0> : tensor<131072xf32>>]} {
  func.func @near(%A: memref<1x640xf32>, %W: memref<1x640x64xf32>, %C: memref<1x64xf32>) {
    onnxc.kernel #onnxc.contraction<rows = 1, columns = 64, vector = 8, outer = panels>
        ins(%A, %W : memref<1x640xf32>, memref<1x640x64xf32>) outs(%C : memref<1x64xf32>) {
    ^bb0(%a: tensor<1x640xf32>, %w: tensor<1x640x64xf32>, %c: tensor<1x64xf32>):
      %e = tensor.empty() : tensor<640x64xf32>
      %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [64] into %e
          : tensor<1x640x64xf32> -> tensor<640x64xf32>
      %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<1x640xf32>, tensor<640x64xf32>) outs(%c : tensor<1x64xf32>) {
      ^bb1(%x: f32, %y: f32, %s: f32):
        %p = arith.mulf %x, %y : f32
        %t = arith.addf %s, %p : f32
        linalg.yield %t : f32
      } -> tensor<1x64xf32>
      onnxc.yield %sum : tensor<1x64xf32>
    }
    return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

#slow = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256, vector_registers = 16,
    fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true,
    l3_bytes = 1048576, l2_bytes_per_cycle = 32>

// With more weights than that, one line in four, 64 rows of 256 bytes ahead.
// CHECK-LABEL: module attributes
// CHECK: func.func private @k_
// CHECK: scf.for %[[K:[a-z0-9]+]] = {{.*}} iter_args
// CHECK: %[[AHEAD:.*]] = arith.addi %[[K]], %c64
// CHECK: memref.prefetch {{.*}} locality<2>
// CHECK-NOT: memref.prefetch
// CHECK: return
module attributes {onnxc.target = #slow, onnxc.weights = [#onnxc.weight<0, dense<0.0> : tensor<131073xf32>>]} {
  func.func @far(%A: memref<1x640xf32>, %W: memref<1x640x64xf32>, %C: memref<1x64xf32>) {
    onnxc.kernel #onnxc.contraction<rows = 1, columns = 64, vector = 8, outer = panels>
        ins(%A, %W : memref<1x640xf32>, memref<1x640x64xf32>) outs(%C : memref<1x64xf32>) {
    ^bb0(%a: tensor<1x640xf32>, %w: tensor<1x640x64xf32>, %c: tensor<1x64xf32>):
      %e = tensor.empty() : tensor<640x64xf32>
      %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [64] into %e
          : tensor<1x640x64xf32> -> tensor<640x64xf32>
      %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<1x640xf32>, tensor<640x64xf32>) outs(%c : tensor<1x64xf32>) {
      ^bb1(%x: f32, %y: f32, %s: f32):
        %p = arith.mulf %x, %y : f32
        %t = arith.addf %s, %p : f32
        linalg.yield %t : f32
      } -> tensor<1x64xf32>
      onnxc.yield %sum : tensor<1x64xf32>
    }
    return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

#slow = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256, vector_registers = 16,
    fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true,
    l3_bytes = 1048576, l2_bytes_per_cycle = 32>

// Five rows keep the core busy with a line for so long that it is asked for every one, 128 rows of 64 bytes ahead.
// CHECK-LABEL: module attributes
// CHECK: func.func private @k_
// CHECK: scf.for %[[K:[a-z0-9]+]] = {{.*}} iter_args
// CHECK: %[[AHEAD:.*]] = arith.addi %[[K]], %c128
// CHECK: memref.prefetch {{.*}} locality<2>
// CHECK-NOT: memref.prefetch
// CHECK: return
module attributes {onnxc.target = #slow, onnxc.weights = [#onnxc.weight<0, dense<0.0> : tensor<131073xf32>>]} {
  func.func @far_for_five_rows(%A: memref<5x640xf32>, %W: memref<4x640x16xf32>, %C: memref<5x64xf32>) {
    onnxc.kernel #onnxc.contraction<rows = 5, columns = 16, vector = 8, outer = panels>
        ins(%A, %W : memref<5x640xf32>, memref<4x640x16xf32>) outs(%C : memref<5x64xf32>) {
    ^bb0(%a: tensor<5x640xf32>, %w: tensor<4x640x16xf32>, %c: tensor<5x64xf32>):
      %e = tensor.empty() : tensor<640x64xf32>
      %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e
          : tensor<4x640x16xf32> -> tensor<640x64xf32>
      %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<5x640xf32>, tensor<640x64xf32>) outs(%c : tensor<5x64xf32>) {
      ^bb1(%x: f32, %y: f32, %s: f32):
        %p = arith.mulf %x, %y : f32
        %t = arith.addf %s, %p : f32
        linalg.yield %t : f32
      } -> tensor<5x64xf32>
      onnxc.yield %sum : tensor<5x64xf32>
    }
    return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

#slow = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256, vector_registers = 16,
    fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true,
    l3_bytes = 1048576, l2_bytes_per_cycle = 32, l3_bytes_per_cycle = 16>

// So it is for two rows of a tile that reads one line in a step, where a core sees far ahead by itself.
// CHECK-LABEL: module attributes
// CHECK: func.func private @k_
// CHECK: scf.for %[[K:[a-z0-9]+]] = {{.*}} iter_args
// CHECK: %[[AHEAD:.*]] = arith.addi %[[K]], %c128
// CHECK: memref.prefetch {{.*}} locality<2>
// CHECK-NOT: memref.prefetch
// CHECK: return
module attributes {onnxc.target = #slow, onnxc.weights = [#onnxc.weight<0, dense<0.0> : tensor<131073xf32>>]} {
  func.func @far_for_two_rows(%A: memref<2x640xf32>, %W: memref<4x640x16xf32>, %C: memref<2x64xf32>) {
    onnxc.kernel #onnxc.contraction<rows = 2, columns = 16, vector = 8, outer = panels>
        ins(%A, %W : memref<2x640xf32>, memref<4x640x16xf32>) outs(%C : memref<2x64xf32>) {
    ^bb0(%a: tensor<2x640xf32>, %w: tensor<4x640x16xf32>, %c: tensor<2x64xf32>):
      %e = tensor.empty() : tensor<640x64xf32>
      %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e
          : tensor<4x640x16xf32> -> tensor<640x64xf32>
      %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<2x640xf32>, tensor<640x64xf32>) outs(%c : tensor<2x64xf32>) {
      ^bb1(%x: f32, %y: f32, %s: f32):
        %p = arith.mulf %x, %y : f32
        %t = arith.addf %s, %p : f32
        linalg.yield %t : f32
      } -> tensor<2x64xf32>
      onnxc.yield %sum : tensor<2x64xf32>
    }
    return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

#fast = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256, vector_registers = 16,
    fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true,
    l3_bytes = 1048576, l2_bytes_per_cycle = 64, memory_bytes_per_cycle = 16>

// A first cache that takes a line per cycle is asked for all of them, further ahead for more rows: 192 of 64 bytes for six.
// CHECK-LABEL: module attributes
// CHECK: func.func private @k_
// CHECK: scf.for %[[K:[a-z0-9]+]] = {{.*}} iter_args
// CHECK: %[[AHEAD:.*]] = arith.addi %[[K]], %c192
// CHECK: memref.prefetch {{.*}} locality<3>
// CHECK-NOT: memref.prefetch
// CHECK: return
module attributes {onnxc.target = #fast, onnxc.weights = [#onnxc.weight<0, dense<0.0> : tensor<131073xf32>>]} {
  func.func @far_for_six_rows(%A: memref<6x640xf32>, %W: memref<4x640x16xf32>, %C: memref<6x64xf32>) {
    onnxc.kernel #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels>
        ins(%A, %W : memref<6x640xf32>, memref<4x640x16xf32>) outs(%C : memref<6x64xf32>) {
    ^bb0(%a: tensor<6x640xf32>, %w: tensor<4x640x16xf32>, %c: tensor<6x64xf32>):
      %e = tensor.empty() : tensor<640x64xf32>
      %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e
          : tensor<4x640x16xf32> -> tensor<640x64xf32>
      %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<6x640xf32>, tensor<640x64xf32>) outs(%c : tensor<6x64xf32>) {
      ^bb1(%x: f32, %y: f32, %s: f32):
        %p = arith.mulf %x, %y : f32
        %t = arith.addf %s, %p : f32
        linalg.yield %t : f32
      } -> tensor<6x64xf32>
      onnxc.yield %sum : tensor<6x64xf32>
    }
    return
  }
}
