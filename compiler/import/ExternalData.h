// Tensors whose bytes lie in a file beside the model.
#pragma once
#include "compiler/import/Model.h"

namespace onnxc {

// The `wanted` bytes of a tensor, inside a mapped file that `model` keeps. The
// file must lie in the model's folder: a model comes from anywhere and may not
// read what its folder does not hold.
llvm::FailureOr<llvm::ArrayRef<char>>
externalBytes(Model &model, const ::onnx::TensorProto &tensor, uint64_t wanted,
              mlir::Location loc);

} // namespace onnxc
