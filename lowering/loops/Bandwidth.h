// What a core gets from its memories, for counts of cycles, where it is no fact
// of #onnxc.target: the machines that were measured differ little.
#pragma once
#include <cstdint>

namespace onnxc {

// Of a line of every cache.
inline constexpr int64_t lineBytes = 64;
// Vectors that a core loads per cycle.
inline constexpr double loadsPerCycle = 2;
// Streamed from L2 beside multiplications.
inline constexpr double l2BytesPerCycle = 24;
// From behind L2.
inline constexpr double farBytesPerCycle = 8;
// To move an element of an image between channels first and last, in cycles.
inline constexpr double cyclesOfTranspose = 0.4;

} // namespace onnxc
