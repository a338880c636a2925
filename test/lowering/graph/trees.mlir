// RUN: onnxc-opt %s --expand-composite --split-input-file --verify-diagnostics | FileCheck %s

// One step for each level, whichever way a row takes.
// CHECK-LABEL: @a_step_for_each_level
// CHECK-COUNT-2: "onnx.GatherElements"
// CHECK-NOT: "onnx.GatherElements"
// CHECK: "onnx.ReduceSum"
func.func @a_step_for_each_level(%x: tensor<?x2xf32, ["N", ""]>) -> tensor<?x1xf32, ["N", ""]> {
  %0 = "onnx.ml.TreeEnsemble"(%x) {n_targets = 1 : i64, tree_roots = array<i64: 0>,
      leaf_targetids = array<i64: 0, 0, 0>, leaf_weights = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>,
      nodes_featureids = array<i64: 0, 1>, nodes_modes = dense<0> : tensor<2xui8>,
      nodes_splits = dense<[0.5, 0.25]> : tensor<2xf32>,
      nodes_trueleafs = array<i64: 0, 1>, nodes_truenodeids = array<i64: 1, 0>,
      nodes_falseleafs = array<i64: 1, 1>, nodes_falsenodeids = array<i64: 1, 2>}
      : (tensor<?x2xf32, ["N", ""]>) -> tensor<?x1xf32, ["N", ""]>
  return %0 : tensor<?x1xf32, ["N", ""]>
}

// -----

func.func @circles_are_no_trees(%x: tensor<3x2xf32>) -> tensor<3x1xf32> {
  // expected-error @+2 {{the nodes are no trees}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "onnx.ml.TreeEnsemble"(%x) {n_targets = 1 : i64, tree_roots = array<i64: 0>,
      leaf_targetids = array<i64: 0>, leaf_weights = dense<1.0> : tensor<1xf32>,
      nodes_featureids = array<i64: 0>, nodes_modes = dense<0> : tensor<1xui8>,
      nodes_splits = dense<0.5> : tensor<1xf32>,
      nodes_trueleafs = array<i64: 0>, nodes_truenodeids = array<i64: 0>,
      nodes_falseleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 0>}
      : (tensor<3x2xf32>) -> tensor<3x1xf32>
  return %0 : tensor<3x1xf32>
}
