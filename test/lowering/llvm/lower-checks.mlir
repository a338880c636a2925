// RUN: onnxc-opt %s --lower-loops --lower-checks --split-input-file --verify-diagnostics | FileCheck %s

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "",
  vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768,
  l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true>

// A check in a loop: the loop becomes branches, the failure one out of it.
module attributes {onnxc.target = #target} {
  // CHECK-LABEL: func.func private @model
  // CHECK-NOT: scf.for
  // CHECK: cf.cond_br %{{.*}}, ^[[NEXT:bb[0-9]+]], ^[[FAILED:bb[0-9]+]]
  // CHECK: ^[[FAILED]]:
  // CHECK: %[[STATUS:.*]] = call @onnxc_fail
  // CHECK: return %[[STATUS]] : i32
  func.func private @model(%x: memref<4xi64>, %call: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0 : i64
    scf.for %i = %c0 to %c4 step %c1 {
      %index = memref.load %x[%i] : memref<4xi64>
      %inside = arith.cmpi sge, %index, %zero : i64
      onnxc.check %inside, 2, "node 'g' (Gather): index is out of range", "indices"
    }
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
}

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "",
  vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768,
  l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true>

module attributes {onnxc.target = #target} {
  // CHECK-LABEL: func.func private @model
  // CHECK: call @onnxc_allocate
  // CHECK: cf.cond_br
  // CHECK: call @onnxc_result
  // CHECK: cf.cond_br
  func.func private @model(%n: index, %call: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %memory = onnxc.allocate %n : memref<?xi8>
    %value = memref.view %memory[%c0][%n] : memref<?xi8> to memref<?xi8>
    onnxc.result %value, 0 : memref<?xi8>
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
}

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "",
  vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768,
  l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true>

module attributes {onnxc.target = #target} {
  // expected-error @+1 {{has a check, but only @model with a status as its result can end a call}}
  func.func private @kernel(%condition: i1) {
    onnxc.check %condition, 2, "node", "operand"
    return
  }
}

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "",
  vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768,
  l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true>

// A view is handed over with its strides.
module attributes {onnxc.target = #target} {
  // CHECK-LABEL: func.func private @model
  // CHECK: memref.extract_strided_metadata
  // CHECK: call @onnxc_result
  func.func private @model(%x: memref<?x?xf32, strided<[?, 1], offset: ?>>, %call: !llvm.ptr) -> i32 {
    onnxc.result %x, 0 : memref<?x?xf32, strided<[?, 1], offset: ?>>
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
}

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "",
  vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768,
  l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true>

// Elements of four bits have a byte each until they are handed over.
module attributes {onnxc.target = #target} {
  // CHECK-LABEL: func.func private @model
  // CHECK: %[[BITS:.*]] = llvm.mlir.constant(4 : i32)
  // CHECK: call @onnxc_result({{.*}}, %[[BITS]])
  func.func private @model(%x: memref<?xi8>, %call: !llvm.ptr) -> i32 {
    onnxc.result %x, 0 {onnxc.element = i4} : memref<?xi8>
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
}
