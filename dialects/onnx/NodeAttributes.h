// What can be said of a node whose operands are not known.
#pragma once
#include "mlir/IR/OperationSupport.h"

namespace onnxc {

// That the operator has these attributes, needs no others and takes their
// values.
llvm::LogicalResult checkAttributes(mlir::Location loc,
                                    mlir::RegisteredOperationName name,
                                    const mlir::NamedAttrList &given);

} // namespace onnxc
