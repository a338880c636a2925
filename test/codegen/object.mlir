// An object is complete by itself, needs no dynamic relocation and is the same
// every time.
// RUN: rm -rf %t && mkdir -p %t/again
// RUN: onnxc %s -o %t/net.o && onnxc %s -o %t/again/net.o
// RUN: cmp %t/net.o %t/again/net.o && cmp %t/net.h %t/again/net.h
// RUN: llvm-nm --extern-only %t/net.o | FileCheck %s --check-prefix=SYMBOLS
// RUN: llvm-readelf -SW %t/net.o | FileCheck %s --check-prefix=SECTIONS
// RUN: ld.lld -shared -z text --fatal-warnings --no-undefined %t/net.o -o %t/net.so
// RUN: llvm-readelf -rW %t/net.so | FileCheck %s --check-prefix=RELOCATIONS
// RUN: FileCheck %s --check-prefix=HEADER < %t/net.h

// SYMBOLS-NOT: U
// SYMBOLS: T net_arena_bytes
// SYMBOLS-NEXT: T net_call
// SYMBOLS-NEXT: R net_model
// SYMBOLS-NEXT: T net_run
// SYMBOLS-NOT: {{.}}

// SECTIONS: .rodata.onnxc.net.weights PROGBITS {{.*}} A {{.*}} 64
// SECTIONS-NOT: {{ \.(data|bss|tdata|init_array)}}

// RELOCATIONS: There are no relocations

// HEADER: uint64_t net_arena_bytes(int64_t N);
// HEADER: int32_t net_run(int64_t N,
// HEADER-NEXT: const float *x_in,
// HEADER-NEXT: float *y,
// HEADER-NEXT: void *arena);

module attributes {
  onnxc.target = #onnxc.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true, has_f16 = true>,
  onnxc.stage = "memory", onnxc.symbols = ["N"],
  onnxc.weights = [#onnxc.weight<0, dense<[1.0, 2.0, 3.0]> : tensor<3xf32>>]
} {
  func.func @model(%x: memref<?x3xf32> {onnxc.name = "x/in", onnxc.dims = ["N", ""]},
                   %y: memref<?x3xf32> {onnxc.name = "y", onnxc.dims = ["N", ""], onnxc.output = 0 : i64},
                   %arena: memref<?xi8>, %weights: memref<?xi8>, %call: !llvm.ptr) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %n = memref.dim %x, %c0 : memref<?x3xf32>
    %w = memref.view %weights[%c0][] : memref<?xi8> to memref<3xf32>
    %t = memref.view %arena[%c0][%n] : memref<?xi8> to memref<?x3xf32>
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %c3 step %c1 {
        %a = memref.load %x[%i, %j] : memref<?x3xf32>
        %zero = arith.constant 0.0 : f32
        %ok = arith.cmpf oge, %a, %zero : f32
        onnxc.check %ok, 9, "node 'n' (Sqrt): negative", "x"
        %b = memref.load %w[%j] : memref<3xf32>
        %c = arith.addf %a, %b : f32
        %d = math.exp %c : f32
        memref.store %d, %t[%i, %j] : memref<?x3xf32>
      }
    }
    memref.copy %t, %y : memref<?x3xf32> to memref<?x3xf32>
    return
  }
  func.func private @model_arena_bytes(%n: index) -> index {
    %c12 = arith.constant 12 : index
    %b = arith.muli %n, %c12 : index
    return %b : index
  }
}
