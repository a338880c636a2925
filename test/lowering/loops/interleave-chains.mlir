// RUN: onnxc-opt %s --interleave-chains --split-input-file | FileCheck %s

// Chains that follow each other take turns, three where registers are few; nothing passes what is written.
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {
// CHECK-LABEL: @chains_take_turns
// CHECK-COUNT-2: vector.load
// CHECK: math.sqrt %[[A:.*]] :
// CHECK-NEXT: math.sqrt %[[B:.*]] :
// CHECK-NEXT: math.absf
// CHECK-NEXT: math.absf
// CHECK-NEXT: math.sqrt
// CHECK: vector.store
// CHECK-NEXT: vector.store
func.func @chains_take_turns(%m: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %a0 = vector.load %m[%c0] : memref<64xf32>, vector<8xf32>
  %a1 = math.sqrt %a0 : vector<8xf32>
  %a2 = math.absf %a1 : vector<8xf32>
  %a3 = math.sqrt %a2 : vector<8xf32>
  %a4 = math.absf %a3 : vector<8xf32>
  %a5 = math.sqrt %a4 : vector<8xf32>
  %a6 = math.absf %a5 : vector<8xf32>
  %a7 = math.sqrt %a6 : vector<8xf32>
  %a8 = math.absf %a7 : vector<8xf32>
  %a9 = math.sqrt %a8 : vector<8xf32>
  %a10 = math.absf %a9 : vector<8xf32>
  %a11 = math.sqrt %a10 : vector<8xf32>
  %a12 = math.absf %a11 : vector<8xf32>
  %b0 = vector.load %m[%c8] : memref<64xf32>, vector<8xf32>
  %b1 = math.sqrt %b0 : vector<8xf32>
  %b2 = math.absf %b1 : vector<8xf32>
  %b3 = math.sqrt %b2 : vector<8xf32>
  %b4 = math.absf %b3 : vector<8xf32>
  %b5 = math.sqrt %b4 : vector<8xf32>
  %b6 = math.absf %b5 : vector<8xf32>
  %b7 = math.sqrt %b6 : vector<8xf32>
  %b8 = math.absf %b7 : vector<8xf32>
  %b9 = math.sqrt %b8 : vector<8xf32>
  %b10 = math.absf %b9 : vector<8xf32>
  %b11 = math.sqrt %b10 : vector<8xf32>
  %b12 = math.absf %b11 : vector<8xf32>
  vector.store %a12, %m[%c0] : memref<64xf32>, vector<8xf32>
  vector.store %b12, %m[%c8] : memref<64xf32>, vector<8xf32>
  return
}

// Short chains hide behind each other as they are.
// CHECK-LABEL: @short_chains_stay
// CHECK: %[[S:.*]] = arith.addf %arg0, %arg2
// CHECK-NEXT: %[[T:.*]] = arith.mulf %[[S]], %arg2
// CHECK-NEXT: %[[U:.*]] = arith.addf %arg1, %arg2
// CHECK-NEXT: arith.mulf %[[U]], %arg2
func.func @short_chains_stay(%x: vector<8xf32>, %y: vector<8xf32>, %z: vector<8xf32>)
    -> (vector<8xf32>, vector<8xf32>) {
  %s = arith.addf %x, %z : vector<8xf32>
  %t = arith.mulf %s, %z : vector<8xf32>
  %u = arith.addf %y, %z : vector<8xf32>
  %v = arith.mulf %u, %z : vector<8xf32>
  return %t, %v : vector<8xf32>, vector<8xf32>
}
}
