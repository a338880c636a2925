#include "lowering/tensor/PermuteConstant.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace onnxc {

// The elements in order, where they lie in memory one after another.
static std::optional<ArrayRef<char>> bytesOf(ElementsAttr value) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? std::optional(blob->getData()) : std::nullopt;
  }
  if (auto dense = dyn_cast<DenseElementsAttr>(value);
      dense && !dense.isSplat())
    return dense.getRawData();
  return std::nullopt;
}

// Walks the result in order; the innermost dimension is a strided copy.
static void permute(const char *from, char *to, ArrayRef<int64_t> shape,
                    ArrayRef<int64_t> strides, size_t width) {
  int64_t rank = shape.size(), inner = shape.back();
  int64_t rows =
      ShapedType::getNumElements(shape) / std::max<int64_t>(inner, 1);
  SmallVector<int64_t> index(rank, 0);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t offset = 0;
    for (int64_t dim = 0; dim + 1 < rank; ++dim)
      offset += index[dim] * strides[dim];
    for (int64_t i = 0; i < inner; ++i, to += width)
      std::memcpy(to, from + (offset + i * strides.back()) * width, width);
    for (int64_t dim = rank - 2; dim >= 0 && ++index[dim] == shape[dim]; --dim)
      index[dim] = 0;
  }
}

ElementsAttr permuteConstant(ElementsAttr value,
                             ArrayRef<int64_t> permutation) {
  auto type = cast<RankedTensorType>(value.getShapedType());
  SmallVector<int64_t> shape = applyPermutation(type.getShape(), permutation);
  auto permuted = RankedTensorType::get(shape, type.getElementType());
  if (auto dense = dyn_cast<DenseElementsAttr>(value);
      dense && (dense.isSplat() || permutation.empty()))
    return dense.reshape(permuted);
  std::optional<ArrayRef<char>> bytes = bytesOf(value);
  unsigned bits =
      type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 0;
  if (!bytes || bits == 0 || bits % 8 != 0 || permutation.empty())
    return {};
  SmallVector<int64_t> strides = applyPermutation(
      ArrayRef<int64_t>(computeStrides(type.getShape())), permutation);
  AsmResourceBlob blob =
      HeapAsmResourceBlob::allocate(bytes->size(), 64, /*dataIsMutable=*/true);
  permute(bytes->data(), blob.getMutableData().data(), shape, strides,
          bits / 8);
  if (!isa<DenseResourceElementsAttr>(value))
    return DenseElementsAttr::getFromRawBuffer(permuted, blob.getData());
  return DenseResourceElementsAttr::get(permuted, "permuted", std::move(blob));
}

} // namespace onnxc
