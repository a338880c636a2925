// RUN: onnxc-opt %s --onnx-to-linalg --propagate-layouts --canonicalize --cse --turn-lone-windows --propagate-layouts \
// RUN:     --canonicalize --cse | FileCheck %s
// RUN: onnxc-opt %s --onnx-to-linalg --propagate-layouts --canonicalize --cse --turn-lone-windows --propagate-layouts \
// RUN:     --canonicalize --cse --pack-layouts --fuse-elementwise --form-kernels --bufferize --expand-kernels \
// RUN:     | FileCheck %s --check-prefix=CODE

module attributes {onnxc.target = #onnxc.target<triple = "x86_64", cpu = "", features = "", vector_bits = 512,
    vector_registers = 32, fma_per_cycle = 2, l1_bytes = 49152, l2_bytes = 1048576, index_bits = 64, heap = true,
    has_f16 = true, memory_bytes_per_cycle = 3>} {

// An image that is moved there and back passes L2, and what is behind it comes late. Seven rows, which are half a plane,
// are a tile: each of seven steps along the taps of a row loads ten lines of the upper half, which lacks three.
// CHECK-LABEL: @behind_l2
// CHECK-NOT: linalg.transpose
// CHECK: return
// CODE-LABEL: func.func private @k_{{.*}}(%{{.*}}: memref<1x384x14x14xf32
// CODE: %{{.*}}:7 = scf.for
// CODE-COUNT-10: vector.maskedload
// CODE-NOT: vector.maskedload
// CODE: scf.yield
func.func @behind_l2(%x: tensor<1x384x14x14xf32>) -> tensor<1x384x14x14xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<384x1x7x7xf32>}> : () -> tensor<384x1x7x7xf32>
  %y = "onnx.Conv"(%x, %w) {group = 384 : i64, pads = array<i64: 3, 3, 3, 3>}
      : (tensor<1x384x14x14xf32>, tensor<384x1x7x7xf32>) -> tensor<1x384x14x14xf32>
  return %y : tensor<1x384x14x14xf32>
}

// CHECK-LABEL: @in_l2
// CHECK: linalg.transpose
func.func @in_l2(%x: tensor<1x128x14x14xf32>) -> tensor<1x128x14x14xf32> {
  %w = "onnx.Constant"() <{value = dense<0.5> : tensor<128x1x7x7xf32>}> : () -> tensor<128x1x7x7xf32>
  %y = "onnx.Conv"(%x, %w) {group = 128 : i64, pads = array<i64: 3, 3, 3, 3>}
      : (tensor<1x128x14x14xf32>, tensor<128x1x7x7xf32>) -> tensor<1x128x14x14xf32>
  return %y : tensor<1x128x14x14xf32>
}
}
