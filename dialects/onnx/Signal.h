// Parts of the operators on signals.
#pragma once
#include "dialects/onnx/Graph.h"

namespace onnxc {

struct FourierTransform {
  Node x;      // [..., 1 or 2]: real, or real and imaginary parts
  Node length; // absent: that of the axis
  Node axis;   // perhaps of the run
  bool inverse, onesided;
};
llvm::SmallVector<Node> fourierTransform(Graph &graph, FourierTransform how);

struct ShortTimeTransform {
  Node signal, step, window, length;
  bool onesided;
};
llvm::SmallVector<Node> shortTimeTransform(Graph &graph,
                                           ShortTimeTransform how);

struct MelScale {
  Node bins, dftLength, sampleRate, lowest, highest;
};
Node melWeights(MelScale scale, int64_t dataType);

} // namespace onnxc
