// Epilogues of contractions with fewer columns than their vectors have lanes.
#pragma once
#include "lowering/loops/Contraction.h"

namespace onnxc {

// Whether `next`, elementwise behind `root`, takes less time in a pass of its
// own, whose vectors run from row to row: too many lanes of the contraction's
// vectors, of so many each, hold no element.
bool wastesLanes(mlir::linalg::GenericOp next, mlir::linalg::GenericOp root,
                 const LoopRoles &roles, int64_t lanes);

// What follows `root` so, without what is added to each column (biases), which
// becomes an operation of its own and stays with the contraction.
void splitNarrowEpilogue(mlir::linalg::GenericOp root, const LoopRoles &roles,
                         int64_t lanes);

} // namespace onnxc
