// What LLVM unrolls in vain.
#pragma once
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace onnxc {

// Keeps LLVM from unrolling the loop; the branch that it becomes takes over
// what it is annotated with.
inline void keepRolled(mlir::scf::ForOp loop) {
  mlir::MLIRContext *context = loop.getContext();
  auto unroll = mlir::LLVM::LoopUnrollAttr::get(
      context, mlir::BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  loop->setAttr("loop_annotation", mlir::LLVM::LoopAnnotationAttr::get(
                                       context, {}, {}, {}, unroll, {}, {}, {},
                                       {}, {}, {}, {}, {}, {}, {}, {}));
}

} // namespace onnxc
