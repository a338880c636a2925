// Rows of an unknown number of images are one row of tiles, which leaves no rest where tiles divide the rows of an image.
// RUN: onnxc-opt %s --expand-composite --onnx-to-linalg --canonicalize --cse --fuse-elementwise --form-kernels \
// RUN:   --form-row-kernels | FileCheck %s
// RUN: onnxc-opt %s --expand-composite --onnx-to-linalg --canonicalize --cse --fuse-elementwise --form-kernels \
// RUN:   --form-row-kernels --bufferize --expand-kernels | FileCheck %s --check-prefix=CODE

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {

// CHECK-LABEL: @of_any_number
// CHECK: onnxc.kernel #onnxc.rows<outer = 2, tile = 12>
// CODE-LABEL: func.func private @k_kernel(
// CODE-NOT: arith.cmpi eq
func.func @of_any_number(%x: tensor<?x192x48xf32>, %w: tensor<48x32xf32>) -> tensor<?x192x32xf32> {
  %y = "onnx.MatMul"(%x, %w) : (tensor<?x192x48xf32>, tensor<48x32xf32>) -> tensor<?x192x32xf32>
  %z = "onnx.Softmax"(%y) {axis = -1 : i64} : (tensor<?x192x32xf32>) -> tensor<?x192x32xf32>
  return %z : tensor<?x192x32xf32>
}

// Fewer than three quarters of a tile would read what all rows share too often: there is code for any rest of half a tile.
// CHECK-LABEL: @without_divisor
// CHECK: onnxc.kernel #onnxc.rows<outer = 2, tile = 14>
// CODE-LABEL: func.func private @k_kernel_0(
// CODE-COUNT-7: arith.cmpi eq
// CODE-NOT: arith.cmpi eq
func.func @without_divisor(%x: tensor<?x197x48xf32>, %w: tensor<48x32xf32>) -> tensor<?x197x32xf32> {
  %y = "onnx.MatMul"(%x, %w) : (tensor<?x197x48xf32>, tensor<48x32xf32>) -> tensor<?x197x32xf32>
  %z = "onnx.Softmax"(%y) {axis = -1 : i64} : (tensor<?x197x32xf32>) -> tensor<?x197x32xf32>
  return %z : tensor<?x197x32xf32>
}

// Of a known number all tiles are nearly equal.
// CHECK-LABEL: @of_two
// CHECK: onnxc.kernel #onnxc.rows<outer = 2, tile = 14>
// CODE-LABEL: func.func private @k_kernel_1(
// CODE-NOT: arith.cmpi eq
func.func @of_two(%x: tensor<2x192x48xf32>, %w: tensor<48x32xf32>) -> tensor<2x192x32xf32> {
  %y = "onnx.MatMul"(%x, %w) : (tensor<2x192x48xf32>, tensor<48x32xf32>) -> tensor<2x192x32xf32>
  %z = "onnx.Softmax"(%y) {axis = -1 : i64} : (tensor<2x192x32xf32>) -> tensor<2x192x32xf32>
  return %z : tensor<2x192x32xf32>
}
}
