// What a report says of single regions, from a text as stage memory leaves it.
// RUN: onnxc %s --stop-after=memory -o %t.mlir --report=%t.txt && FileCheck %s --input-file=%t.txt
// RUN: onnxc %s --stop-after=memory -o %t.mlir --report=%t.json && FileCheck %s --check-prefix=JSON --input-file=%t.json

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
module attributes {onnxc.stage = "memory", onnxc.target = #onnxc.target<triple = "x86_64-linux-gnu", cpu = "x86-64-v4",
    features = "", vector_bits = 512, vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576,
    index_bits = 64, heap = true, has_f16 = true, l3_bytes = 33554432>} {
  func.func @model(%x: memref<8x512xf32> {onnxc.name = "x"}, %d: memref<8x512xf64> {onnxc.name = "d"},
      %sum: memref<8x512xf32> {onnxc.name = "sum", onnxc.output = 0 : i64},
      %twice: memref<8x512xf32> {onnxc.name = "twice", onnxc.output = 1 : i64},
      %most: memref<8xf32> {onnxc.name = "most", onnxc.output = 2 : i64},
      %half: memref<8x512xf16> {onnxc.name = "half", onnxc.output = 3 : i64},
      %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
    // The bytes of both outputs: 16 kB in, 2 x 16 kB out.
    // CHECK: 4 regions of 3 nodes
    // CHECK: 0 sums  elementwise  {{.*}} 512  8.19 k  49 kB
    // JSON: "nodes": 3,
    // JSON: "bytes_read": 16384,
    // JSON-NEXT: "bytes_written": 32768,
    // JSON: "output": "8x512 f32, 8x512 f32",
    linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : memref<8x512xf32>) outs(%sum, %twice : memref<8x512xf32>, memref<8x512xf32>) {
    ^bb0(%in: f32, %a: f32, %b: f32):
      %one = arith.constant 1.0 : f32
      %0 = arith.addf %in, %one : f32
      %1 = arith.addf %in, %in : f32
      linalg.yield %0, %1 : f32, f32
    } loc("sums"("Add"))
    // The largest of products is no sum of them.
    // CHECK: 1 most  reduction
    linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x, %sum : memref<8x512xf32>, memref<8x512xf32>) outs(%most : memref<8xf32>) {
    ^bb0(%in: f32, %other: f32, %out: f32):
      %0 = arith.mulf %in, %other : f32
      %1 = arith.maximumf %out, %0 : f32
      linalg.yield %1 : f32
    } loc("most"("ReduceMax"))
    // CHECK: 2 most  contraction without tile
    linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x, %sum : memref<8x512xf32>, memref<8x512xf32>) outs(%most : memref<8xf32>) {
    ^bb0(%in: f32, %other: f32, %out: f32):
      %0 = arith.mulf %in, %other : f32
      %1 = arith.addf %out, %0 : f32
      linalg.yield %1 : f32
    } loc("most"("ReduceMax"))
    // The machine rounds f64 to 16 bits in no instruction.
    // CHECK: 3 half  movement  {{.*}} f16  0  0
    // CHECK: half (Cast): expand-vector-loops: each element is converted by a call
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%d : memref<8x512xf64>) outs(%half : memref<8x512xf16>) {
    ^bb0(%in: f64, %out: f16):
      %0 = arith.truncf %in : f64 to f16
      linalg.yield %0 : f16
    } loc("half"("Cast"))
    return
  }
}
