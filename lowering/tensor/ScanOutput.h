// The destination that a loop stacks one slice into per iteration. It is
// carried by the loop and written in place. Where the number of iterations is
// known before the loop and the slice is static, it has its size from the
// start; otherwise it grows, by doubling, in memory that only the run can size.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxc {

struct ScanOutput {
  mlir::RankedTensorType slice;
  int64_t axis = 0;
  bool isReversed = false;
  mlir::Value count; // of iterations, or null
  mlir::Operation *loop = nullptr;

  mlir::RankedTensorType type() const;
  bool grows() const { return !count || !slice.hasStaticShape(); }

  mlir::Value create(mlir::ImplicitLocOpBuilder &builder) const;
  // The destination with `value` put in as slice number `index`. A run ends
  // with an error where its shape is not that of the first.
  mlir::Value insert(mlir::ImplicitLocOpBuilder &builder, mlir::Value stack,
                     mlir::Value value, mlir::Value index) const;
  // What `count` iterations wrote.
  mlir::Value finish(mlir::ImplicitLocOpBuilder &builder, mlir::Value stack,
                     mlir::Value count) const;
};

} // namespace onnxc
