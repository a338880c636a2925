// What the unknown sizes of a model come to where its symbolic dimensions have
// given values: a report counts at these.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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
  static int64_t bytesOfElement(mlir::Type shaped);
  // Distinct bytes behind a view: a dimension of stride 0 has one element.
  int64_t bytesOf(mlir::Value buffer);

  // How often what is around it runs it: 0 where these sizes choose another
  // arm, nothing where the sizes do not tell.
  std::optional<int64_t> runsOf(mlir::Operation *region);
  std::optional<int64_t> tripsOf(mlir::scf::ForOp loop);
  std::optional<int64_t> sizeOf(mlir::Value shaped, int64_t dim);
  std::optional<int64_t> valueOf(mlir::OpFoldResult size);

private:
  using Size = std::optional<int64_t>;
  // Null where the sizes do not tell.
  mlir::Attribute constantOf(mlir::Value value);
  mlir::Attribute findConstant(mlir::Value value);
  mlir::Attribute folded(mlir::OpResult result);
  mlir::Attribute loaded(mlir::memref::LoadOp load);
  Size positionOf(mlir::MemRefType type, mlir::ValueRange indices);
  mlir::Region *takenArm(mlir::scf::IfOp choice);
  Size sizeOfArgument(mlir::BlockArgument argument, int64_t dim);
  Size sizeOfOutput(mlir::BlockArgument output, int64_t dim);
  Size sizeOfPadded(mlir::tensor::PadOp pad, int64_t dim);
  Size sizeOfChoice(mlir::scf::IfOp choice, unsigned number, int64_t dim);
  Size sizeOfResult(mlir::OpResult result, int64_t dim);
  int64_t hintOf(llvm::StringRef symbol) const;

  mlir::ModuleOp module;
  const std::map<std::string, int64_t> &hints;
  llvm::DenseMap<mlir::Value, mlir::Attribute> known;
};

} // namespace onnxc
