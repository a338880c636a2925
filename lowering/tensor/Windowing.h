// Images as loops over windows read them: channels last, padded.
#pragma once
#include "lowering/tensor/Inputs.h"

namespace onnxc {

// (N, C, image...) to (N, image..., C) and back.
Sizes channelsLast(llvm::ArrayRef<Index> sizes);
mlir::Value toChannelsLast(mlir::ImplicitLocOpBuilder &builder,
                           mlir::Value image);
mlir::Value toChannelsFirst(mlir::ImplicitLocOpBuilder &builder,
                            mlir::Value image);

// As far as the last window reaches; the image itself where that is no padding.
mlir::Value padImage(mlir::ImplicitLocOpBuilder &builder, mlir::Value image,
                     const Window &window, mlir::Value with);

} // namespace onnxc
