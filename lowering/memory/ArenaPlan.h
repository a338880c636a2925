// Where buffers lie in the arena, from their lifetimes alone: no IR in here.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace onnxc {

// Positions of the program at which a buffer holds a value, both inclusive.
struct Lifetime {
  int64_t first, last;
  uint64_t bytes;

  bool meets(const Lifetime &other) const {
    return first <= other.last && other.first <= last;
  }
};

struct ArenaPlan {
  llvm::SmallVector<uint64_t> offsets; // one per lifetime
  uint64_t bytes = 0;
};

// Buffers that meet never overlap. Among plans of equal size, a buffer gets the
// bytes that were freed last: they are still in the cache.
ArenaPlan planArena(llvm::ArrayRef<Lifetime> lifetimes, uint64_t alignment);

// The most bytes that are live at one position: no plan needs less.
uint64_t peakBytes(llvm::ArrayRef<Lifetime> lifetimes, uint64_t alignment);

// Sizes that only entry knows: offset(i) = max of floors[i] and offset(j) +
// size(j) over the j in below[i]; order holds every j before its i.
struct StackedPlan {
  llvm::SmallVector<unsigned> order;
  llvm::SmallVector<llvm::SmallVector<unsigned>> below; // one per lifetime
  llvm::SmallVector<uint64_t> floors;                   // zero to begin with
  uint64_t leastBytes = 0;                              // of the arena
};

// Correct for any sizes, and no larger than planArena() for the sizes given.
StackedPlan planStack(llvm::ArrayRef<Lifetime> lifetimes, uint64_t alignment);

} // namespace onnxc
