// Ensembles of decision trees.
#pragma once
#include "dialects/onnx/Graph.h"

namespace onnxc {

// As TreeEnsemble-5 has them: a branch goes on at a node or at a leaf.
struct TreeEnsemble {
  llvm::ArrayRef<int64_t> features, modes, trueTargets, falseTargets,
      trueIsLeaf, falseIsLeaf, roots, missingIsTrue, leafColumns;
  llvm::ArrayRef<double> splits, members, leafWeights;
  int64_t columns, aggregate, transform;
};
llvm::SmallVector<Node> evaluateTrees(Graph &graph, Node x,
                                      const TreeEnsemble &trees);

} // namespace onnxc
