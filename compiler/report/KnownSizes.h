// What the unknown sizes of a model come to where its symbolic dimensions have
// given values: a report counts at these.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <map>
#include <optional>

namespace onnxc {

class KnownSizes {
public:
  // A symbol without a hint counts as this, and so does a size that only the
  // data decide; plan-arena's symbol-hint.
  static constexpr int64_t unknown = 64;

  // Of the module as stage memory leaves it.
  KnownSizes(mlir::ModuleOp module, const std::map<std::string, int64_t> &hints)
      : module(module), hints(hints) {}

  llvm::SmallVector<int64_t> shapeOf(mlir::Value shaped);
  llvm::SmallVector<int64_t> loopsOf(mlir::linalg::LinalgOp op);
  // Distinct bytes behind a view: a dimension of stride 0 has one element.
  int64_t bytesOf(mlir::Value buffer);

private:
  using Size = std::optional<int64_t>;
  Size valueOf(mlir::Value index);
  Size folded(mlir::OpResult result);
  Size sizeOf(mlir::Value shaped, int64_t dim);
  Size sizeOfArgument(mlir::BlockArgument argument, int64_t dim);
  Size sizeOfOutput(mlir::BlockArgument output, int64_t dim);
  Size sizeOfResult(mlir::OpResult result, int64_t dim);
  Size valueOf(mlir::OpFoldResult size);
  int64_t hintOf(llvm::StringRef symbol) const;

  mlir::ModuleOp module;
  const std::map<std::string, int64_t> &hints;
  llvm::DenseMap<mlir::Value, Size> known;
};

} // namespace onnxc
