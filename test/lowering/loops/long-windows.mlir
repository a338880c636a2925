// Borders of long windows: a kernel cuts windows off where they leave the image, but rows of a tile that all leave it
// somewhere would be computed one by one.
// RUN: onnxc-opt %s --onnx-to-linalg --canonicalize --cse --fuse-elementwise --form-kernels --canonicalize | FileCheck %s

// All rows are at a border: the image is padded along them before the kernel, which cuts off along the others.
// CHECK-LABEL: @mostly_border
// CHECK: tensor.pad %{{.*}} low[0, 0, 15, 0] high[0, 0, 15, 0]
// CHECK: onnxc.kernel
// CHECK: tensor.pad %{{.*}} low[0, 15, 0, 0] high[0, 15, 0, 0]
// CHECK: onnxc.yield
func.func @mostly_border(%x: tensor<1x8x32x32xf32>, %w: tensor<8x1x31x31xf32>) -> tensor<1x8x32x32xf32> {
  %y = "onnx.Conv"(%x, %w) {group = 8 : i64, pads = array<i64: 15, 15, 15, 15>}
      : (tensor<1x8x32x32xf32>, tensor<8x1x31x31xf32>) -> tensor<1x8x32x32xf32>
  return %y : tensor<1x8x32x32xf32>
}

// However many images there are.
// CHECK-LABEL: @any_batch
// CHECK: tensor.pad %{{.*}} low[0, 0, 15, 0] high[0, 0, 15, 0]
// CHECK: onnxc.kernel
// CHECK: tensor.pad %{{.*}} low[0, 15, 0, 0] high[0, 15, 0, 0]
// CHECK: onnxc.yield
func.func @any_batch(%x: tensor<?x8x32x32xf32>, %w: tensor<8x1x31x31xf32>) -> tensor<?x8x32x32xf32> {
  %y = "onnx.Conv"(%x, %w) {group = 8 : i64, pads = array<i64: 15, 15, 15, 15>}
      : (tensor<?x8x32x32xf32>, tensor<8x1x31x31xf32>) -> tensor<?x8x32x32xf32>
  return %y : tensor<?x8x32x32xf32>
}

// Where only the run knows how long rows are, the work of a large window pays for a copy.
// CHECK-LABEL: @any_size
// CHECK: tensor.pad %{{.*}} low[0, 0, 5, 0] high[0, 0, 5, 0]
// CHECK: onnxc.kernel
// CHECK: tensor.pad %{{.*}} low[0, 5, 0, 0] high[0, 5, 0, 0]
// CHECK: onnxc.yield
func.func @any_size(%x: tensor<1x8x?x?xf32>, %w: tensor<8x1x11x11xf32>) -> tensor<1x8x?x?xf32> {
  %y = "onnx.Conv"(%x, %w) {group = 8 : i64, pads = array<i64: 5, 5, 5, 5>}
      : (tensor<1x8x?x?xf32>, tensor<8x1x11x11xf32>) -> tensor<1x8x?x?xf32>
  return %y : tensor<1x8x?x?xf32>
}

// CHECK-LABEL: @any_size_small
// CHECK-NOT: tensor.pad
// CHECK: onnxc.kernel
// CHECK: tensor.pad %{{.*}} low[0, 3, 3, 0] high[0, 3, 3, 0]
func.func @any_size_small(%x: tensor<1x8x?x?xf32>, %w: tensor<8x1x7x7xf32>) -> tensor<1x8x?x?xf32> {
  %y = "onnx.Conv"(%x, %w) {group = 8 : i64, pads = array<i64: 3, 3, 3, 3>}
      : (tensor<1x8x?x?xf32>, tensor<8x1x7x7xf32>) -> tensor<1x8x?x?xf32>
  return %y : tensor<1x8x?x?xf32>
}

// Along one dimension nothing is left to cut off.
// CHECK-LABEL: @one_dimension
// CHECK: tensor.pad
// CHECK: onnxc.kernel
// CHECK-NOT: tensor.pad
// CHECK: return
func.func @one_dimension(%x: tensor<1x4x32xf32>, %w: tensor<8x4x31xf32>) -> tensor<1x8x32xf32> {
  %y = "onnx.Conv"(%x, %w) {pads = array<i64: 15, 15>}
      : (tensor<1x4x32xf32>, tensor<8x4x31xf32>) -> tensor<1x8x32xf32>
  return %y : tensor<1x8x32xf32>
}

// Each tap of many channels is asked for, and left out where no row of a tile has it.
// CHECK-LABEL: @many_channels
// CHECK-NOT: tensor.pad
// CHECK: onnxc.kernel
// CHECK: tensor.pad
func.func @many_channels(%x: tensor<1x16x32xf32>, %w: tensor<8x16x31xf32>) -> tensor<1x8x32xf32> {
  %y = "onnx.Conv"(%x, %w) {pads = array<i64: 15, 15>}
      : (tensor<1x16x32xf32>, tensor<8x16x31xf32>) -> tensor<1x8x32xf32>
  return %y : tensor<1x8x32xf32>
}

// Groups as well: they are told apart before the image is padded.
// CHECK-LABEL: @groups
// CHECK-NOT: tensor.pad
// CHECK: onnxc.kernel
// CHECK: tensor.pad %{{.*}} low[0, 15, 0, 0] high[0, 15, 0, 0]
func.func @groups(%x: tensor<1x32x32xf32>, %w: tensor<32x16x31xf32>) -> tensor<1x32x32xf32> {
  %y = "onnx.Conv"(%x, %w) {group = 2 : i64, pads = array<i64: 15, 15>}
      : (tensor<1x32x32xf32>, tensor<32x16x31xf32>) -> tensor<1x32x32xf32>
  return %y : tensor<1x32x32xf32>
}

// A few tiles at the ends have code of their own.
// CHECK-LABEL: @few_borders
// CHECK-NOT: tensor.pad
// CHECK: onnxc.kernel
// CHECK: tensor.pad %{{.*}} low[0, 3, 3, 0] high[0, 3, 3, 0]
func.func @few_borders(%x: tensor<1x8x32x32xf32>, %w: tensor<8x1x7x7xf32>) -> tensor<1x8x32x32xf32> {
  %y = "onnx.Conv"(%x, %w) {group = 8 : i64, pads = array<i64: 3, 3, 3, 3>}
      : (tensor<1x8x32x32xf32>, tensor<8x1x7x7xf32>) -> tensor<1x8x32x32xf32>
  return %y : tensor<1x8x32x32xf32>
}

// Few sums are at a border and each is short: a copy of the image would cost more.
// CHECK-LABEL: @long_row
// CHECK-NOT: tensor.pad
// CHECK: onnxc.kernel
func.func @long_row(%x: tensor<1x8x900xf32>, %w: tensor<8x1x31xf32>) -> tensor<1x8x900xf32> {
  %y = "onnx.Conv"(%x, %w) {group = 8 : i64, pads = array<i64: 15, 15>}
      : (tensor<1x8x900xf32>, tensor<8x1x31xf32>) -> tensor<1x8x900xf32>
  return %y : tensor<1x8x900xf32>
}
