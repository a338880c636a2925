// What a core gets from its memories, for counts of cycles, where it is no fact
// of #onnxc.target: the machines that were measured differ little.
#pragma once
#include "dialects/onnxc/Onnxc.h"

#include <cstdint>
#include <numeric>

namespace onnxc {

// Of a line of every cache.
inline constexpr int64_t lineBytes = 64;
// Lines a multiple of so many bytes apart share a set of the first cache.
inline constexpr int64_t pageBytes = 4096;
inline constexpr int64_t setsOfL1 = pageBytes / lineBytes;
inline int64_t waysOfL1(int64_t l1Bytes) { return l1Bytes / pageBytes; }
// Sets that lines have which lie so many bytes apart.
inline int64_t setsAtPitch(int64_t bytes) {
  return setsOfL1 / std::gcd(bytes / lineBytes, setsOfL1);
}
// Vectors that a core loads per cycle.
inline constexpr double loadsPerCycle = 2;
// Streamed from L2 beside multiplications.
inline constexpr double l2BytesPerCycle = 24;
// From behind L2.
inline constexpr double farBytesPerCycle = 8;
// Whether so many bytes of weights share no cache with the rest of a network.
inline bool isBehindCaches(int64_t bytes, TargetAttr target) {
  return bytes > 2 * target.getL2Bytes();
}
// Of the last cache, where it is not known those of a usual one.
inline int64_t l3BytesOf(TargetAttr target) {
  return target.getL3Bytes() ? target.getL3Bytes() : 16 << 20;
}
// Whether so many lanes are a vector of which a core multiplies two halves at
// once, but one whole one.
inline bool joinsHalves(int64_t lanes, double multiplyAddsPerCycle) {
  constexpr int64_t wholeLanes = 16;
  return lanes >= wholeLanes && multiplyAddsPerCycle == 1;
}
// Whether a mesh lies behind L2, from which a core gets little.
inline bool isFarFromMemory(TargetAttr target) {
  return target.getMemoryBytesPerCycle() < farBytesPerCycle;
}
// Whether a core sees so little ahead of one stream from behind L2 that it gets
// more from several places at once: behind a mesh, and Zen 3, not Zen 4 and 5.
inline bool seesLittleAhead(TargetAttr target) {
  return isFarFromMemory(target) ||
         (target.getL3Bytes() &&
          target.getL3BytesPerCycle() <= farBytesPerCycle);
}
// Of L2, for rows that read panels one after the other there.
inline int64_t bytesForRows(TargetAttr target) {
  return target.getL2Bytes() / 2;
}
// Instructions that make one sum of a vector of partial sums.
inline constexpr double foldOfLanes = 6;
// Cycles to store a part of a vector, which rows end with.
inline constexpr double maskedStore = 12;
// To move an element of an image between channels first and last, in cycles.
inline constexpr double cyclesOfTranspose = 0.4;
// The same of an image that is moved, read, and written and moved back. Granite
// Rapids took 0.35 to 0.6 cycles where L2 held all of that, 0.8 to 1.5 where it
// did not.
inline double cyclesOfTransposes(TargetAttr target, double bytes) {
  constexpr double copies = 4, fromBehindMesh = 1.1;
  return isFarFromMemory(target) && copies * bytes >= target.getL2Bytes()
             ? fromBehindMesh
             : cyclesOfTranspose;
}

} // namespace onnxc
