#pragma once
#include <cstdint>

namespace onnxc {

// A Range has less elements than this.
inline constexpr int64_t mostRangeElements = int64_t(1) << 62;

} // namespace onnxc
