// How much a kernel does, for whoever decides whether to divide it.
#pragma once
#include "dialects/onnxc/Onnxc.h"

namespace onnxc {

// On the function of a kernel or of loops; dropped once it has been decided.
inline constexpr llvm::StringLiteral workAttrName = "onnxc.work";

// On the function of a kernel: how many of its last arguments are scratch,
// which nobody reads after it.
inline constexpr llvm::StringLiteral scratchAttrName = "onnxc.scratch";
// On a loop inside of outermost ones: no iteration of it reads or writes what
// another one writes.
inline constexpr llvm::StringLiteral innerAttrName = "onnxc.inner";

// On such a loop: tasks share it rather than those around it. What all of its
// iterations read is little, and what each of them reads the kernel before has
// written in the same order.
inline constexpr llvm::StringLiteral sharedFirstAttrName = "onnxc.shared_first";

// On a loop: what an iteration does belongs together, also where there is but
// one; it makes what it reads of scratch.
inline constexpr llvm::StringLiteral stepAttrName = "onnxc.step";

// On a comparison of a loop's variable with where the loop begins, which is
// where the share of a task does.
inline constexpr llvm::StringLiteral firstAttrName = "onnxc.first";

// On a loop: it is a part of one tile, and what it reads another part wrote. On
// scratch: nothing in it outlives a tile.
inline constexpr llvm::StringLiteral tileAttrName = "onnxc.tile";

// Threads come with a heap.
inline bool hasThreads(TargetAttr target) { return target && target.getHeap(); }

// What an unknown size counts as.
inline constexpr int64_t unknownSize = 8;

// Cycles of one core, roughly: the longer one of calculating and of moving the
// operands' bytes.
int64_t workOf(mlir::Operation *op, TargetAttr target);

// Cycles of a task, about 2.5 us: a region costs its workers 1 us.
inline constexpr int64_t leastWork = int64_t(1) << 13;

} // namespace onnxc
