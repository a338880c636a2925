// Contractions among the operations of a row kernel: attention's two products
// around a softmax.
#pragma once
#include "dialects/onnxc/Onnxc.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallBitVector.h"

namespace onnxc {

// Where the contraction of a kernel reads an input, or writes its only output.
struct ProductAccess {
  mlir::linalg::GenericOp root;
  mlir::AffineMap position; // loops to indices
};

// Fails where the operand is read elsewhere, too.
mlir::FailureOr<ProductAccess> inputOf(KernelOp product,
                                       mlir::OpOperand &operand);
mlir::FailureOr<ProductAccess> outputOf(KernelOp product);

// The loops that walk the first `outer` indices and nothing else: parallel ones
// that are not along the lanes. Fails where there is any other, or no access.
mlir::FailureOr<llvm::SmallVector<unsigned>>
outerLoops(const mlir::FailureOr<ProductAccess> &access, unsigned outer);

// Along which of these loops of a contraction an operand stays the same.
llvm::SmallBitVector sharedAlong(mlir::linalg::GenericOp root,
                                 llvm::ArrayRef<unsigned> loops);

// The input that the result may be written over: nobody reads it later.
mlir::Value inPlaceInput(mlir::linalg::GenericOp op);

} // namespace onnxc
