// Reordering of constants at compile time, on their bytes.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"

namespace onnxc {

// `value` with its dimensions permuted: result dimension i is dimension
// permutation[i]. A splat stays a splat. Null for elements that are not whole
// bytes in memory.
mlir::ElementsAttr permuteConstant(mlir::ElementsAttr value,
                                   llvm::ArrayRef<int64_t> permutation);

} // namespace onnxc
