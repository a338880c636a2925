// Vector code of a contraction kernel.
#pragma once
#include "dialects/onnxc/Onnxc.h"
#include "lowering/loops/ContractionNest.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxc {

// The root of a kernel that emitContraction understands: the one contraction
// of its body, every other operation being an elementwise producer or user of
// it, a padding or a repacking of its inputs.
mlir::FailureOr<mlir::linalg::GenericOp> findContraction(KernelOp kernel);

// The fold of the contraction's result that is part of a kernel, over pixels or
// over windows of them; null where there is none.
mlir::linalg::GenericOp findFold(KernelOp kernel);

// Emits what `kernel` computes at the builder's insertion point. `arguments`
// are the buffers for the block arguments of its body. Where `backwards`, an
// i1, is there and set, panels are walked from the last one.
llvm::LogicalResult emitContraction(mlir::ImplicitLocOpBuilder &b,
                                    KernelOp kernel, mlir::ValueRange arguments,
                                    const LoopRanges &ranges = {},
                                    mlir::Value backwards = {});

// Whether it walks panels of weights that do not stay in L2 beside all else.
bool streamsPanels(KernelOp kernel, TargetAttr target);

} // namespace onnxc
