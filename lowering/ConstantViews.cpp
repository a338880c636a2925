#include "lowering/ConstantViews.h"
#include "dialects/onnx/Constants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace onnxc {

// The elements of a static slice, row by row.
static ElementsAttr sliceOf(ElementsAttr value, tensor::ExtractSliceOp slice) {
  RankedTensorType type = slice.getType();
  if (ShapedType::isDynamicShape(slice.getStaticOffsets()) ||
      ShapedType::isDynamicShape(slice.getStaticSizes()) ||
      ShapedType::isDynamicShape(slice.getStaticStrides()))
    return {};
  if (value.isSplat())
    return cast<DenseElementsAttr>(value).resizeSplat(type);
  SmallVector<char> storage, taken;
  ArrayRef<char> bytes = bytesOf(value, storage);
  int64_t width = elementBytes(type.getElementType());
  SmallVector<int64_t> strides =
      computeStrides(value.getShapedType().getShape());
  SmallVector<int64_t> sizes(slice.getStaticSizes());
  SmallVector<int64_t> steps = computeStrides(sizes);
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    SmallVector<int64_t> index = delinearize(i, steps);
    int64_t offset = 0;
    for (auto [at, start, step, stride] :
         llvm::zip_equal(index, slice.getStaticOffsets(),
                         slice.getStaticStrides(), strides))
      offset += (start + at * step) * stride;
    llvm::append_range(taken, bytes.slice(offset * width, width));
  }
  return constantFrom(type, taken);
}

ElementsAttr constantBehind(Value value) {
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!op || !type || !type.hasStaticShape())
    return {};
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return dyn_cast<ElementsAttr>(constant.getValue());
  if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp,
           tensor::ExtractSliceOp>(op))
    return {};
  ElementsAttr source = constantBehind(op->getOperand(0));
  if (!source || source.getShapedType().getNumElements() == 0 ||
      !type.getElementType().isIntOrFloat())
    return {};
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return sliceOf(source, slice);
  return retype(source, type);
}

} // namespace onnxc
