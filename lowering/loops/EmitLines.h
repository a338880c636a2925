// Kernels of a convolution and the pool that reads it, row by row.
#pragma once
#include "lowering/loops/ContractionNest.h"

namespace onnxc {

// A pool and the kernel that makes its image, in NHWC or with more dimensions
// of pixels. What is said of loops is said of the kernels' contractions.
struct Lines {
  KernelOp producer, pool;
  mlir::OpOperand *image;                                  // of the pool
  unsigned producerBatch, producerRow, poolBatch, poolRow; // loops
  int64_t stride, taps, low; // of windows along rows; `low` lie in front of 0
  int64_t rows, elements;    // of an image, and of a row of it
};

// Fails unless the pool alone reads what the producer makes, both of them image
// by image and row by row, of known size.
mlir::FailureOr<Lines> matchLines(KernelOp producer, KernelOp pool);

// Scratch for the rows of a window, which lies behind the kernel's output.
mlir::RankedTensorType lineBuffer(const Lines &lines);

// What the kernel counts as where it is divided into tasks: so little that the
// rows which two of them compute are few.
int64_t workOfLines(KernelOp kernel, TargetAttr target);

// `arguments` are the kernel's operands in a function of its own.
llvm::LogicalResult emitLines(mlir::ImplicitLocOpBuilder &b, KernelOp kernel,
                              mlir::ValueRange arguments);

} // namespace onnxc
