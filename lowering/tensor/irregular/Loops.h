// Loops that carry tensors, for operators whose writes are not one per element.
#pragma once
#include "lowering/tensor/Inputs.h"

namespace onnxc {

using Tensors = llvm::SmallVector<mlir::Value>;
// Visits every position of a space in row-major order; the body gives the
// tensors, or scalars, as the next position finds them.
Tensors visit(mlir::ImplicitLocOpBuilder &builder, llvm::ArrayRef<Index> sizes,
              Tensors start,
              llvm::function_ref<Tensors(llvm::ArrayRef<Index>, Tensors)> body);

// Runs the body as long as what it carries says that there is more to do.
Tensors
repeatWhile(mlir::ImplicitLocOpBuilder &builder, Tensors start,
            llvm::function_ref<Condition(llvm::ArrayRef<mlir::Value>)> more,
            llvm::function_ref<Tensors(Tensors)> body);

// Replaces an element.
mlir::Value insert(mlir::ImplicitLocOpBuilder &builder, mlir::Value element,
                   mlir::Value into, llvm::ArrayRef<Index> at);

// The tensors as `changed` leaves them where the condition holds.
Tensors changeIf(mlir::ImplicitLocOpBuilder &builder, Condition condition,
                 Tensors tensors, llvm::function_ref<Tensors(Tensors)> changed);

// An element as the words of the scalar language see it, and back.
Scalar scalarAt(ScalarBuilder &scalars, mlir::Value tensor, mlir::Type element,
                llvm::ArrayRef<Index> at);

// A position as an element of ONNX's type for them.
mlir::Value asInt64(mlir::ImplicitLocOpBuilder &builder, Index index);

} // namespace onnxc
