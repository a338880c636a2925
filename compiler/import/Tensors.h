// Tensors that a model holds, as attributes.
#pragma once
#include "compiler/import/Model.h"
#include "compiler/import/Types.h"

namespace onnxc {

// Does not copy what it can refer to: raw data, typed fields of the element's
// own width, and external files.
llvm::FailureOr<mlir::ElementsAttr>
convertTensor(Model &model, Types &types, const ::onnx::TensorProto &tensor,
              llvm::StringRef name, mlir::Location loc);

// Dense: no operator of ours computes with sparse tensors.
llvm::FailureOr<mlir::ElementsAttr>
convertSparse(Model &model, Types &types,
              const ::onnx::SparseTensorProto &tensor, llvm::StringRef name,
              mlir::Location loc);

} // namespace onnxc
