// Operators of ai.onnx.ml on numbers.
include "dialects/onnx/OnnxElementwise.td"

class MlComposite<string type, list<int> versions> : CompositeOp<type, versions> {
  let opName = "ml." # type;
  let domain = "ai.onnx.ml";
}

def MlArrayFeatureExtractorOp : MlComposite<"ArrayFeatureExtractor", [1]> {
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

// One value for all features, or one for each.
def MlImputerOp : MlComposite<"Imputer", [1]> {
  let arguments = (ins NumberTensor:$x, OptionalAttr<Floats>:$imputed_value_floats,
                   OptionalAttr<Ints>:$imputed_value_int64s, FloatOr<"0.0f">:$replaced_value_float,
                   IntOr<"0">:$replaced_value_int64);
  let results = (outs NumberTensor:$y);
  let body = [{
    if (imputed_value_floats.has_value() == imputed_value_int64s.has_value())
      return graph.fail("expected either 'imputed_value_floats' or 'imputed_value_int64s'");
    if (imputed_value_int64s)
      return {select(x == replaced_value_int64, castLike(graph.ints(*imputed_value_int64s), x), x)};
    Node missing = std::isnan(replaced_value_float) ? op<IsNaNOp>({x}) : x == replaced_value_float;
    return {select(missing, castLike(graph.floats(*imputed_value_floats), x), x)};
  }];
}

def MlLinearRegressorOp : MlComposite<"LinearRegressor", [1]> {
  let arguments = (ins NumberTensor:$x, OptionalAttr<Floats>:$coefficients, OptionalAttr<Floats>:$intercepts,
                   OneOfOr<"NONE", ["SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]>:$post_transform,
                   IntOr<"1">:$targets);
  let results = (outs FloatTensor:$y);
  let elementType = "mlir::Float32Type::get(context)";
  let body = [{
    if (!coefficients || targets < 1)
      return graph.fail("expected 'coefficients' for each of the targets");
    if (post_transform != "NONE")
      return graph.fail("post_transform '" + post_transform + "' is not supported");
    Node weights = reshape(graph.floats(*coefficients), {targets, -1});
    Node data = cast(rankOf(x) == 1 ? unsqueeze(x, {0}) : x, 1);
    Node y = matmul(data, transpose(weights, {1, 0}));
    return {intercepts ? y + graph.floats(*intercepts) : y};
  }];
}

// Rows by their norm; rows of zeros stay.
def MlNormalizerOp : MlComposite<"Normalizer", [1]> {
  let arguments = (ins NumberTensor:$x, OneOfOr<"MAX", ["L1", "L2"]>:$norm);
  let results = (outs FloatTensor:$y);
  let elementType = "mlir::Float32Type::get(context)";
  let body = [{
    Node data = cast(x, 1);
    llvm::SmallVector<int64_t> last = {rankOf(x) - 1};
    Node size = norm == "MAX" ? reduce<ReduceMaxOp>(data, last)
                : norm == "L1" ? reduce<ReduceL1Op>(data, last) : reduce<ReduceL2Op>(data, last);
    return {data / select(size == 0, constantLike(1, data), size)};
  }];
}

def MlScalerOp : MlComposite<"Scaler", [1]> {
  let arguments = (ins NumberTensor:$x, OptionalAttr<Floats>:$offset, OptionalAttr<Floats>:$scale);
  let results = (outs FloatTensor:$y);
  let elementType = "mlir::Float32Type::get(context)";
  let body = [{
    Node y = cast(x, 1);
    if (offset)
      y = y - graph.floats(*offset);
    return {scale ? y * graph.floats(*scale) : y};
  }];
}

// Branches lead on to nodes or leaves; a leaf adds to one column of the result.
def MlTreeEnsembleOp : MlComposite<"TreeEnsemble", [5]> {
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
