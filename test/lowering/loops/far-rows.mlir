// RUN: onnxc-opt %s --form-row-kernels | FileCheck %s --check-prefix=FORM
// RUN: onnxc-opt %s --expand-kernels | FileCheck %s --check-prefix=EXPAND

// Behind a mesh rows that L2 does not hold go through the body one after another, and ask for the next one.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 65536, index_bits = 64, heap = true,
    has_f16 = true, memory_bytes_per_cycle = 3>} {
// FORM-LABEL: @far
// FORM: onnxc.kernel #onnxc.rows<outer = 1> ins
func.func @far(%x: tensor<65x128xf32>, %e: tensor<65xf32>, %o: tensor<65x128xf32>) -> tensor<65x128xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<65xf32>) -> tensor<65xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<65x128xf32>) outs(%f : tensor<65xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<65xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<65x128xf32>, tensor<65xf32>) outs(%o : tensor<65x128xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %r = arith.divf %in, %s : f32
    linalg.yield %r : f32
  } -> tensor<65x128xf32>
  return %y : tensor<65x128xf32>
}

// FORM-LABEL: @near
// FORM: onnxc.kernel #onnxc.rows<outer = 1, tile = 16> ins
func.func @near(%x: tensor<64x128xf32>, %e: tensor<64xf32>, %o: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x128xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<64x128xf32>, tensor<64xf32>) outs(%o : tensor<64x128xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %r = arith.divf %in, %s : f32
    linalg.yield %r : f32
  } -> tensor<64x128xf32>
  return %y : tensor<64x128xf32>
}

// EXPAND-LABEL: func private @k_kernel
// EXPAND: scf.for %{{.*}} = %c0{{[_0-9]*}} to %c65
// EXPAND-NOT: memref.prefetch
// EXPAND: arith.addf
// EXPAND: memref.prefetch
// EXPAND: arith.divf
// EXPAND-LABEL: func private @k_kernel_0
// EXPAND-NOT: memref.prefetch
func.func @asks(%x: memref<65x128xf32>, %y: memref<65x128xf32>, %u: memref<64x128xf32>, %v: memref<64x128xf32>) {
  onnxc.kernel #onnxc.rows<outer = 1> ins(%x : memref<65x128xf32>) outs(%y : memref<65x128xf32>) {
  ^bb0(%in: tensor<65x128xf32>, %out: tensor<65x128xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<65xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<65xf32>) -> tensor<65xf32>
    %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%in : tensor<65x128xf32>) outs(%f : tensor<65xf32>) {
    ^bb1(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<65xf32>
    %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%in, %sum : tensor<65x128xf32>, tensor<65xf32>) outs(%out : tensor<65x128xf32>) {
    ^bb1(%a: f32, %s: f32, %o: f32):
      %r = arith.divf %a, %s : f32
      linalg.yield %r : f32
    } -> tensor<65x128xf32>
    onnxc.yield %d : tensor<65x128xf32>
  }
  onnxc.kernel #onnxc.rows<outer = 1> ins(%u : memref<64x128xf32>) outs(%v : memref<64x128xf32>) {
  ^bb0(%in: tensor<64x128xf32>, %out: tensor<64x128xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%in : tensor<64x128xf32>) outs(%f : tensor<64xf32>) {
    ^bb1(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<64xf32>
    %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%in, %sum : tensor<64x128xf32>, tensor<64xf32>) outs(%out : tensor<64x128xf32>) {
    ^bb1(%a: f32, %s: f32, %o: f32):
      %r = arith.divf %a, %s : f32
      linalg.yield %r : f32
    } -> tensor<64x128xf32>
    onnxc.yield %d : tensor<64x128xf32>
  }
  return
}
}
