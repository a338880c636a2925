// RUN: onnxc-opt %s --split-input-file --verify-diagnostics | FileCheck %s

#schedule = #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels>

// CHECK-LABEL: @kernel_on_tensors
// CHECK: onnxc.kernel #onnxc.contraction<rows = 6, columns = 16, vector = 8, outer = panels>
// CHECK-SAME: ins(%{{.*}} : tensor<4xf32>) outs(%{{.*}} : tensor<4xf32>)
// CHECK: onnxc.yield
// CHECK: } -> tensor<4xf32>
func.func @kernel_on_tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = onnxc.kernel #schedule ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %c = linalg.exp ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
    onnxc.yield %c : tensor<4xf32>
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// The body stays on tensors when the operands are buffers.
// CHECK-LABEL: @kernel_on_buffers
// CHECK: onnxc.kernel {{.*}} outs(%{{.*}} : memref<4xf32, strided<[2]>>) {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>):
func.func @kernel_on_buffers(%x: memref<4xf32>, %y: memref<4xf32, strided<[2]>>) {
  onnxc.kernel #schedule ins(%x : memref<4xf32>) outs(%y : memref<4xf32, strided<[2]>>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %c = linalg.exp ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
    onnxc.yield %c : tensor<4xf32>
  }
  return
}

// -----

func.func @kernel_c1_argument_of_other_shape(%y: memref<4xf32>) {
  // expected-error @+1 {{expected block argument 0 of type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  onnxc.kernel #onnxc.contraction<rows = 1, columns = 1, vector = 1, outer = panels> outs(%y : memref<4xf32>) {
  ^bb0(%b: tensor<5xf32>):
    onnxc.yield %b : tensor<5xf32>
  }
  return
}

// -----

func.func @kernel_c2_yields_too_few(%y: memref<4xf32>) {
  // expected-error @+1 {{expected 1 yielded values, got 0}}
  onnxc.kernel #onnxc.contraction<rows = 1, columns = 1, vector = 1, outer = panels> outs(%y : memref<4xf32>) {
  ^bb0(%b: tensor<4xf32>):
    onnxc.yield
  }
  return
}

// -----

func.func @kernel_c3_mixed_outputs(%x: memref<4xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{outputs are neither all tensors nor all buffers}}
  onnxc.kernel #onnxc.contraction<rows = 1, columns = 1, vector = 1, outer = panels>
      outs(%x, %y : memref<4xf32>, tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    onnxc.yield %a, %b : tensor<4xf32>, tensor<4xf32>
  }
  return
}
