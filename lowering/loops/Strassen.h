// Strassen's method for products with a constant matrix: quarters of both are
// multiplied seven times instead of eight (Gaussian elimination is not optimal,
// 1969). Two rows that follow each other, with halves of their sum, are a
// quarter's row (docs/decisions/0015-products-in-quarters.md).
#pragma once
#include "lowering/loops/Contraction.h"

namespace onnxc {

// Pairs of a block, whose sums and products L2 keeps for the most part, and
// which reads the matrix once: from 16 to 100 took Zen 4 the same time. All
// pairs there are may be a block where the matrix comes through a mesh.
inline constexpr int64_t mostPairs = 64, mostPairsAtOnce = 112;

// A product whose result is rows of columns, by the loops of its generic.
struct ConstantProduct {
  mlir::linalg::GenericOp root;
  mlir::OpOperand *left, *matrix;
  llvm::SmallVector<unsigned> pixels; // whose product are the rows, in order
  unsigned summed, column;
  int64_t extent(unsigned loop) const {
    return mlir::linalg::GenericOp(root).getStaticLoopRanges()[loop];
  }
  // Null where only the run knows.
  std::optional<int64_t> rows() const {
    int64_t rows = 1;
    for (unsigned loop : pixels) {
      if (mlir::ShapedType::isDynamic(extent(loop)))
        return std::nullopt;
      rows *= extent(loop);
    }
    return rows;
  }
  int64_t pairs() const { return llvm::divideCeil(*rows(), 2); }
};

// Fails unless `root` multiplies rows of f32 by a matrix of known sizes that
// all rows share, and the sum has two halves.
mlir::FailureOr<ConstantProduct>
matchConstantProduct(mlir::linalg::GenericOp root);

// The schedule that a count of cycles and bytes finds faster than the product
// itself, one of a model that has so many bytes of constants; null where none
// is.
StrassenAttr chooseStrassen(const ConstantProduct &product, TargetAttr target,
                            int64_t bytesOfModel);

} // namespace onnxc
