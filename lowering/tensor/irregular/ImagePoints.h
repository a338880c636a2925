// Images as operators read them that take points in any order.
#pragma once
#include "lowering/tensor/Inputs.h"

namespace onnxc {

// The order of dimensions in which the loop runs: with the channels last, where
// they are not known to be few.
llvm::SmallVector<int64_t> orderOfPoints(const Input &x);

// The image with its points in one dimension, in the given order of all
// dimensions. So its elements stay side by side: no layout suits what reads
// points in any order better.
mlir::Value pointsOf(mlir::ImplicitLocOpBuilder &builder, const Input &x,
                     llvm::ArrayRef<int64_t> order);

} // namespace onnxc
