// RUN: onnxc-opt --expand-vector-loops --canonicalize %s | FileCheck %s

#rows = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#kept = affine_map<(d0, d1, d2) -> (d1)>

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {
// The rows of a result lie 256 KiB apart: those of 32 results are read as they lie, before what is added to them.
// CHECK-LABEL: @runs
// CHECK: scf.for %{{.*}} = %c0 to %c512 step %c32 {
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c1 {
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c1 {
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c32 {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
// CHECK: %[[OLD:.*]] = memref.load
// CHECK: arith.addf %[[OLD]], %
// CHECK: } {onnxc.step}
// CHECK-NEXT: return
func.func @runs(%x: memref<64x512x128xf32>, %y: memref<512xf32>) {
  linalg.generic {indexing_maps = [#rows, #kept], iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%x : memref<64x512x128xf32>) outs(%y : memref<512xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  }
  return
}

// Rows of 16 KiB are runs themselves.
// CHECK-LABEL: @long_rows
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c1 {
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1 {{.*}} -> (vector<8xf32>
func.func @long_rows(%x: memref<8x32x4096xf32>, %y: memref<32xf32>) {
  linalg.generic {indexing_maps = [#rows, #kept], iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%x : memref<8x32x4096xf32>) outs(%y : memref<32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  }
  return
}
}
