#pragma once
#include <cstdint>

namespace onnxc {

// A Range has at most so many elements.
inline constexpr int64_t mostRangeElements = int64_t(1) << 62;

} // namespace onnxc
