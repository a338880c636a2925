#pragma once
#include "mlir/IR/Value.h"

namespace onnxc {

// Whether nothing but sums, of products and of others, comes of what is read of
// `powers`, exponentials, and nothing that follows shows how small those are
// that would be subnormal.
bool isOnlySummed(mlir::Value powers);

} // namespace onnxc
