// Elements as signed integers in their order: one beats another if its key is
// greater, so that vectors of them need one comparison.
#pragma once
#include "dialects/onnx/Families.h" // generated: the classes of every family
#include "lowering/tensor/irregular/Loops.h"

namespace onnxc {

// How many elements of x the target's vectors hold, where that is enough to
// look for the best k in vectors; zero where it is not.
int64_t lanesOfKeys(TopKOp op, const Input &x, Index k);

struct SortOrder {
  SortOrder(const Input &x, bool largest);

  // Of scalars and vectors.
  mlir::Value keyOf(mlir::ImplicitLocOpBuilder &b, mlir::Value element) const;
  // A number as a key, or as many as `like` has.
  mlir::Value splat(mlir::ImplicitLocOpBuilder &b, mlir::Type like,
                    const llvm::APInt &number) const;
  // No float has it; as an integer it is that of the last of all.
  llvm::APInt least() const {
    return llvm::APInt::getSignedMinValue(keys.getWidth());
  }

  mlir::Type element; // as ONNX has it
  mlir::Type stored;
  bool largest;
  mlir::IntegerType keys;

private:
  mlir::Value keyOfFloat(mlir::ImplicitLocOpBuilder &b,
                         mlir::Value element) const;
};

} // namespace onnxc
