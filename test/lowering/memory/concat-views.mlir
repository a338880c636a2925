// RUN: onnxc-opt --split-input-file --set-signature --bufferize --canonicalize --cse --elide-copies %s | FileCheck %s

// Channels are the last dimension. No block of these copies anything.

// Inception: three branches side by side.
// CHECK-LABEL: func.func @model(
// CHECK-NOT: memref.copy
// CHECK-NOT: linalg.copy
// CHECK: return
func.func @model(%x: tensor<8x16xf32>, %w4: tensor<16x4xf32>,
    %v4: tensor<4x4xf32>, %w8: tensor<16x8xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %a_e = tensor.empty() : tensor<8x4xf32>
  %a_z = linalg.fill ins(%zero : f32) outs(%a_e : tensor<8x4xf32>)
      -> tensor<8x4xf32>
  %a = linalg.matmul ins(%x, %w4 : tensor<8x16xf32>, tensor<16x4xf32>)
      outs(%a_z : tensor<8x4xf32>) -> tensor<8x4xf32>
  %b0_e = tensor.empty() : tensor<8x4xf32>
  %b0_z = linalg.fill ins(%zero : f32) outs(%b0_e : tensor<8x4xf32>)
      -> tensor<8x4xf32>
  %b0 = linalg.matmul ins(%x, %w4 : tensor<8x16xf32>, tensor<16x4xf32>)
      outs(%b0_z : tensor<8x4xf32>) -> tensor<8x4xf32>
  %b_e = tensor.empty() : tensor<8x4xf32>
  %b_z = linalg.fill ins(%zero : f32) outs(%b_e : tensor<8x4xf32>)
      -> tensor<8x4xf32>
  %b = linalg.matmul ins(%b0, %v4 : tensor<8x4xf32>, tensor<4x4xf32>)
      outs(%b_z : tensor<8x4xf32>) -> tensor<8x4xf32>
  %c_e = tensor.empty() : tensor<8x8xf32>
  %c_z = linalg.fill ins(%zero : f32) outs(%c_e : tensor<8x8xf32>)
      -> tensor<8x8xf32>
  %c = linalg.matmul ins(%x, %w8 : tensor<8x16xf32>, tensor<16x8xf32>)
      outs(%c_z : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y_0 = tensor.empty() : tensor<8x16xf32>
  %y_1 = tensor.insert_slice %a into %y_0[0, 0] [8, 4] [1, 1]
      : tensor<8x4xf32> into tensor<8x16xf32>
  %y_2 = tensor.insert_slice %b into %y_1[0, 4] [8, 4] [1, 1]
      : tensor<8x4xf32> into tensor<8x16xf32>
  %y = tensor.insert_slice %c into %y_2[0, 8] [8, 8] [1, 1]
      : tensor<8x8xf32> into tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// -----

// DenseNet: every value is part of all later concatenations.
// CHECK-LABEL: func.func @model(
// CHECK-NOT: memref.copy
// CHECK-NOT: linalg.copy
// CHECK: return
func.func @model(%x: tensor<8x16xf32>, %w16: tensor<16x4xf32>,
    %w4: tensor<4x4xf32>, %w8: tensor<8x4xf32>, %w12: tensor<12x4xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %a_e = tensor.empty() : tensor<8x4xf32>
  %a_z = linalg.fill ins(%zero : f32) outs(%a_e : tensor<8x4xf32>)
      -> tensor<8x4xf32>
  %a = linalg.matmul ins(%x, %w16 : tensor<8x16xf32>, tensor<16x4xf32>)
      outs(%a_z : tensor<8x4xf32>) -> tensor<8x4xf32>
  %b_e = tensor.empty() : tensor<8x4xf32>
  %b_z = linalg.fill ins(%zero : f32) outs(%b_e : tensor<8x4xf32>)
      -> tensor<8x4xf32>
  %b = linalg.matmul ins(%a, %w4 : tensor<8x4xf32>, tensor<4x4xf32>)
      outs(%b_z : tensor<8x4xf32>) -> tensor<8x4xf32>
  %ab_0 = tensor.empty() : tensor<8x8xf32>
  %ab_1 = tensor.insert_slice %a into %ab_0[0, 0] [8, 4] [1, 1]
      : tensor<8x4xf32> into tensor<8x8xf32>
  %ab = tensor.insert_slice %b into %ab_1[0, 4] [8, 4] [1, 1]
      : tensor<8x4xf32> into tensor<8x8xf32>
  %c_e = tensor.empty() : tensor<8x4xf32>
  %c_z = linalg.fill ins(%zero : f32) outs(%c_e : tensor<8x4xf32>)
      -> tensor<8x4xf32>
  %c = linalg.matmul ins(%ab, %w8 : tensor<8x8xf32>, tensor<8x4xf32>)
      outs(%c_z : tensor<8x4xf32>) -> tensor<8x4xf32>
  %abc_0 = tensor.empty() : tensor<8x12xf32>
  %abc_1 = tensor.insert_slice %a into %abc_0[0, 0] [8, 4] [1, 1]
      : tensor<8x4xf32> into tensor<8x12xf32>
  %abc_2 = tensor.insert_slice %b into %abc_1[0, 4] [8, 4] [1, 1]
      : tensor<8x4xf32> into tensor<8x12xf32>
  %abc = tensor.insert_slice %c into %abc_2[0, 8] [8, 4] [1, 1]
      : tensor<8x4xf32> into tensor<8x12xf32>
  %d_e = tensor.empty() : tensor<8x4xf32>
  %d_z = linalg.fill ins(%zero : f32) outs(%d_e : tensor<8x4xf32>)
      -> tensor<8x4xf32>
  %d = linalg.matmul ins(%abc, %w12 : tensor<8x12xf32>, tensor<12x4xf32>)
      outs(%d_z : tensor<8x4xf32>) -> tensor<8x4xf32>
  %y_0 = tensor.empty() : tensor<8x16xf32>
  %y_1 = tensor.insert_slice %a into %y_0[0, 0] [8, 4] [1, 1]
      : tensor<8x4xf32> into tensor<8x16xf32>
  %y_2 = tensor.insert_slice %b into %y_1[0, 4] [8, 4] [1, 1]
      : tensor<8x4xf32> into tensor<8x16xf32>
  %y_3 = tensor.insert_slice %c into %y_2[0, 8] [8, 4] [1, 1]
      : tensor<8x4xf32> into tensor<8x16xf32>
  %y = tensor.insert_slice %d into %y_3[0, 12] [8, 4] [1, 1]
      : tensor<8x4xf32> into tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// -----

// U-Net: the skipped value is read before it is concatenated.
// CHECK-LABEL: func.func @model(
// CHECK-NOT: memref.copy
// CHECK-NOT: linalg.copy
// CHECK: return
func.func @model(%x: tensor<8x16xf32>, %w8: tensor<16x8xf32>,
    %w4: tensor<8x4xf32>, %v8: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %skip_e = tensor.empty() : tensor<8x8xf32>
  %skip_z = linalg.fill ins(%zero : f32) outs(%skip_e : tensor<8x8xf32>)
      -> tensor<8x8xf32>
  %skip = linalg.matmul ins(%x, %w8 : tensor<8x16xf32>, tensor<16x8xf32>)
      outs(%skip_z : tensor<8x8xf32>) -> tensor<8x8xf32>
  %down_e = tensor.empty() : tensor<8x4xf32>
  %down_z = linalg.fill ins(%zero : f32) outs(%down_e : tensor<8x4xf32>)
      -> tensor<8x4xf32>
  %down = linalg.matmul ins(%skip, %w4 : tensor<8x8xf32>, tensor<8x4xf32>)
      outs(%down_z : tensor<8x4xf32>) -> tensor<8x4xf32>
  %up_e = tensor.empty() : tensor<8x8xf32>
  %up_z = linalg.fill ins(%zero : f32) outs(%up_e : tensor<8x8xf32>)
      -> tensor<8x8xf32>
  %up = linalg.matmul ins(%down, %v8 : tensor<8x4xf32>, tensor<4x8xf32>)
      outs(%up_z : tensor<8x8xf32>) -> tensor<8x8xf32>
  %all_0 = tensor.empty() : tensor<8x16xf32>
  %all_1 = tensor.insert_slice %skip into %all_0[0, 0] [8, 8] [1, 1]
      : tensor<8x8xf32> into tensor<8x16xf32>
  %all = tensor.insert_slice %up into %all_1[0, 8] [8, 8] [1, 1]
      : tensor<8x8xf32> into tensor<8x16xf32>
  %y_e = tensor.empty() : tensor<8x8xf32>
  %y_z = linalg.fill ins(%zero : f32) outs(%y_e : tensor<8x8xf32>)
      -> tensor<8x8xf32>
  %y = linalg.matmul ins(%all, %w8 : tensor<8x16xf32>, tensor<16x8xf32>)
      outs(%y_z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
