// The order in which the steps of a block run, from the memory that they touch
// alone: no IR in here.
#pragma once
#include "lowering/memory/ArenaPlan.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace onnxc {

struct Step {
  // Earlier steps that it runs behind, each once.
  llvm::SmallVector<unsigned> after;
  // Buffers that it writes, and others that it reads; each once.
  llvm::SmallVector<unsigned> writes, reads;
  // What it takes for itself while it runs.
  uint64_t bytes = 0;
  // Moves no bytes, as sizes and views: runs as soon as it can.
  bool isSoon = false;
};

// Steps in an order in which they may run, the last one behind all others. A
// buffer lives from the first step that touches it to the last one.
struct RunGraph {
  std::vector<Step> steps;
  std::vector<uint64_t> bufferBytes;
};

using RunOrder = llvm::SmallVector<unsigned>;

// The most bytes that are live at one step.
uint64_t peakBytes(const RunGraph &graph, llvm::ArrayRef<unsigned> order);

// When buffers, and what steps take for themselves, hold a value; positions are
// those in the order.
llvm::SmallVector<Lifetime> lifetimesOf(const RunGraph &graph,
                                        llvm::ArrayRef<unsigned> order);

RunOrder givenOrder(const RunGraph &graph);

// From the end back, the operand that takes most beside what it leaves first.
RunOrder orderFromEnd(const RunGraph &graph);

// Of what is ready, always the step behind which least is live; among equals,
// the one that reads what was written last.
RunOrder orderByGrowth(const RunGraph &graph);

} // namespace onnxc
