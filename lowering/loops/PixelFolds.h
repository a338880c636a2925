// Folds over the pixels of what a kernel computes, as the mean of a squeeze and
// excitation or a global maximum: a tile folds its rows while it holds them.
#pragma once
#include "lowering/loops/Contraction.h"

namespace onnxc {

// The part of a fold that a kernel does, and what is left behind it; null where
// that is nothing.
struct KernelPart {
  mlir::linalg::FillOp start;
  mlir::linalg::GenericOp fold, rest;
};

// Whether it does nothing but fold elements of its only input.
bool isFold(mlir::linalg::GenericOp op);

// Whether it is a fold of an image in NHWC, all columns of a row at least.
bool foldsColumns(mlir::linalg::GenericOp op);

// Splits a fold of `last`'s result, which lies at `position` of the loops of
// `root`: the part that is built right behind `last` folds what one task
// computes, and what is left is built in place of the fold. Tasks share rows of
// the image unless they `sharePanels` of weights. Where there is no such part,
// returns nothing and says why.
std::optional<KernelPart>
splitFold(mlir::linalg::GenericOp fold, mlir::Operation *last,
          mlir::AffineMap position, mlir::linalg::GenericOp root,
          const LoopRoles &roles, bool sharePanels, const char *&reason);

} // namespace onnxc
