// What formulas of sizes come to, for choices that cannot wait for the run.
#pragma once
#include "mlir/IR/Value.h"

namespace onnxc {

// The integer `value` where each number that does not follow from constants, as
// a size that the run alone knows, is `size`.
int64_t estimate(mlir::Value value, int64_t size);

} // namespace onnxc
