// RUN: onnxc-opt %s --expand-kernels | FileCheck %s

#panels = #onnxc.contraction<rows = 8, columns = 16, vector = 16, outer = panels>
#groups = #onnxc.contraction<rows = 8, columns = 16, vector = 16, outer = panels, group = 2>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 4096, l2_bytes = 8192, index_bits = 64, heap = true,
    has_f16 = true, memory_bytes_per_cycle = 3>} {

// Each of four tiles asks for a quarter of the next panel, four elements in a step: half a line in two.
// CHECK-LABEL: func private @k_kernel
// CHECK: scf.for {{.*}} to %c64{{[_0-9]*}} step %c2{{[_0-9]*}} iter_args
// CHECK-COUNT-16: vector.fma
// CHECK: memref.prefetch {{.*}} locality<2>
// CHECK-NOT: memref.prefetch
// CHECK: scf.yield
func.func @little(%A: memref<32x64xf32>, %W: memref<8x64x16xf32>, %C: memref<32x128xf32>) {
  onnxc.kernel #panels ins(%A, %W : memref<32x64xf32>, memref<8x64x16xf32>) outs(%C : memref<32x128xf32>) {
  ^bb0(%a: tensor<32x64xf32>, %w: tensor<8x64x16xf32>, %c: tensor<32x128xf32>):
    %e = tensor.empty() : tensor<64x128xf32>
    %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e
        : tensor<8x64x16xf32> -> tensor<64x128xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<32x64xf32>, tensor<64x128xf32>) outs(%c : tensor<32x128xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<32x128xf32>
    onnxc.yield %sum : tensor<32x128xf32>
  }
  return
}

// Whether rows are so many that half a line lasts for a step is known when they come. While L2 holds more rows than
// one tile has, they read one panel after the other, else the panels of a group.
// CHECK-LABEL: func private @k_kernel
// CHECK: %[[MANY:.*]] = arith.cmpi sgt, %[[ROWS:.*]], %c8{{[_0-9]*}}
// CHECK: %[[BYTES:.*]] = arith.muli %[[ROWS]], %c256{{[_0-9]*}}
// CHECK: %[[STAY:.*]] = arith.cmpi sle, %[[BYTES]], %c4096{{[_0-9]*}}
// CHECK: %[[ONE_BY_ONE:.*]] = arith.andi %[[MANY]], %[[STAY]]
// CHECK: %[[GROUP:.*]] = arith.select %[[ONE_BY_ONE]], %c1{{[_0-9]*}}, %c2{{[_0-9]*}}
// CHECK: scf.for {{.*}} to %c8{{[_0-9]*}} step %[[GROUP]]
// CHECK: %[[LITTLE:.*]] = arith.cmpi sle, %{{.*}}, %c8{{[_0-9]*}}
// CHECK: scf.if %[[LITTLE]]
// CHECK: scf.for {{.*}} step %c2{{[_0-9]*}} iter_args
// CHECK: memref.prefetch {{.*}} locality<2>
// CHECK: else
// CHECK: scf.for {{.*}} step %c1{{[_0-9]*}} iter_args
// CHECK: memref.prefetch {{.*}} locality<2>
func.func @rows_of_the_run(%A: memref<?x64xf32>, %W: memref<8x64x16xf32>, %C: memref<?x128xf32>) {
  onnxc.kernel #groups ins(%A, %W : memref<?x64xf32>, memref<8x64x16xf32>) outs(%C : memref<?x128xf32>) {
  ^bb0(%a: tensor<?x64xf32>, %w: tensor<8x64x16xf32>, %c: tensor<?x128xf32>):
    %e = tensor.empty() : tensor<64x128xf32>
    %b = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e
        : tensor<8x64x16xf32> -> tensor<64x128xf32>
    %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<?x64xf32>, tensor<64x128xf32>) outs(%c : tensor<?x128xf32>) {
    ^bb1(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<?x128xf32>
    onnxc.yield %sum : tensor<?x128xf32>
  }
  return
}
}
