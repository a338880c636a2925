// What an operation computes and moves, counted from its specification.
#pragma once
#include "lowering/loops/Winograd.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace onnxc {

// An unknown size counts as this one; plan-arena's symbol-hint.
inline constexpr int64_t unknownSize = 64;

struct Work {
  // Additions, multiplications, divisions, functions of elements; comparisons,
  // choices and conversions are none.
  int64_t flops = 0;
  int64_t executed = 0; // by the algorithm that the schedule names
};
Work countWork(mlir::Operation *region);

// Distinct bytes behind a view: a dimension of stride 0 has one element.
int64_t bytesOf(mlir::Type type);

// How the region computes, in words.
struct Method {
  std::string algorithm, schedule, layout;
};
Method methodOf(mlir::Operation *region);

} // namespace onnxc
