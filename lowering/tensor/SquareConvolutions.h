// Convolutions that are written as others of 3x3 and stride 1, for Winograd's
// filtering. All images are NHWC, all filters [M, C, 3, 3].
#pragma once
#include "lowering/loops/Contraction.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxc {

// Whether Winograd's filtering is for it as it is.
bool isFiltered(mlir::linalg::GenericOp root, TargetAttr target);

// Whether fold-dilations will make smaller images of it, of known size, that
// are filtered so.
bool isFilteredInParts(mlir::linalg::GenericOp root);

// Whether so many zeros are put around an image as is known here.
bool isPaddedWithKnownZeros(mlir::tensor::PadOp pad);

// `value` with so many zeros in front of and behind each dimension.
using ZerosBeside = std::pair<mlir::OpFoldResult, mlir::OpFoldResult>;
mlir::Value paddedWithZeros(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                            llvm::ArrayRef<ZerosBeside> padding);

// A copy of `sizes` whose elements lie at `from` in `source`.
mlir::Value gathered(mlir::ImplicitLocOpBuilder &b, mlir::Value source,
                     llvm::ArrayRef<mlir::OpFoldResult> sizes,
                     mlir::AffineMap from);

// [N, H + 2, W + 2, C] by `filter` to [N, H, W, M], summed as `root` does and
// on top of `start`. Null, with nothing left that is used, where Winograd's
// filtering is not for it.
mlir::linalg::GenericOp squareConvolution(mlir::ImplicitLocOpBuilder &b,
                                          mlir::linalg::GenericOp root,
                                          mlir::Value image, mlir::Value filter,
                                          mlir::Value start);

// Whether it has as many loops as a convolution with so many, and operands.
bool isFoldable(mlir::linalg::GenericOp op, unsigned loops);

// Calls `fold` with every convolution of `module` that has so many loops, if
// filters may be transformed there.
void forEachConvolution(mlir::ModuleOp module, unsigned loops,
                        llvm::function_ref<void(mlir::linalg::GenericOp)> fold);

} // namespace onnxc
