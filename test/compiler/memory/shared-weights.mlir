// Products that share a matrix read one packed copy of it, and are one function; a matrix of equal bytes is the same.
// RUN: onnxc %s --target=x86_64-linux-gnu --stop-after=memory -o - | FileCheck %s
// RUN: onnxc %s --target=x86_64-linux-gnu --weights=%t.weights --emit=llvm -o - | FileCheck %s --check-prefix=LLVM
// CHECK: onnxc.weights = [#onnxc.weight<0, #onnxc.packed<{{[^#]*}}>>]
// LLVM: define {{.*}} @k_kernel(
// LLVM-NOT: define {{.*}} @k_
func.func @model(%x: tensor<16x32xf32> {onnxc.name = "x"}) -> (tensor<16x32xf32> {onnxc.name = "y"}) {
  %zero = "onnx.Constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %step = "onnx.Constant"() {value = dense<0.001> : tensor<f32>} : () -> tensor<f32>
  %end = "onnx.Constant"() {value = dense<1.0239> : tensor<f32>} : () -> tensor<f32>
  %numbers = "onnx.Range"(%zero, %end, %step) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<1024xf32>
  %shape = "onnx.Constant"() {value = dense<32> : tensor<2xi64>} : () -> tensor<2xi64>
  %w = "onnx.Reshape"(%numbers, %shape) : (tensor<1024xf32>, tensor<2xi64>) -> tensor<32x32xf32>
  %negative = "onnx.Neg"(%w) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %again = "onnx.Abs"(%negative) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %a = "onnx.MatMul"(%x, %w) : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %b = "onnx.MatMul"(%a, %w) : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %y = "onnx.MatMul"(%b, %again) : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  return %y : tensor<16x32xf32>
}
