// RUN: onnxc-opt %s --onnx-to-linalg --canonicalize --cse --split-input-file | FileCheck %s
// RUN: onnxc-opt %s --onnx-to-linalg --canonicalize --cse --fuse-elementwise --form-kernels --canonicalize \
// RUN:     --split-input-file | FileCheck %s --check-prefix=KERNEL

// Five columns, then five rows, each with its own padding.
// CHECK-LABEL: @large_window
// CHECK: tensor.pad %{{.*}} low[0, 0, 2, 0] high[0, 0, 2, 0]
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
// CHECK: tensor.pad %{{.*}} low[0, 2, 0, 0] high[0, 2, 0, 0]
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
// A tile's rows are along the window, so that they share what they read.
// KERNEL-LABEL: @large_window
// KERNEL-COUNT-2: onnxc.kernel #onnxc.contraction<rows = 7, columns = 1,
func.func @large_window(%x: tensor<1x8x20x20xf32>) -> tensor<1x8x20x20xf32> {
  %y, %places = "onnx.MaxPool"(%x) {kernel_shape = array<i64: 5, 5>, pads = array<i64: 2, 2, 2, 2>}
      : (tensor<1x8x20x20xf32>) -> (tensor<1x8x20x20xf32>, tensor<1x8x20x20xi64>)
  return %y : tensor<1x8x20x20xf32>
}

// What is squared and added is added as it is the second time.
// CHECK-LABEL: @elements_once
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: linalg.generic
// CHECK-NOT: arith.mulf
// CHECK: arith.addf
// CHECK: math.sqrt
func.func @elements_once(%x: tensor<1x8x20x20xf32>) -> tensor<1x8x12x12xf32> {
  %y = "onnx.LpPool"(%x) {kernel_shape = array<i64: 9, 9>} : (tensor<1x8x20x20xf32>) -> tensor<1x8x12x12xf32>
  return %y : tensor<1x8x12x12xf32>
}

// A tensor in between would cost more than it saves.
// CHECK-LABEL: @small_window
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
func.func @small_window(%x: tensor<1x8x20x20xf32>) -> tensor<1x8x18x18xf32> {
  %y, %places = "onnx.MaxPool"(%x) {kernel_shape = array<i64: 3, 3>}
      : (tensor<1x8x20x20xf32>) -> (tensor<1x8x18x18xf32>, tensor<1x8x18x18xi64>)
  return %y : tensor<1x8x18x18xf32>
}

// Of a window as large as the image, rows would be folded that no other window shares.
// CHECK-LABEL: @whole_image
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
func.func @whole_image(%x: tensor<1x8x7x7xf32>) -> tensor<1x8x1x1xf32> {
  %y = "onnx.AveragePool"(%x) {kernel_shape = array<i64: 7, 7>} : (tensor<1x8x7x7xf32>) -> tensor<1x8x1x1xf32>
  return %y : tensor<1x8x1x1xf32>
}

// The first of equal elements is the first in the whole window.
// CHECK-LABEL: @with_places
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
func.func @with_places(%x: tensor<1x8x20x20xf32>) -> tensor<1x8x16x16xi64> {
  %y, %places = "onnx.MaxPool"(%x) {kernel_shape = array<i64: 5, 5>}
      : (tensor<1x8x20x20xf32>) -> (tensor<1x8x16x16xf32>, tensor<1x8x16x16xi64>)
  return %places : tensor<1x8x16x16xi64>
}

// How many elements a window has is known, so the division is part of the kernel.
// CHECK-LABEL: @counts
// CHECK: arith.constant dense<[2.000000e+00, 3.000000e+00, 3.000000e+00, 2.000000e+00]> : tensor<4xf32>
// CHECK: arith.divf
// KERNEL-LABEL: @counts
// KERNEL: onnxc.kernel
// KERNEL: arith.divf
// KERNEL: onnxc.yield
// KERNEL-NOT: arith.divf
// KERNEL: return
func.func @counts(%x: tensor<1x8x5x4xf32>) -> tensor<1x8x3x4xf32> {
  %y = "onnx.AveragePool"(%x) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 0, 1, 0, 1>}
      : (tensor<1x8x5x4xf32>) -> tensor<1x8x3x4xf32>
  return %y : tensor<1x8x3x4xf32>
}

// Where only the run knows how many there are, it counts them for each row and each column first.
// KERNEL-LABEL: @counts_of_the_run
// KERNEL-COUNT-2: linalg.generic {{.*}} outs({{.*}} : tensor<?xf32>)
// KERNEL: onnxc.kernel
// KERNEL-NOT: linalg.index
// KERNEL: arith.divf
// KERNEL: onnxc.yield
// KERNEL-NOT: arith.divf
// KERNEL: return
func.func @counts_of_the_run(%x: tensor<1x8x?x?xf32>) -> tensor<1x8x?x?xf32> {
  %y = "onnx.AveragePool"(%x) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x8x?x?xf32>) -> tensor<1x8x?x?xf32>
  return %y : tensor<1x8x?x?xf32>
}

// Windows two apart share too little: a tile has one row of more channels.
// KERNEL-LABEL: @apart
// KERNEL: onnxc.kernel #onnxc.contraction<rows = 1,
func.func @apart(%x: tensor<1x8x20x20xf32>) -> tensor<1x8x9x9xf32> {
  %y, %places = "onnx.MaxPool"(%x) {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>}
      : (tensor<1x8x20x20xf32>) -> (tensor<1x8x9x9xf32>, tensor<1x8x9x9xi64>)
  return %y : tensor<1x8x9x9xf32>
}

// -----

module attributes {onnxc.numerics = "strict"} {
// CHECK-LABEL: @order_kept
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
func.func @order_kept(%x: tensor<1x8x20x20xf32>) -> tensor<1x8x16x16xf32> {
  %y = "onnx.AveragePool"(%x) {kernel_shape = array<i64: 5, 5>} : (tensor<1x8x20x20xf32>) -> tensor<1x8x16x16xf32>
  return %y : tensor<1x8x16x16xf32>
}
}
