// RUN: onnxc-opt %s --onnx-to-linalg | FileCheck %s

// A result without labels is one element.
// CHECK-DAG: #[[ONE:.*]] = affine_map<(d0) -> ()>
// CHECK-LABEL: @inner_product
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[ONE]]], iterator_types = ["reduction"]}
func.func @inner_product(%a: tensor<5xf32>, %b: tensor<5xf32>) -> tensor<f32> {
  %y = "onnx.Einsum"(%a, %b) {equation = "i,i"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<f32>
  return %y : tensor<f32>
}
