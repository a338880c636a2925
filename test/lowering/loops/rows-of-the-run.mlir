// Of an image whose size only the run knows, neighbouring pixels still lie as far apart as there are channels.
// RUN: onnxc-opt %s --onnx-to-linalg --canonicalize --cse --fuse-elementwise --form-kernels | FileCheck %s

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true>} {

// CHECK-LABEL: @channels_last
// CHECK: onnxc.kernel #onnxc.contraction<rows = 14, columns = 32,
func.func @channels_last(%x: tensor<1x32x?x?xf32>, %w: tensor<32x32x1x1xf32>) -> tensor<1x32x?x?xf32> {
  %y = "onnx.Conv"(%x, %w) : (tensor<1x32x?x?xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x?x?xf32>
  return %y : tensor<1x32x?x?xf32>
}

// A page apart, more rows would leave no set of the first cache to what they are multiplied with.
// CHECK-LABEL: @a_page_apart
// CHECK: onnxc.kernel #onnxc.contraction<rows = 8, columns = 32,
func.func @a_page_apart(%x: tensor<1x1024x?x?xf32>, %w: tensor<32x1024x1x1xf32>) -> tensor<1x32x?x?xf32> {
  %y = "onnx.Conv"(%x, %w) : (tensor<1x1024x?x?xf32>, tensor<32x1024x1x1xf32>) -> tensor<1x32x?x?xf32>
  return %y : tensor<1x32x?x?xf32>
}
}
