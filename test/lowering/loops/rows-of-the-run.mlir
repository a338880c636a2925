// Rows whose number only the run knows.
// RUN: onnxc-opt %s --onnx-to-linalg --canonicalize --cse --fuse-elementwise --form-kernels | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {

// CHECK-LABEL: @many_rows
// CHECK: onnxc.kernel #onnxc.contraction<rows = 14, columns = 32,
func.func @many_rows(%x: tensor<?x48xf32>, %w: tensor<48x32xf32>) -> tensor<?x32xf32> {
  %y = "onnx.MatMul"(%x, %w) : (tensor<?x48xf32>, tensor<48x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// A page apart, more rows would leave no set of the first cache to what they are multiplied with.
// CHECK-LABEL: @a_page_apart
// CHECK: onnxc.kernel #onnxc.contraction<rows = 8, columns = 32,
func.func @a_page_apart(%x: tensor<?x1024xf32>, %w: tensor<1024x32xf32>) -> tensor<?x32xf32> {
  %y = "onnx.MatMul"(%x, %w) : (tensor<?x1024xf32>, tensor<1024x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// So do rows of a slice: they stay where they are.
// CHECK-LABEL: @of_a_page
// CHECK: onnxc.kernel #onnxc.contraction<rows = 8, columns = 32,
func.func @of_a_page(%x: tensor<48x1024xf32>, %w: tensor<48x32xf32>) -> tensor<48x32xf32> {
  %slice = tensor.extract_slice %x[0, 16] [48, 48] [1, 1] : tensor<48x1024xf32> to tensor<48x48xf32>
  %y = "onnx.MatMul"(%slice, %w) : (tensor<48x48xf32>, tensor<48x32xf32>) -> tensor<48x32xf32>
  return %y : tensor<48x32xf32>
}

// Rows of an image may be short, and what is left of each is in tiles of few rows.
// CHECK-LABEL: @rows_of_an_image
// CHECK: onnxc.kernel #onnxc.contraction<rows = 7, columns = 32,
func.func @rows_of_an_image(%x: tensor<1x48x?x?xf32>, %w: tensor<32x48x3x3xf32>) -> tensor<1x32x?x?xf32> {
  %y = "onnx.Conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x48x?x?xf32>, tensor<32x48x3x3xf32>) -> tensor<1x32x?x?xf32>
  return %y : tensor<1x32x?x?xf32>
}
}
