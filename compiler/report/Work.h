// What an operation computes and moves, counted from its specification.
#pragma once
#include "compiler/report/KnownSizes.h"

namespace onnxc {

struct Work {
  // Additions, multiplications, divisions, functions of elements; comparisons,
  // choices and conversions are none.
  int64_t flops = 0;
  // By the algorithm that the schedule names, at least: without padding.
  int64_t executed = 0;
  int64_t products = 0; // of `executed`, what sums of products are
};
Work countWork(mlir::Operation *region, KnownSizes &sizes);

// Of `buffer`, what a region reads or writes: not all of a table that elements
// are picked from.
int64_t bytesMoved(mlir::Operation *region, mlir::Value buffer,
                   KnownSizes &sizes);

// How the region computes, in words.
struct Method {
  std::string algorithm, schedule, layout;
};
Method methodOf(mlir::Operation *region);

} // namespace onnxc
