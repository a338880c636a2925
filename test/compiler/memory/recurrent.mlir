// A step of an LSTM of any length and batch is what it is where both are known: a product and two passes, with nothing
// beside the product's own operands. The states stay in the arena.
// RUN: onnxc %s --stop-after=memory -o - | FileCheck %s --implicit-check-not=onnxc.allocate --implicit-check-not=memref.alloc
// CHECK: scf.for
// CHECK: onnxc.kernel #onnxc.contraction<{{.*}}> ins(%{{[^,]*}}, %{{[^,]*}}, %{{[^,:]*}} :
// CHECK: onnxc.yield
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @model(%x: tensor<?x?x8xf32, ["T", "N", ""]> {onnxc.name = "x"})
    -> (tensor<?x1x?x16xf32, ["T", "", "N", ""]> {onnxc.name = "y"}) {
  %zero = "onnx.Constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %step = "onnx.Constant"() {value = dense<0.001> : tensor<f32>} : () -> tensor<f32>
  %end = "onnx.Constant"() {value = dense<1.0239> : tensor<f32>} : () -> tensor<f32>
  %end_w = "onnx.Constant"() {value = dense<0.5119> : tensor<f32>} : () -> tensor<f32>
  %rs = "onnx.Range"(%zero, %end, %step) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<1024xf32>
  %ws = "onnx.Range"(%zero, %end_w, %step) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<512xf32>
  %r_shape = "onnx.Constant"() {value = dense<[1, 64, 16]> : tensor<3xi64>} : () -> tensor<3xi64>
  %w_shape = "onnx.Constant"() {value = dense<[1, 64, 8]> : tensor<3xi64>} : () -> tensor<3xi64>
  %r = "onnx.Reshape"(%rs, %r_shape) : (tensor<1024xf32>, tensor<3xi64>) -> tensor<1x64x16xf32>
  %w = "onnx.Reshape"(%ws, %w_shape) : (tensor<512xf32>, tensor<3xi64>) -> tensor<1x64x8xf32>
  %b = "onnx.Constant"() {value = dense<0.5> : tensor<1x128xf32>} : () -> tensor<1x128xf32>
  %y:3 = "onnx.LSTM"(%x, %w, %r, %b) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0>, hidden_size = 16 : i64}
      : (tensor<?x?x8xf32, ["T", "N", ""]>, tensor<1x64x8xf32>, tensor<1x64x16xf32>, tensor<1x128xf32>)
      -> (tensor<?x1x?x16xf32, ["T", "", "N", ""]>, tensor<1x?x16xf32, ["", "N", ""]>, tensor<1x?x16xf32, ["", "N", ""]>)
  return %y#0 : tensor<?x1x?x16xf32, ["T", "", "N", ""]>
}
