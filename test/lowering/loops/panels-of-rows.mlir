// RUN: onnxc-opt --expand-vector-loops --canonicalize %s | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {
// Columns go past eight rows, then past the next eight, then past what is left.
// The sums lie in memory between, so that all rows of a column are one step.
// CHECK-LABEL: @columns
// CHECK: scf.for %{{.*}} = %c0 to %c1024 step %c128 {
// CHECK: scf.for %{{.*}} = %c0 to %c96 step %c8
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c32
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1 {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c32
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK: } {onnxc.step}
// CHECK-NEXT: return
func.func @columns(%x: memref<100x1024xf32>, %y: memref<1024xf32>) {
  linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<100x1024xf32>) outs(%y : memref<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  }
  return
}

// Rows and columns that the run knows.
// CHECK-LABEL: @symbolic
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c2048
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c8
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c32
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1
// CHECK: } {onnxc.step}
// CHECK-NEXT: return
func.func @symbolic(%x: memref<?x?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  }
  return
}

// Sums that stay in registers, and few rows, go in one.
// CHECK-LABEL: @block
// CHECK-NOT: step %c8
// CHECK: scf.for %{{.*}} = %c0 to %c100 step %c1
func.func @block(%x: memref<100x32xf32>, %y: memref<32xf32>) {
  linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<100x32xf32>) outs(%y : memref<32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: @few_rows
// CHECK-NOT: step %c8
// CHECK: scf.for %{{.*}} = %c0 to %c1024 step %c32
// CHECK: scf.for %{{.*}} = %c0 to %c20 step %c1
func.func @few_rows(%x: memref<20x1024xf32>, %y: memref<1024xf32>) {
  linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<20x1024xf32>) outs(%y : memref<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  }
  return
}
}
