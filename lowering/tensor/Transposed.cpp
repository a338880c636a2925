#include "lowering/tensor/Transposed.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace onnxc {

Value transposed(OpBuilder &builder, Location loc, Value value,
                 ArrayRef<int64_t> permutation) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, value);
  Value empty = tensor::EmptyOp::create(builder, loc,
                                        applyPermutation(sizes, permutation),
                                        getElementTypeOrSelf(value));
  return linalg::TransposeOp::create(builder, loc, value, empty, permutation)
      ->getResult(0);
}

Value paddedTransposed(OpBuilder &builder, tensor::PadOp pad, Value source,
                       ArrayRef<int64_t> permutation) {
  RankedTensorType type = pad.getResultType();
  return tensor::PadOp::create(
      builder, pad.getLoc(),
      type.clone(applyPermutation(type.getShape(), permutation)), source,
      applyPermutation(pad.getMixedLowPad(), permutation),
      applyPermutation(pad.getMixedHighPad(), permutation),
      pad.getConstantPaddingValue(), pad.getNofold());
}

} // namespace onnxc
