// Evaluation of constant subgraphs at compile time.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"
#include <functional>

namespace onnxc {

// Runs `@model` of a module at stage `graph` that has no inputs; returns its
// results in order. Failure means that nothing is folded; it has been reported
// as a remark at most, never as an error.
using Evaluator =
    std::function<mlir::FailureOr<llvm::SmallVector<mlir::ElementsAttr>>(
        mlir::OwningOpRef<mlir::ModuleOp>)>;

// The pass `fold-constants` with somebody who can evaluate: `lowering` itself
// has no code generator.
std::unique_ptr<mlir::Pass> createFoldConstants(Evaluator evaluator);

} // namespace onnxc
