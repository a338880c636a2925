// Integer tensors whose elements are linear in their position: what exporters
// write for the indices of a slice, in whatever order of operators.
#pragma once
#include "dialects/onnx/Index.h"

namespace onnxc {

// start + the sum of slopes[i] * position[i]; `start` is a number or a size.
struct Linear {
  Index start = 0;
  llvm::SmallVector<int64_t> slopes; // 0 along a dimension of size 1
};

// By number or name; those that have neither are empty.
Sizes namedSizes(mlir::Value tensor);

// The elements of an integer tensor at [..., last], or all of them; nothing
// where they are not known to be linear in the positions before.
std::optional<Linear> linearElements(mlir::Value tensor,
                                     std::optional<int64_t> last = {});

} // namespace onnxc
