// KnownSizes are index arithmetic on the dimensions of the inputs; every
// operation on the way folds once its operands have values. Bodies of kernels
// are on tensors, whose sizes lead to the operands of the kernel.
#include "compiler/report/KnownSizes.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/memory/Signature.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;

namespace onnxc {

int64_t KnownSizes::hintOf(StringRef symbol) const {
  auto hint = hints.find(symbol.str());
  return hint == hints.end() ? unknown : hint->second;
}

SmallVector<int64_t> KnownSizes::shapeOf(Value shaped) {
  SmallVector<int64_t> shape;
  int64_t rank = cast<ShapedType>(shaped.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim)
    shape.push_back(sizeOf(shaped, dim).value_or(unknown));
  return shape;
}

SmallVector<int64_t> KnownSizes::loopsOf(linalg::LinalgOp op) {
  SmallVector<int64_t> sizes;
  for (Value operand : op->getOperands())
    if (isa<ShapedType>(operand.getType()))
      sizes.append(shapeOf(operand));
  return op.getShapesToLoopsMap().compose(sizes);
}

int64_t KnownSizes::bytesOf(Value buffer) {
  auto memref = dyn_cast<MemRefType>(buffer.getType());
  if (!memref)
    return 0;
  SmallVector<int64_t> strides;
  int64_t offset, elements = 1;
  bool hasStrides = succeeded(memref.getStridesAndOffset(strides, offset));
  for (auto [i, size] : llvm::enumerate(shapeOf(buffer)))
    if (!hasStrides || strides[i] != 0)
      elements *= size;
  Type element = memref.getElementType();
  return element.isIntOrFloat()
             ? elements * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
             : elements * 8;
}

KnownSizes::Size KnownSizes::valueOf(OpFoldResult size) {
  if (auto value = dyn_cast<Value>(size))
    return valueOf(value);
  return cast<IntegerAttr>(cast<Attribute>(size)).getInt();
}

KnownSizes::Size KnownSizes::valueOf(Value index) {
  auto [entry, isNew] = known.try_emplace(index);
  if (!isNew)
    return entry->second;
  Size value;
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    Operation *owner = argument.getOwner()->getParentOp();
    if (auto kernel = dyn_cast<KernelOp>(owner))
      value = valueOf(kernel->getOperand(argument.getArgNumber()));
    // The arguments of @model_output_dims are the symbols.
    auto symbols = module->getAttrOfType<ArrayAttr>(symbolsAttrName);
    if (isa<func::FuncOp>(owner) && owner != findModel(module) && symbols)
      value =
          hintOf(cast<StringAttr>(symbols[argument.getArgNumber()]).getValue());
  } else if (auto dim = index.getDefiningOp<ShapedDimOpInterface>()) {
    if (Size number = valueOf(dim.getDimension()))
      value = sizeOf(dim.getShapedValue(), *number);
  } else {
    value = folded(cast<OpResult>(index));
  }
  return known[index] = value;
}

KnownSizes::Size KnownSizes::folded(OpResult result) {
  Operation *op = result.getOwner();
  if (op->getNumRegions())
    return std::nullopt;
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    Size value =
        operand.getType().isIntOrIndex() ? valueOf(operand) : std::nullopt;
    if (!value)
      return std::nullopt;
    operands.push_back(IntegerAttr::get(operand.getType(), *value));
  }
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) ||
      results.size() != op->getNumResults())
    return std::nullopt;
  OpFoldResult mine = results[result.getResultNumber()];
  if (auto value = dyn_cast<Value>(mine))
    return valueOf(value);
  auto number = dyn_cast<IntegerAttr>(cast<Attribute>(mine));
  return number ? Size(number.getValue().getSExtValue()) : std::nullopt;
}

KnownSizes::Size KnownSizes::sizeOf(Value shaped, int64_t dim) {
  auto type = cast<ShapedType>(shaped.getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  if (auto argument = dyn_cast<BlockArgument>(shaped))
    return sizeOfArgument(argument, dim);
  return sizeOfResult(cast<OpResult>(shaped), dim);
}

KnownSizes::Size KnownSizes::sizeOfArgument(BlockArgument argument,
                                            int64_t dim) {
  Operation *owner = argument.getOwner()->getParentOp();
  if (auto kernel = dyn_cast<KernelOp>(owner))
    return sizeOf(kernel->getOperand(argument.getArgNumber()), dim);
  if (owner != findModel(module))
    return std::nullopt;
  return isInput(argument) ? hintOf(symbolOf(argument, dim))
                           : sizeOfOutput(argument, dim);
}

// @model_output_dims returns the unknown sizes of all outputs, in order.
KnownSizes::Size KnownSizes::sizeOfOutput(BlockArgument output, int64_t dim) {
  auto formula = module.lookupSymbol<func::FuncOp>("model_output_dims");
  func::FuncOp model = findModel(module);
  if (!formula)
    return std::nullopt;
  unsigned before = 0;
  for (BlockArgument other : model.getArguments()) {
    if (!model.getArgAttr(other.getArgNumber(), outputAttrName))
      continue;
    auto type = cast<ShapedType>(other.getType());
    if (other == output) {
      before += type.getDynamicDimIndex(dim);
      break;
    }
    before += type.getNumDynamicDims();
  }
  Operation *returned = formula.front().getTerminator();
  return before < returned->getNumOperands()
             ? valueOf(returned->getOperand(before))
             : std::nullopt;
}

// The dimension of what `view` takes a part of, by that of its result: those
// of size 1 may be left out.
template <typename ViewOp>
static OpFoldResult sizeOfPart(ViewOp view, int64_t dim) {
  llvm::SmallBitVector dropped = view.getDroppedDims();
  SmallVector<OpFoldResult> sizes = view.getMixedSizes();
  for (auto [i, size] : llvm::enumerate(sizes))
    if (!dropped[i] && dim-- == 0)
      return size;
  return sizes.back();
}

KnownSizes::Size KnownSizes::sizeOfResult(OpResult result, int64_t dim) {
  Operation *op = result.getOwner();
  auto dynamic = cast<ShapedType>(result.getType()).getDynamicDimIndex(dim);
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    return valueOf(sizeOfPart(view, dim));
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return valueOf(sizeOfPart(slice, dim));
  if (auto view = dyn_cast<memref::ReinterpretCastOp>(op))
    return valueOf(view.getMixedSizes()[dim]);
  if (auto view = dyn_cast<memref::ViewOp>(op))
    return valueOf(view.getSizes()[dynamic]);
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return valueOf(empty.getDynamicSizes()[dynamic]);
  if (auto cast = dyn_cast<CastOpInterface>(op))
    return sizeOf(cast->getOperand(0), dim);
  if (auto view = dyn_cast<memref::ExpandShapeOp>(op))
    return valueOf(view.getMixedOutputShape()[dim]);
  if (auto view = dyn_cast<tensor::ExpandShapeOp>(op))
    return valueOf(view.getMixedOutputShape()[dim]);
  std::optional<ReassociationIndices> group;
  if (auto view = dyn_cast<memref::CollapseShapeOp>(op))
    group = view.getReassociationIndices()[dim];
  if (auto view = dyn_cast<tensor::CollapseShapeOp>(op))
    group = view.getReassociationIndices()[dim];
  if (group) {
    int64_t product = 1;
    for (int64_t source : *group)
      product *= sizeOf(op->getOperand(0), source).value_or(unknown);
    return product;
  }
  if (auto destinations = dyn_cast<DestinationStyleOpInterface>(op))
    return sizeOf(destinations.getTiedOpOperand(result)->get(), dim);
  return std::nullopt;
}

} // namespace onnxc
