// Operators of ai.onnx.ml.
include "dialects/onnx/OnnxElementwise.td"

def MlArrayFeatureExtractorOp : CompositeOp<"ArrayFeatureExtractor", [1]> {
  let opName = "ml.ArrayFeatureExtractor";
  let domain = "ai.onnx.ml";
  let arguments = (ins Tensor:$x, IntTensor:$y);
  let results = (outs Tensor:$z);
  let body = [{
    Node picked = gather(x, reshape(y, {-1}), rankOf(x) - 1);
    return {rankOf(x) == 1 ? unsqueeze(picked, {0}) : picked};
  }];
}

def MlBinarizerOp : ElementwiseOp<"Binarizer", [1]> {
  let opName = "ml.Binarizer";
  let domain = "ai.onnx.ml";
  let arguments = (ins NumberTensor:$x, FloatOr<"0.0f">:$threshold);
  let results = (outs NumberTensor:$y);
  let scalar = "select(real(x) > threshold, 1, 0)";
}

def MlTreeEnsembleOp : CompositeOp<"TreeEnsemble", [5]> {
  let opName = "ml.TreeEnsemble";
  let domain = "ai.onnx.ml";
  let arguments = (ins FloatTensor:$x, IntOr<"1">:$aggregate_function, Ints:$leaf_targetids, ElementsAttr:$leaf_weights,
                   OptionalAttr<ElementsAttr>:$membership_values, Int:$n_targets, Ints:$nodes_falseleafs,
                   Ints:$nodes_falsenodeids, Ints:$nodes_featureids, OptionalAttr<ElementsAttr>:$nodes_hitrates,
                   OptionalAttr<Ints>:$nodes_missing_value_tracks_true, ElementsAttr:$nodes_modes,
                   ElementsAttr:$nodes_splits, Ints:$nodes_trueleafs, Ints:$nodes_truenodeids,
                   IntOr<"0">:$post_transform, Ints:$tree_roots);
  let results = (outs FloatTensor:$y);
  let body = [{
    auto modes = intsOf(nodes_modes);
    auto splits = floatsOf(nodes_splits), weights = floatsOf(leaf_weights);
    auto members = membership_values ? floatsOf(*membership_values) : llvm::SmallVector<double>();
    if (!modes || !splits || !weights || !members)
      return graph.fail("modes must be integers, splits, weights and members floats");
    return evaluateTrees(graph, x, {nodes_featureids, *modes, nodes_truenodeids, nodes_falsenodeids, nodes_trueleafs,
                                    nodes_falseleafs, tree_roots,
                                    nodes_missing_value_tracks_true.value_or(llvm::ArrayRef<int64_t>()),
                                    leaf_targetids, *splits, *members, *weights, n_targets, aggregate_function,
                                    post_transform});
  }];
}
