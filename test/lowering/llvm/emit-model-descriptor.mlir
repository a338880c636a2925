// RUN: onnxc-opt %s --emit-model-descriptor --split-input-file --verify-diagnostics | FileCheck %s

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "",
  vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768,
  l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true>

// CHECK: onnxc.interface = {{.*}}inputs = ["x_in"]{{.*}}outputs = ["int_2"]{{.*}}symbols = ["N"]
module attributes {onnxc.target = #target, onnxc.arena_bytes = 64 : i64,
    onnxc.weights = [#onnxc.weight<0, dense<1.0> : tensor<3xf32>>]} {
  // CHECK-DAG: llvm.mlir.global external constant @model_weights() {{.*}}!llvm.array<12 x i8>
  // CHECK-DAG: llvm.mlir.global external constant @model_model()

  // The model is a function of the object and says how it went.
  // CHECK: func.func private @model({{.*}}) -> i32
  func.func @model(%x: memref<?x3xf32> {onnxc.name = "x/in", onnxc.dims = ["N", ""]},
      %y: memref<?xi8> {onnxc.name = "int", onnxc.dims = ["N"], onnxc.element = i1, onnxc.output = 0 : i64},
      %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
    return
  }
}
// The generic entry checks first, then binds buffers.
// CHECK: llvm.func @model_call(%{{.*}}: !llvm.ptr) -> i32
// CHECK: call @onnxc_prepare
// CHECK: call @onnxc_weights
// CHECK: call @model(
// CHECK: llvm.func @model_run(%{{.*}}: i64, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32
// CHECK: llvm.call @model_call

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "",
  vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768,
  l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true>

// The size of the arena is a function of the symbols, in two forms.
module attributes {onnxc.target = #target, onnxc.symbols = ["N"]} {
  func.func @model(%x: memref<?xf32> {onnxc.dims = ["N"]}, %arena: memref<?xi8>,
      %weights: memref<?xi8>, %call: !llvm.ptr) {
    return
  }
  func.func private @model_arena_bytes(%n: index) -> index {
    return %n : index
  }
}
// CHECK: func.func private @model_arena_bytes_formula(
// CHECK: llvm.func internal @model_arena_bytes_of(%{{.*}}: !llvm.ptr) -> i64
// CHECK: llvm.func @model_arena_bytes(%{{.*}}: i64) -> i64

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "",
  vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768,
  l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true>

// The arena holds what one worker needs, which the descriptor counts with the workers; the others' parts lie before it.
module attributes {onnxc.target = #target, onnxc.symbols = ["N"], onnxc.worker_bytes = 128 : i64} {
  func.func @model(%x: memref<?xf32> {onnxc.dims = ["N"]}, %arena: memref<?xi8>,
      %weights: memref<?xi8>, %call: !llvm.ptr) {
    return
  }
  func.func private @model_arena_bytes(%n: index) -> index {
    return %n : index
  }
}
// CHECK: llvm.func internal @model_arena_bytes_of(
// CHECK: %[[EACH:.*]] = llvm.mlir.constant(128 : i64)
// CHECK: arith.subi %{{.*}}, %[[EACH]]
// CHECK: llvm.func @model_arena_bytes(
// CHECK-NOT: arith.subi
// CHECK: llvm.func @model_call
// CHECK: %{{.*}} = func.call @onnxc_arena
// CHECK: call @model(

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "",
  vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768,
  l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true>

// A worker's part may be a formula, too: the larger one of it and of what is known.
module attributes {onnxc.target = #target, onnxc.symbols = ["N"], onnxc.worker_bytes = 128 : i64} {
  func.func @model(%x: memref<?xf32> {onnxc.dims = ["N"]}, %arena: memref<?xi8>,
      %weights: memref<?xi8>, %call: !llvm.ptr) {
    return
  }
  func.func private @model_arena_bytes(%n: index) -> index {
    return %n : index
  }
  func.func private @model_worker_bytes(%n: index) -> index {
    return %n : index
  }
}
// CHECK: llvm.mlir.addressof @model_worker_bytes_of
// CHECK: func.func private @model_worker_bytes_formula(
// CHECK: llvm.func internal @model_worker_bytes_of(%{{.*}}: !llvm.ptr) -> i64
// CHECK: %[[KNOWN:.*]] = llvm.mlir.constant(128 : i64)
// CHECK: call @model_worker_bytes_formula
// CHECK: %[[OWN:.*]] = arith.maxui %[[KNOWN]],
// CHECK: llvm.return %[[OWN]]
// CHECK: llvm.func internal @model_arena_bytes_of(
// CHECK: call @model_arena_bytes_formula
// CHECK: %[[OFARENA:.*]] = arith.maxui
// CHECK: arith.subi %{{.*}}, %[[OFARENA]]
// CHECK: llvm.func @model_call
// CHECK: %{{.*}} = func.call @onnxc_arena(%{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> !llvm.ptr

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "",
  vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768,
  l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true>

// An output whose size only the run knows has no buffer: no typed entry.
module attributes {onnxc.target = #target} {
  func.func @model(%x: memref<4xf32>, %arena: memref<?xi8>, %weights: memref<?xi8>,
      %call: !llvm.ptr) {
    %n = arith.constant 2 : index
    %value = memref.alloca(%n) : memref<?xi64>
    onnxc.result %value, 0 : memref<?xi64>
    return
  }
}
// CHECK: onnxc.result
// CHECK: llvm.func @model_call
// CHECK-NOT: llvm.func @model_run

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "",
  vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768,
  l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true>

module attributes {onnxc.target = #target} {
  // expected-error @+1 {{'func.func' op expected the arguments arena and weights at the end}}
  func.func @model(%x: f32) {
    return
  }
}

// -----

#target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "",
  vector_bits = 256, vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768,
  l2_bytes = 262144, index_bits = 64, heap = true, has_f16 = true>

module attributes {onnxc.target = #target} {
  // expected-error @+1 {{an output has an extent that is no symbol's, and there is no @model_output_dims}}
  func.func @model(%y: memref<?xf32> {onnxc.output = 0 : i64, onnxc.dims = ["K"]},
      %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
    return
  }
}

// -----

// expected-error @+1 {{expected a function @model and the attribute onnxc.target}}
module {
}
