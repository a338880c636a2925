// Functions that equal computations share.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxc {

// The type a function takes a buffer by: views that differ only in where they
// begin are the same to it.
mlir::Type argumentType(mlir::Type type);

// The first node's name as a symbol, so that a profiler shows it.
std::string functionName(llvm::StringRef prefix, mlir::Location location);

void callWith(mlir::ImplicitLocOpBuilder &b, mlir::func::FuncOp function,
              mlir::ValueRange operands);

} // namespace onnxc
