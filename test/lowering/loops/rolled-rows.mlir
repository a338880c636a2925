// RUN: onnxc-opt --expand-vector-loops %s | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64-linux-gnu", cpu = "x86-64-v3", features = "",
    vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64,
    heap = true, has_f16 = true>} {

// Seven exponentials that LLVM would write out, and keep all results on the stack.
// CHECK-LABEL: @seven_long_steps
// CHECK: math.exp
// CHECK: loop_annotation = #{{.*}}
func.func @seven_long_steps(%x: memref<56xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<56xf32>) {
  ^bb0(%a: f32):
    %b = math.exp %a : f32
    linalg.yield %b : f32
  }
  return
}

// CHECK-LABEL: @two_long_steps
// CHECK: math.exp
// CHECK-NOT: loop_annotation
func.func @two_long_steps(%x: memref<16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<16xf32>) {
  ^bb0(%a: f32):
    %b = math.exp %a : f32
    linalg.yield %b : f32
  }
  return
}

// A block of vectors is as good as many of them.
// CHECK-LABEL: @many_blocks
// CHECK: math.exp
// CHECK: loop_annotation = #{{.*}}
func.func @many_blocks(%x: memref<512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<512xf32>) {
  ^bb0(%a: f32):
    %b = math.exp %a : f32
    linalg.yield %b : f32
  }
  return
}

// CHECK-LABEL: @few_blocks
// CHECK: math.absf
// CHECK-NOT: loop_annotation
func.func @few_blocks(%x: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<64xf32>) {
  ^bb0(%a: f32):
    %b = math.absf %a : f32
    linalg.yield %b : f32
  }
  return
}
}
