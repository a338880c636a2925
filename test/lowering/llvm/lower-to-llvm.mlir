// RUN: onnxc-opt %s --lower-to-llvm --split-input-file --verify-diagnostics | FileCheck %s

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "",
  vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768,
  l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true>

module attributes {onnxc.target = #target} {
  // CHECK-LABEL: llvm.func @memrefs_become_pointers
  // CHECK-NOT: llvm.insertvalue
  // CHECK: llvm.load {{.*}} : !llvm.ptr -> f32
  func.func private @memrefs_become_pointers(%x: memref<4xf32>, %i: index) -> f32 {
    %value = memref.load %x[%i] : memref<4xf32>
    return %value : f32
  }
}

// -----

// What is left of another dialect is an error, not a surprise.
#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "",
  vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768,
  l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true>

module attributes {onnxc.target = #target} {
  func.func private @structured(%n: index) {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{failed to legalize operation 'scf.for'}}
    scf.for %i = %c0 to %n step %n {
    }
    return
  }
}

// -----

// expected-error @+1 {{expected the attribute onnxc.target}}
module {
}
