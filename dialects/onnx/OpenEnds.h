#pragma once
#include "dialects/onnx/Index.h"
#include <limits>

namespace onnxc {

// An end of a slice that stands for that of its axis, however long that is:
// ONNX recommends the greatest integer, and exporters take that of any type or
// the number behind it. The run makes sure that no axis is longer.
inline bool isOpenEnd(Index end) {
  return end.number && *end.number >= std::numeric_limits<int32_t>::max();
}

} // namespace onnxc
