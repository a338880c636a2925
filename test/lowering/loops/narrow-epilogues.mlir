// RUN: onnxc-opt %s --onnx-to-linalg --canonicalize --cse --fuse-elementwise --form-kernels --canonicalize | FileCheck %s
module attributes {onnxc.target = #onnxc.target<triple = "x86_64-linux-gnu", cpu = "x86-64-v4", features = "",
    vector_bits = 512, vector_registers = 32, fma_per_cycle = 2, l1_bytes = 32768, l2_bytes = 1048576, index_bits = 64,
    heap = true, has_f16 = true>} {

// Of 20 columns 12 lanes of 32 are idle: biases stay with the product, the function does not.
// CHECK-LABEL: @narrow
// CHECK: %[[SUM:.*]] = onnxc.kernel
// CHECK: arith.addf
// CHECK: arith.addf
// CHECK-NOT: math.erf
// CHECK: onnxc.yield
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] : tensor<70x20xf32>)
// CHECK: math.erf
func.func @narrow(%x: tensor<70x48xf32>, %w: tensor<48x20xf32>, %b: tensor<20xf32>) -> tensor<70x20xf32> {
  %p = "onnx.MatMul"(%x, %w) : (tensor<70x48xf32>, tensor<48x20xf32>) -> tensor<70x20xf32>
  %s = "onnx.Add"(%p, %b) : (tensor<70x20xf32>, tensor<20xf32>) -> tensor<70x20xf32>
  %e = "onnx.Erf"(%s) : (tensor<70x20xf32>) -> tensor<70x20xf32>
  %y = "onnx.Mul"(%s, %e) : (tensor<70x20xf32>, tensor<70x20xf32>) -> tensor<70x20xf32>
  return %y : tensor<70x20xf32>
}

// CHECK-LABEL: @wide
// CHECK: onnxc.kernel
// CHECK: math.erf
// CHECK: onnxc.yield
func.func @wide(%x: tensor<70x48xf32>, %w: tensor<48x64xf32>, %b: tensor<64xf32>) -> tensor<70x64xf32> {
  %p = "onnx.MatMul"(%x, %w) : (tensor<70x48xf32>, tensor<48x64xf32>) -> tensor<70x64xf32>
  %s = "onnx.Add"(%p, %b) : (tensor<70x64xf32>, tensor<64xf32>) -> tensor<70x64xf32>
  %e = "onnx.Erf"(%s) : (tensor<70x64xf32>) -> tensor<70x64xf32>
  %y = "onnx.Mul"(%s, %e) : (tensor<70x64xf32>, tensor<70x64xf32>) -> tensor<70x64xf32>
  return %y : tensor<70x64xf32>
}

// A row alone fills no more vectors in a pass of its own.
// CHECK-LABEL: @one_row
// CHECK: onnxc.kernel
// CHECK: math.erf
// CHECK: onnxc.yield
func.func @one_row(%x: tensor<1x48xf32>, %w: tensor<48x20xf32>) -> tensor<1x20xf32> {
  %p = "onnx.MatMul"(%x, %w) : (tensor<1x48xf32>, tensor<48x20xf32>) -> tensor<1x20xf32>
  %e = "onnx.Erf"(%p) : (tensor<1x20xf32>) -> tensor<1x20xf32>
  %y = "onnx.Mul"(%p, %e) : (tensor<1x20xf32>, tensor<1x20xf32>) -> tensor<1x20xf32>
  return %y : tensor<1x20xf32>
}

}
