// Writes the loops of a nest: vector code along one loop, accumulators in
// registers, what is left of a vector under a mask or element by element.
#pragma once
#include "lowering/loops/Nest.h"

namespace onnxc {

// What the machine has, from #onnxc.target.
struct Lanes {
  int64_t vectorBits = 0;   // 0: no vectors
  bool hasMasks = false;    // of 32 and 64 bit elements
  bool masksSlowly = false; // a store takes some cores a dozen cycles
  int64_t registers = 0;    // of vectors
  bool permutes = false;    // takes f32 lanes by a vector of indices
  int64_t chains = 1;       // vectors of a long body in one iteration
  int64_t l2Bytes = 0;      // 0: there is no such cache
  int64_t streamBytes = 0;  // what is stored past the caches; 0: nothing
  bool isFar = false;       // a mesh lies behind L2
};
Lanes lanesOf(mlir::Operation *op);

void emitNest(mlir::ImplicitLocOpBuilder &b, Nest nest, Lanes lanes);

} // namespace onnxc
