// The second matrix of a product among rows, an attention's values, is read
// again for every tile of rows.
#pragma once
#include "dialects/onnxc/Onnxc.h"

namespace onnxc {

// What all rows of the product read, where it is a computed matrix that lies in
// panels or can be stored in some; null otherwise.
mlir::OpOperand *computedPanels(KernelOp product);

// Where the rows of such a matrix share few sets of the cache, copies it into
// panels in front of the product.
void storePanels(KernelOp product, TargetAttr target);

} // namespace onnxc
