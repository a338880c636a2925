// Winograd's minimal filtering of convolutions: F(m, r) makes m outputs of a
// line from m + r - 1 points, one multiplication each, instead of r m. In both
// directions, an m x m tile of outputs of 3x3 taps takes (m + 2)^2 instead of 9
// m^2 (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks,
// 2015).
//
// More taps than r are groups of r, whose points are summed like those of
// channels: six points make 2 multiplications for each output of four taps, 3
// for one of five, 6 for one of eleven. Taps that lie d apart are those of
// tiles whose outputs do, so d tiles lie in one another. A window of stride s
// is s windows of stride 1, each over every s-th pixel: so are its groups.
#pragma once
#include "lowering/loops/Contraction.h"

namespace onnxc {

// One direction of an image, by loops of the convolution's generic; its rows
// where the image is a line. A line's columns have loops that no map has.
struct FilteredDirection {
  unsigned pixel, tap;
  int64_t extent, taps, stride, dilation; // stride or dilation is one
  int64_t before = 0, behind = 0;         // zeros around the image
  int64_t groups(int64_t tile) const {
    return WinogradAttr::groupsOf(tile, taps, stride);
  }
  int64_t outputs(int64_t tile) const {
    return WinogradAttr::outputsOf(tile, taps);
  }
  int64_t points(int64_t tile) const {
    return WinogradAttr::pointsOf(tile, taps);
  }
  // Pixels between those that a group of a tile reads.
  int64_t pitch() const { return stride * dilation; }
  // From the first pixel that the group's first window reads to the image;
  // negative where that begins in front of it.
  int64_t beforeImage(int64_t tile, int64_t group) const {
    return before - WinogradAttr::tapOf(tile, taps, stride, group) * dilation;
  }
  // That meet the image where there are `size` outputs, by their mean, if each
  // is done for as many outputs together.
  double usefulTaps(int64_t size, int64_t together) const;
  // Of which `size` outputs consist.
  int64_t tiles(int64_t size, int64_t tile) const;
  // The first output of the tile `index`; the others lie `dilation` apart.
  int64_t start(int64_t index, int64_t tile) const;
};

// A convolution whose result is NHWC, or NWC.
struct FilteredConvolution {
  mlir::linalg::GenericOp root;
  mlir::OpOperand *image, *filter;
  unsigned batch, output, input; // loops
  FilteredDirection rows, columns;
  // The image's dimensions that are N, H, W and C; of a line, N, W and C.
  llvm::SmallVector<int64_t> imageOrder;
  int64_t extent(unsigned loop) const {
    return mlir::linalg::GenericOp(root).getStaticLoopRanges()[loop];
  }
  bool isLine() const { return imageOrder.size() == 3; }
  bool hasFixedImage() const {
    return !mlir::ShapedType::isDynamic(rows.extent) &&
           !mlir::ShapedType::isDynamic(columns.extent);
  }
  bool isInOneDirection() const { return rows.taps == 1 || columns.taps == 1; }
  int64_t points(int64_t tile) const {
    return rows.points(tile) * columns.points(tile);
  }
  int64_t groups(int64_t tile) const {
    return rows.groups(tile) * columns.groups(tile);
  }
  // Channels of all groups, which a product sums.
  int64_t terms(int64_t tile) const { return groups(tile) * extent(input); }
  // Whether outputs of a tile are neighbours in an image.
  bool hasTilesOfNeighbours() const {
    return !isLine() && rows.dilation == 1 && columns.dilation == 1;
  }
  bool mayFoldRows() const { return hasTilesOfNeighbours() && hasFixedImage(); }
};

// Fails unless `root` is an ungrouped convolution in f32 of which batch, rows
// and columns may be unknown.
mlir::FailureOr<FilteredConvolution>
matchFilteredConvolution(mlir::linalg::GenericOp root);

// The schedule that a count of cycles and bytes finds faster than the direct
// convolution, also where the image has to be moved to NHWC; null where none
// is.
WinogradAttr chooseWinograd(const FilteredConvolution &convolution,
                            TargetAttr target);

// Whether transform-filters will choose one for it as it is.
bool isFiltered(mlir::linalg::GenericOp root, TargetAttr target);

} // namespace onnxc
