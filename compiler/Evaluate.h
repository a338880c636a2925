// Runs a model without inputs on this machine, for constant folding.
#pragma once
#include "compiler/Options.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace onnxc {

// `module` is at stage `graph`; returns the results of its @model. Silent: what
// cannot be computed now is computed at run time.
llvm::FailureOr<llvm::SmallVector<mlir::ElementsAttr>>
evaluate(mlir::OwningOpRef<mlir::ModuleOp> module, const Options &options);

} // namespace onnxc
