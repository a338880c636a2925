// The second matrix of a product among rows, an attention's values, is read
// again for every tile of rows.
#pragma once
#include "dialects/onnxc/Onnxc.h"

namespace onnxc {

// What all rows of the product read along the vectors, where it is a computed
// matrix; null otherwise.
mlir::OpOperand *computedFactor(KernelOp product);

// Where the rows of such a matrix share few sets of the cache, copies it into
// panels in front of the product.
void storePanels(KernelOp product, TargetAttr target);

} // namespace onnxc
