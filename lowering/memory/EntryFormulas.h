// Sizes that are known when the model is called: constants, sizes of inputs and
// arithmetic on these. What can be computed at entry has a place in the arena;
// what only the run knows needs the caller's allocator.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace onnxc {

// Whether `value` is computed from constants and sizes of inputs alone, by
// operations without effect.
bool isKnownAtEntry(mlir::Value value);

// Rebuilds formulas of the inputs' sizes at the builder's insertion point, each
// once.
class EntryFormulas {
public:
  // The size of a dynamic dimension of an input, at the insertion point.
  using InputSize = std::function<mlir::Value(mlir::BlockArgument, int64_t)>;
  // What else to do with a rebuilt operation.
  using Observer = std::function<void(mlir::Operation *)>;

  EntryFormulas(mlir::OpBuilder &builder, InputSize inputSize,
                Observer observer = {})
      : builder(builder), inputSize(std::move(inputSize)),
        observer(std::move(observer)) {}

  // Null where only the run knows the value.
  mlir::Value valueOf(mlir::Value value);
  // The same for the size of a tensor or buffer.
  mlir::Value sizeOf(mlir::Value shaped, int64_t dim);
  // Erases what was built beside operations to find the sizes of their results.
  // Nothing may be asked for after that.
  void eraseReified();

private:
  struct Reified : mlir::OpBuilder::Listener {
    void notifyOperationInserted(mlir::Operation *op,
                                 mlir::OpBuilder::InsertPoint) override {
      ops.push_back(op);
    }
    llvm::SmallVector<mlir::Operation *> ops;
  };

  mlir::Value rebuild(mlir::Value value);
  mlir::Value branchSize(mlir::scf::IfOp branches, unsigned number,
                         int64_t dim);
  mlir::Value carriedSize(mlir::scf::ForOp loop, unsigned number, int64_t dim);

  mlir::OpBuilder &builder;
  InputSize inputSize;
  Observer observer;
  Reified reified;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  // Of a loop, its carried value and that one's dimension.
  llvm::DenseMap<std::tuple<mlir::Operation *, unsigned, int64_t>, mlir::Value>
      carried;
};

} // namespace onnxc
