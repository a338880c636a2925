// What an operation computes and moves, counted from its specification.
#pragma once
#include "compiler/report/KnownSizes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace onnxc {

struct Work {
  // Additions, multiplications, divisions, functions of elements; comparisons,
  // choices and conversions are none.
  int64_t flops = 0;
  // By the algorithm that the schedule names, at least: without padding.
  int64_t executed = 0;
  // In 32 bit lanes: what of these sums of products are, and what is not.
  double products = 0, others = 0;
};
Work countWork(mlir::Operation *region, KnownSizes &sizes);

// Of `buffer`, what a region reads or writes: not all of a table that elements
// are picked from, nor what windows leave out. A loop without specification
// moves what it touches however the data are.
enum class Direction { Reads, Writes };
struct Moved {
  int64_t bytes = 0;
  int64_t picked = 0; // of these; it may be one element again and again
};
Moved bytesMoved(mlir::Operation *region, mlir::Value buffer,
                 Direction direction, KnownSizes &sizes);

// Adds up products of factors that are read from different inputs.
bool isSumOfProducts(mlir::linalg::GenericOp op);

// How the region computes, in words.
struct Method {
  std::string algorithm, schedule, layout;
};
Method methodOf(mlir::Operation *region);

} // namespace onnxc
