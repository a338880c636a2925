// Long chains of operations on vectors, as an exponential is one.
#pragma once
#include "dialects/onnxc/Onnxc.h"

namespace onnxc {

inline constexpr int64_t manyVectorRegisters = 32;

// How many are written side by side. Constants fill most of the registers;
// where these are few they are read again anyway, and three chains with a spill
// or two took 0.9 of the time of two on Zen 3. Loops over such chains take as
// many vectors an iteration: a Softmax took 0.8 of the time of one on Zen 3, a
// GELU 0.93 on Zen 4 with AVX-512.
inline int64_t chainsSideBySide(TargetAttr target) {
  return target.getVectorRegisters() >= manyVectorRegisters ? 2 : 3;
}

} // namespace onnxc
