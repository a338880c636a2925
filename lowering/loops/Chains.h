// Long chains of operations on vectors, as an exponential is one.
#pragma once
#include "dialects/onnxc/Onnxc.h"

namespace onnxc {

inline constexpr int64_t manyVectorRegisters = 32;

// How many are written side by side. Constants fill most of the registers;
// where these are few they are read again anyway, and three chains with a spill
// or two took 0.9 of the time of two on Zen 3.
inline int64_t chainsSideBySide(TargetAttr target) {
  return target.getVectorRegisters() >= manyVectorRegisters ? 2 : 3;
}

// Vectors of a loop whose body is such a chain, in one iteration: measured
// where registers are few, a Softmax took 0.8 of the time of one.
inline int64_t vectorsOfChains(TargetAttr target) {
  return target.getVectorRegisters() >= manyVectorRegisters
             ? 1
             : chainsSideBySide(target);
}

} // namespace onnxc
