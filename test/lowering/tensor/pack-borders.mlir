// RUN: onnxc-opt --pack-borders --split-input-file --verify-diagnostics %s | FileCheck %s

// CHECK-LABEL: @four_bits_come_in_and_leave_packed
// CHECK-SAME: (%[[PACKED:.*]]: tensor<8xi8> {onnxc.element = tensor<3x5xi4>})
// CHECK-SAME: -> (tensor<8xi8> {onnxc.element = tensor<3x5xui4>})
func.func @four_bits_come_in_and_leave_packed(%x: tensor<3x5xi8> {onnxc.element = i4})
    -> (tensor<3x5xi8> {onnxc.element = ui4}) {
  // CHECK: linalg.generic {{.*}} ins(%[[PACKED]] : tensor<8xi8>) outs({{.*}} : tensor<15xi8>)
  // CHECK: arith.extsi {{.*}} : i4 to i8
  // CHECK: tensor.expand_shape {{.*}} into tensor<3x5xi8>
  // CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<8xi8>)
  return %x : tensor<3x5xi8>
}

// -----

// CHECK-LABEL: @whole_bytes_stay
// CHECK-NOT: linalg.generic
func.func @whole_bytes_stay(%x: tensor<3x5xi8> {onnxc.element = f8E4M3FN}) -> tensor<3x5xi8> {
  return %x : tensor<3x5xi8>
}

// -----

// CHECK-LABEL: @unknown_sizes_keep_their_type_and_are_read_as_bytes
// CHECK-SAME: (%[[PACKED:.*]]: tensor<?x3xi8> {onnxc.element = i4})
// CHECK-SAME: -> (tensor<?x3xi8> {onnxc.element = i4})
func.func @unknown_sizes_keep_their_type_and_are_read_as_bytes(%x: tensor<?x3xi8> {onnxc.element = i4})
    -> (tensor<?x3xi8> {onnxc.element = i4}) {
  // CHECK: %[[BYTES:.*]] = tensor.collapse_shape %[[PACKED]]
  // CHECK: linalg.generic {{.*}} ins(%[[BYTES]] : tensor<?xi8>)
  // CHECK: %[[WHOLE:.*]] = tensor.expand_shape
  // CHECK: return %[[WHOLE]]
  return %x : tensor<?x3xi8>
}
