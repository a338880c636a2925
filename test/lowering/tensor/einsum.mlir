// RUN: onnxc-opt %s --onnx-to-linalg | FileCheck %s

// A result without labels is one element.
// CHECK-DAG: #[[ONE:.*]] = affine_map<(d0) -> ()>
// CHECK-LABEL: @inner_product
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[ONE]]], iterator_types = ["reduction"]}
func.func @inner_product(%a: tensor<5xf32>, %b: tensor<5xf32>) -> tensor<f32> {
  %y = "onnx.Einsum"(%a, %b) {equation = "i,i"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// Two operands at a time: j is summed before l is there.
// CHECK-LABEL: @three_factors
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}}, %arg2
func.func @three_factors(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>, %c: tensor<6x7xf32>) -> tensor<4x7xf32> {
  %y = "onnx.Einsum"(%a, %b, %c) {equation = "ij,jk,kl->il"}
      : (tensor<4x5xf32>, tensor<5x6xf32>, tensor<6x7xf32>) -> tensor<4x7xf32>
  return %y : tensor<4x7xf32>
}

// What both factors share and a later one sums is a batch of matrices.
// CHECK-LABEL: @mixture_of_experts
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 {{.*}} outs(%{{.*}} : tensor<4x64x128xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %arg2 {{.*}} outs(%{{.*}} : tensor<64x128xf32>)
func.func @mixture_of_experts(%h: tensor<4x64x256xf32>, %w: tensor<4x256x128xf32>, %gate: tensor<64x4xf32>)
    -> tensor<64x128xf32> {
  %y = "onnx.Einsum"(%h, %w, %gate) {equation = "nth,nhd,tn->td"}
      : (tensor<4x64x256xf32>, tensor<4x256x128xf32>, tensor<64x4xf32>) -> tensor<64x128xf32>
  return %y : tensor<64x128xf32>
}
