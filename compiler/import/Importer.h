// A model becomes a module of onnx operations in today's form.
#pragma once
#include "compiler/Options.h"
#include "compiler/import/Model.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace onnxc {

// The newest opset whose operators this compiler was written for.
inline constexpr int64_t newestOpset = 28;

// Reports through the context's diagnostics. The module refers to the bytes of
// `model`.
mlir::OwningOpRef<mlir::ModuleOp>
importModel(mlir::MLIRContext *context, Model &model, const Options &options);

} // namespace onnxc
