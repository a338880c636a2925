// What formulas of sizes come to, for choices that cannot wait for the run.
#pragma once
#include "mlir/IR/Value.h"

namespace onnxc {

// The integer `value` where each size that the run alone knows is `size`, by
// folding. Nothing where it does not fold.
std::optional<int64_t> estimate(mlir::Value value, int64_t size);

} // namespace onnxc
