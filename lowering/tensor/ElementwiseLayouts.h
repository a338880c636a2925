// In which order elementwise operations walk the dimensions of their tensors.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace onnxc {

using Permutation = llvm::SmallVector<int64_t>;

// Whether all loops are parallel and the results written in their order, so
// that another order of the loops does as well.
bool walksInAnyOrder(mlir::linalg::GenericOp op);

// Operands of the shape of the results, but for constants, which are reordered
// for nothing.
llvm::SmallVector<mlir::OpOperand *> fullOperands(mlir::linalg::GenericOp op);

// Transposed tensors that the body reads at computed indices.
llvm::SmallVector<mlir::tensor::ExtractOp>
computedReads(mlir::linalg::GenericOp op);

// The permutation that every full operand shares, if there is one.
std::optional<Permutation> commonPermutation(mlir::linalg::GenericOp op);

// For operations whose full operands differ in layout: the permutation behind
// which fewer tensors of theirs have to be moved than where they are. Connected
// operations get the same one. What is not mentioned stays.
llvm::DenseMap<mlir::Operation *, Permutation>
choosePermutations(mlir::ModuleOp module);

} // namespace onnxc
