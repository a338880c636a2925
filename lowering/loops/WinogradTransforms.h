// The one-dimensional transforms of Winograd's filtering on vectors, with the
// points 0, +-3/4, +-3/2 and infinity for tiles of 3 to 5, 0, +-1 and infinity
// for those of 2.
// All constants are exact.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxc {

class WinogradTransforms {
public:
  WinogradTransforms(mlir::ImplicitLocOpBuilder &b, mlir::VectorType type,
                     int64_t tile)
      : b(b), type(type), tile(tile) {}

  // As many elements of a row of the image as there are points become those.
  llvm::SmallVector<mlir::Value> input(llvm::ArrayRef<mlir::Value> d);
  // The points become `tile` elements of a row of the output.
  llvm::SmallVector<mlir::Value> output(llvm::ArrayRef<mlir::Value> m);

private:
  mlir::Value sum(mlir::Value x, mlir::Value y);
  mlir::Value difference(mlir::Value x, mlir::Value y);
  mlir::Value scale(double factor, mlir::Value x);
  // factor * x + y
  mlir::Value scaleAdd(double factor, mlir::Value x, mlir::Value y);

  mlir::ImplicitLocOpBuilder &b;
  mlir::VectorType type;
  int64_t tile;
};

} // namespace onnxc
