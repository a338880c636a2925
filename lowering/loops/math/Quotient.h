#pragma once
#include "mlir/IR/PatternMatch.h"

namespace onnxc {

// Quotients and remainders of vectors of i64 by a number. No vector unit has
// the upper half of their products: LLVM would take one lane after another.
void addQuotientPatterns(mlir::RewritePatternSet &patterns);

} // namespace onnxc
