// Who reads or makes a tensor by way of others that only rearrange it: kernels
// end there, and say so.
#pragma once
#include "mlir/IR/Value.h"

namespace onnxc {

struct BehindView {
  mlir::Operation *op;
  const char *whyApart;
};

// Operations of linalg that read `value` by way of views and transposes.
llvm::SmallVector<BehindView> readersBehindViews(mlir::Value value);

// What makes `value`, if only views and transposes lie between; `op` is null
// where none do.
BehindView makerBehindViews(mlir::Value value);

} // namespace onnxc
