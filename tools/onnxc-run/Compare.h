// Compares an output with what was expected.

#pragma once

#include "Tensor.h"

namespace onnxc::run {

struct Tolerance {
  double relative;
  double absolute;
  double ofLargest; // part of the largest expected magnitude
};

// What differs, in words, the worst element first; empty where the tensors
// agree. Types and shapes must be the same.
std::string difference(const Tensor &actual, const Tensor &expected,
                       const Tolerance &tolerance);

// The element at `index` as a number. Complex tensors have two for each.
double numberAt(const Tensor &tensor, uint64_t index);

} // namespace onnxc::run
