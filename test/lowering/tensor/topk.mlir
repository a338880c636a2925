// RUN: onnxc-opt %s --onnx-to-linalg --canonicalize | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {

// Once over the row for the maxima of 16 parts of it, once more for the elements that are no less than the tenth of
// them; those come one by one.
// CHECK-LABEL: @few_of_many
// CHECK: scf.for
// CHECK: arith.maxsi {{.*}} : vector<16xi32>
// CHECK: vector.reduction <minsi>
// CHECK: scf.for
// CHECK: vector.transfer_read {{.*}} tensor<8x1000xf32>, vector<16xf32>
// CHECK: scf.while
// CHECK: math.cttz {{.*}} : i16
func.func @few_of_many(%x: tensor<8x1000xf32>) -> (tensor<8x10xf32>, tensor<8x10xi64>) {
  %k = "onnx.Constant"() {value = dense<10> : tensor<1xi64>} : () -> tensor<1xi64>
  %v, %i = "onnx.TopK"(%x, %k) : (tensor<8x1000xf32>, tensor<1xi64>) -> (tensor<8x10xf32>, tensor<8x10xi64>)
  return %v, %i : tensor<8x10xf32>, tensor<8x10xi64>
}

// A hundred vectors' worth of the best is no case for registers: the last of them is found bit by bit, then four passes
// sort what is no worse by a byte each.
// CHECK-LABEL: @many
// CHECK: tensor.empty() : tensor<4x256xi64>
// CHECK: scf.for
// CHECK: arith.cmpi sge, {{.*}} : vector<16xi32>
// CHECK: scf.while
// CHECK: linalg.fill
// CHECK-COUNT-4: arith.shrui {{.*}} : i64
// CHECK-COUNT-4: arith.shrui {{.*}} : i64
func.func @many(%x: tensor<8x3000xf32>) -> (tensor<8x1600xf32>, tensor<8x1600xi64>) {
  %k = "onnx.Constant"() {value = dense<1600> : tensor<1xi64>} : () -> tensor<1xi64>
  %v, %i = "onnx.TopK"(%x, %k) : (tensor<8x3000xf32>, tensor<1xi64>) -> (tensor<8x1600xf32>, tensor<8x1600xi64>)
  return %v, %i : tensor<8x1600xf32>, tensor<8x1600xi64>
}

// CHECK-LABEL: @all_need_no_bound
// CHECK-NOT: scf.while
// CHECK: linalg.fill
func.func @all_need_no_bound(%x: tensor<8x300xf32>) -> (tensor<8x300xf32>, tensor<8x300xi64>) {
  %k = "onnx.Constant"() {value = dense<300> : tensor<1xi64>} : () -> tensor<1xi64>
  %v, %i = "onnx.TopK"(%x, %k) : (tensor<8x300xf32>, tensor<1xi64>) -> (tensor<8x300xf32>, tensor<8x300xi64>)
  return %v, %i : tensor<8x300xf32>, tensor<8x300xi64>
}

// Each lane is a row of its own; the last vector begins at column 4.
// CHECK-LABEL: @few_across_vectors
// CHECK: arith.minsi {{.*}}, %c4
// CHECK: vector.transfer_read {{.*}} tensor<1000x20xf32>, vector<16xf32>
// CHECK: vector.reduction <or>
// CHECK: scf.if
// CHECK: vector.transfer_write {{.*}} vector<16xi64>, tensor<2x20xi64>
func.func @few_across_vectors(%x: tensor<1000x20xf32>) -> (tensor<2x20xf32>, tensor<2x20xi64>) {
  %k = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %v, %i = "onnx.TopK"(%x, %k) {axis = 0 : i64} : (tensor<1000x20xf32>, tensor<1xi64>) -> (tensor<2x20xf32>, tensor<2x20xi64>)
  return %v, %i : tensor<2x20xf32>, tensor<2x20xi64>
}

// Rows that lie apart come side by side first.
// CHECK-LABEL: @apart
// CHECK: linalg.transpose {{.*}} outs({{.*}} : tensor<8x1000xf32>) permutation = [1, 0]
// CHECK: arith.maxsi {{.*}} : vector<16xi32>
// CHECK: linalg.transpose {{.*}} outs({{.*}} : tensor<10x8xf32>) permutation = [1, 0]
// CHECK: linalg.transpose {{.*}} outs({{.*}} : tensor<10x8xi64>) permutation = [1, 0]
func.func @apart(%x: tensor<1000x8xf32>) -> (tensor<10x8xf32>, tensor<10x8xi64>) {
  %k = "onnx.Constant"() {value = dense<10> : tensor<1xi64>} : () -> tensor<1xi64>
  %v, %i = "onnx.TopK"(%x, %k) {axis = 0 : i64} : (tensor<1000x8xf32>, tensor<1xi64>) -> (tensor<10x8xf32>, tensor<10x8xi64>)
  return %v, %i : tensor<10x8xf32>, tensor<10x8xi64>
}

// Fewer columns than lanes are looked at one by one, others a vector at a time.
// CHECK-LABEL: @any_columns
// CHECK-NOT: linalg.transpose
// CHECK: %[[FILLS:.*]] = arith.cmpi sge, %{{.*}}, %c16
// CHECK: arith.select %[[FILLS]], %{{.*}}, %c0
// CHECK: vector.transfer_read {{.*}} tensor<30x?xf32>, vector<16xf32>
// CHECK: arith.select %{{.*}}, %c0
// CHECK: tensor.extract %{{.*}} : tensor<30x?xf32>
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @any_columns(%x: tensor<30x?xf32>) -> (tensor<5x?xf32>, tensor<5x?xi64>) {
  %k = "onnx.Constant"() {value = dense<5> : tensor<1xi64>} : () -> tensor<1xi64>
  %v, %i = "onnx.TopK"(%x, %k) {axis = 0 : i64} : (tensor<30x?xf32>, tensor<1xi64>) -> (tensor<5x?xf32>, tensor<5x?xi64>)
  return %v, %i : tensor<5x?xf32>, tensor<5x?xi64>
}
}
