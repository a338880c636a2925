// Windows that slide over an image, of convolutions and pools.
#pragma once
#include "dialects/onnx/Graph.h"
#include "dialects/onnx/Sizes.h"
#include <vector>

namespace onnxc {

struct WindowDim {
  Index kernel, stride, dilation;
  Index before, after; // elements of padding
  Index image, result;
  Index mostAfter = 0; // what windows reach of padding behind, at most
  // Distance between the first and the last element of a window, and one more.
  Index reach() const { return (kernel - 1) * dilation + 1; }
  // Padding behind the image that the last window reaches; more than `after`
  // with ceil_mode, less where the stride leaves a rest. Where only the run
  // knows that, the most that it may be.
  Index touchedAfter() const {
    Index touched =
        greatest((result - 1) * stride + reach() - image - before, 0);
    return touched.number ? touched : mostAfter;
  }
};
using Window = std::vector<WindowDim>; // one for each spatial dimension

// The attributes that convolutions and pools share.
struct WindowAttributes {
  llvm::StringRef autoPad;
  OptionalInts dilations, pads, strides;
  bool mayBeEmpty = false; // where the window is larger than the image
  bool ceil = false;
};
// `image` has the spatial sizes only.
llvm::FailureOr<Window> slidingWindow(Report report,
                                      llvm::ArrayRef<Index> image,
                                      llvm::ArrayRef<Index> kernel,
                                      const WindowAttributes &attributes);

// One shape for each result: as the operand, with the window's sizes.
llvm::FailureOr<Shapes> pooledShapes(const Input &x,
                                     const llvm::FailureOr<Window> &window,
                                     int64_t results);

// The attributes of a transposed convolution.
struct TransposedConvolution {
  llvm::StringRef autoPad;
  OptionalInts dilations, outputPadding, outputShape, pads, strides;
  int64_t group;
};
llvm::SmallVector<Node> convTranspose(Graph &graph, Node x, Node w, Node b,
                                      const TransposedConvolution &how);

class Col2ImOp;
// Fails, and makes nothing, for what is no sum of few pieces: dilated blocks,
// and those whose size or channels only the run knows.
llvm::FailureOr<Node> addUpBlocks(Graph &graph, Col2ImOp col2Im);

struct DeformableConvolution {
  Node x, w, offset, b, mask;
  OptionalInts dilations, pads, strides;
  int64_t group, offsetGroup;
};
llvm::SmallVector<Node> deformableConvolution(Graph &graph,
                                              DeformableConvolution how);

// An equation of Einsum: a number for each label, those of the result first.
struct EinsumLabels {
  llvm::SmallVector<llvm::SmallVector<int64_t>> operands;
  int64_t results = 0, count = 0;
};
llvm::FailureOr<EinsumLabels> parseEinsum(Report report,
                                          llvm::StringRef equation,
                                          llvm::ArrayRef<int64_t> ranks);

} // namespace onnxc
