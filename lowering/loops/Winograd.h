// Winograd's minimal filtering for 3x3 convolutions of stride 1, F(m x m, 3x3):
// an m x m tile of outputs takes (m + 2)^2 multiplications instead of 9 m^2
// (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015).
#pragma once
#include "lowering/loops/Contraction.h"

namespace onnxc {

// A convolution whose result is NHWC, by the loops of its generic.
struct SquareConvolution {
  mlir::linalg::GenericOp root;
  mlir::OpOperand *image, *filter;
  unsigned batch, row, column, output, filterRow, filterColumn, input; // loops
  std::array<int64_t, 4> imageOrder; // its dimensions that are N, H, W and C
  int64_t extent(unsigned loop) const {
    return mlir::linalg::GenericOp(root).getStaticLoopRanges()[loop];
  }
  bool hasFixedImage() const {
    return !mlir::ShapedType::isDynamic(extent(row)) &&
           !mlir::ShapedType::isDynamic(extent(column));
  }
};

// Fails unless `root` is an ungrouped 3x3 convolution of stride 1 in f32, of
// which batch, rows and columns may be unknown.
mlir::FailureOr<SquareConvolution>
matchSquareConvolution(mlir::linalg::GenericOp root);

// The schedule that a count of cycles and bytes finds faster than the direct
// convolution, also where the image has to be moved to NHWC; null where none
// is.
WinogradAttr chooseWinograd(const SquareConvolution &convolution,
                            TargetAttr target);

} // namespace onnxc
