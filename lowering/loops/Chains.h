// Long chains of operations on vectors, as an exponential is one.
#pragma once
#include "dialects/onnxc/Onnxc.h"

namespace onnxc {

inline constexpr int64_t manyVectorRegisters = 32;

// How many are written side by side: registers hold so many beside their
// constants.
inline int64_t chainsSideBySide(TargetAttr target) {
  return target.getVectorRegisters() >= manyVectorRegisters ? 4 : 3;
}

// Vectors of a loop whose body is such a chain, in one iteration. Measured
// where registers are few (Zen 3): a Softmax took 0.8 of the time of one.
inline int64_t vectorsOfChains(TargetAttr target) {
  return target.getVectorRegisters() >= manyVectorRegisters
             ? 1
             : chainsSideBySide(target);
}

} // namespace onnxc
