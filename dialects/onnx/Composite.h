// Parts that several composite operators share.
#pragma once
#include "dialects/onnx/Graph.h"

namespace onnxc {

// The same list, in a run that ends unless it has that length.
Node ofLength(Node list, int64_t length, llvm::StringRef operand);

// Whether the one element is known, and below 0.
bool isSurelyNegative(Node x);

Node softmax(Node x, llvm::ArrayRef<int64_t> axes);
Node logSoftmax(Node x, llvm::ArrayRef<int64_t> axes);

// What the targets of log probabilities cost, each times its class's weight.
Node logLikelihoodLoss(Node logProbabilities, Node target, Node weight,
                       std::optional<int64_t> ignored,
                       llvm::StringRef reduction);

// a - b cos(t) + c cos(2t) for `size` samples t of a period.
struct Cosines {
  double a, b, c;
};
Node cosineWindow(Node size, bool periodic, Cosines weights);

// x / rms(x) * scale, and 1 / rms(x).
llvm::SmallVector<Node> rmsNormalization(Node x, Node scale, int64_t axis,
                                         double epsilon);

// Where the points of an image of `size` come from.
llvm::SmallVector<Node> affineGrid(Graph &graph, Node theta, Node size,
                                   bool alignCorners);

// Scan-8, for each of a batch. `inputs` are states, then sequences.
struct BatchedScan {
  Node lengths;
  llvm::ArrayRef<Node> inputs;
  int64_t sequences;
  llvm::ArrayRef<int64_t> directions;
  mlir::Region &body;
};
llvm::SmallVector<Node> batchedScan(Graph &graph, BatchedScan in);

// Unsigned bytes, their scale and their zero point, which the values decide.
llvm::SmallVector<Node> dynamicallyQuantized(Node x);

// How often the n-grams of a pool occur in the rows of x.
struct NGrams {
  int64_t shortest, longest, mostSkipped;
  llvm::ArrayRef<int64_t> begins, columns, pool; // begins: of each length
  llvm::ArrayRef<float> weights;
  llvm::StringRef mode;
};
llvm::SmallVector<Node> countNGrams(Graph &graph, Node x, NGrams grams);

// One step of an optimizer. `inputs` are `groups` lists of equal length; `step`
// gets one of each and gives one for each list of results.
llvm::SmallVector<Node> optimize(
    Graph &graph, llvm::ArrayRef<Node> inputs, int64_t groups,
    llvm::function_ref<llvm::SmallVector<Node>(llvm::ArrayRef<Node>)> step);

} // namespace onnxc
