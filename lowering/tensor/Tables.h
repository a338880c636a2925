// Small tensors that are computed from their indices alone.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace onnxc {

// The results of a loop without inputs, where sizes and everything that it uses
// are constants: computed by the operations' own folding. Empty otherwise.
llvm::SmallVector<mlir::DenseElementsAttr>
foldTables(mlir::linalg::GenericOp op);

} // namespace onnxc
