// RUN: onnxc-opt %s --form-kernels | FileCheck %s

#rows = affine_map<(r, c, k) -> (r, k)>
#columns = affine_map<(r, c, k) -> (k, c)>
#product = affine_map<(r, c, k) -> (r, c)>
#matmul = {indexing_maps = [#rows, #columns, #product], iterator_types = ["parallel", "parallel", "reduction"]}

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 256,
    vector_registers = 16, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 524288, index_bits = 64, heap = true,
    has_f16 = true>} {


// Weights of 128 KB by rows of 32 KB, which stay in L2: each panel is read once.
// CHECK-LABEL: @few_rows
// CHECK: onnxc.kernel {{.*}}outer = panels>
func.func @few_rows(%x: tensor<64x128xf32>) -> tensor<64x256xf32> {
  %w = arith.constant dense_resource<w128x256> : tensor<128x256xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %y = linalg.generic #matmul ins(%x, %w : tensor<64x128xf32>, tensor<128x256xf32>)
      outs(%start : tensor<64x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %p : f32
    linalg.yield %sum : f32
  } -> tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}


// More rows than columns: tasks share the rows.
// CHECK-LABEL: @many_rows
// CHECK: onnxc.kernel {{.*}}outer = pixels>
func.func @many_rows(%x: tensor<300x128xf32>) -> tensor<300x256xf32> {
  %w = arith.constant dense_resource<w128x256> : tensor<128x256xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<300x256xf32>) -> tensor<300x256xf32>
  %y = linalg.generic #matmul ins(%x, %w : tensor<300x128xf32>, tensor<128x256xf32>)
      outs(%start : tensor<300x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %p : f32
    linalg.yield %sum : f32
  } -> tensor<300x256xf32>
  return %y : tensor<300x256xf32>
}


// Weights that stay in L1.
// CHECK-LABEL: @small_weights
// CHECK: onnxc.kernel {{.*}}outer = pixels>
func.func @small_weights(%x: tensor<16x64xf32>) -> tensor<16x128xf32> {
  %w = arith.constant dense_resource<w64x128> : tensor<64x128xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<16x128xf32>) -> tensor<16x128xf32>
  %y = linalg.generic #matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x128xf32>)
      outs(%start : tensor<16x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %p : f32
    linalg.yield %sum : f32
  } -> tensor<16x128xf32>
  return %y : tensor<16x128xf32>
}


// Rows of unknown number come in blocks of 256 KB.
// CHECK-LABEL: @rows_of_the_run
// CHECK: onnxc.kernel {{.*}}outer = panels, block = 512>
func.func @rows_of_the_run(%x: tensor<?x128xf32>, %n: index) -> tensor<?x256xf32> {
  %w = arith.constant dense_resource<w128x256> : tensor<128x256xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  %y = linalg.generic #matmul ins(%x, %w : tensor<?x128xf32>, tensor<128x256xf32>)
      outs(%start : tensor<?x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %p : f32
    linalg.yield %sum : f32
  } -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}


// A matrix that was computed is no farther away than the rows.
// CHECK-LABEL: @computed
// CHECK: onnxc.kernel {{.*}}outer = pixels>
func.func @computed(%x: tensor<64x128xf32>, %w: tensor<128x256xf32>) -> tensor<64x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %y = linalg.generic #matmul ins(%x, %w : tensor<64x128xf32>, tensor<128x256xf32>)
      outs(%start : tensor<64x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %sum = arith.addf %o, %p : f32
    linalg.yield %sum : f32
  } -> tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
}
