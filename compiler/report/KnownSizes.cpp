// KnownSizes are index arithmetic on the dimensions of the inputs; every
// operation on the way folds once its operands have values; of choices only the
// chosen side is followed. Bodies of kernels are on tensors, whose sizes lead
// to the operands of the kernel.
#include "compiler/report/KnownSizes.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/memory/Signature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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
  SmallVector<Size> extents(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands())
    for (auto [dim, index] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(index))
        if (Size &extent = extents[loop.getPosition()]; !extent)
          extent = sizeOf(operand.get(), dim);
  return llvm::map_to_vector(
      extents, [](Size extent) { return extent.value_or(unknown); });
}

int64_t KnownSizes::bytesOfElement(Type shaped) {
  Type element = getElementTypeOrSelf(shaped);
  return element.isIntOrFloat()
             ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
             : 8;
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
  return elements * bytesOfElement(memref);
}

std::optional<int64_t> KnownSizes::valueOf(OpFoldResult size) {
  Attribute number =
      isa<Value>(size) ? constantOf(cast<Value>(size)) : cast<Attribute>(size);
  auto integer = dyn_cast_or_null<IntegerAttr>(number);
  return integer ? Size(integer.getValue().getSExtValue()) : std::nullopt;
}

std::optional<int64_t> KnownSizes::runsOf(Operation *region) {
  Size runs = 1;
  for (Operation *op = region; !isa<func::FuncOp>(op->getParentOp());
       op = op->getParentOp()) {
    Operation *parent = op->getParentOp();
    if (auto choice = dyn_cast<scf::IfOp>(parent)) {
      Region *taken = takenArm(choice);
      if (taken && taken != op->getParentRegion())
        return 0;
      if (!taken)
        runs = std::nullopt;
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(parent);
    Size trips = loop ? tripsOf(loop) : std::nullopt;
    runs = runs && trips ? Size(*runs * *trips) : std::nullopt;
  }
  return runs;
}

std::optional<int64_t> KnownSizes::tripsOf(scf::ForOp loop) {
  Size from = valueOf(loop.getLowerBound()), to = valueOf(loop.getUpperBound()),
       step = valueOf(loop.getStep());
  if (!from || !to || !step || *step <= 0)
    return std::nullopt;
  return *to > *from ? llvm::divideCeil(*to - *from, *step) : 0;
}

Region *KnownSizes::takenArm(scf::IfOp choice) {
  Size isTrue = valueOf(choice.getCondition());
  if (!isTrue)
    return nullptr;
  return *isTrue ? &choice.getThenRegion() : &choice.getElseRegion();
}

Attribute KnownSizes::constantOf(Value value) {
  auto [entry, isNew] = known.try_emplace(value);
  if (!isNew)
    return entry->second;
  Attribute constant = findConstant(value);
  return known[value] = constant;
}

Attribute KnownSizes::findConstant(Value value) {
  auto asIndex = [&](Size size) -> Attribute {
    return size ? IntegerAttr::get(IndexType::get(module.getContext()), *size)
                : Attribute();
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *owner = argument.getOwner()->getParentOp();
    if (auto kernel = dyn_cast<KernelOp>(owner))
      return constantOf(kernel->getOperand(argument.getArgNumber()));
    // The arguments of @model_output_dims are the symbols.
    auto symbols = module->getAttrOfType<ArrayAttr>(symbolsAttrName);
    if (!isa<func::FuncOp>(owner) || owner == findModel(module) || !symbols)
      return {};
    return asIndex(
        hintOf(cast<StringAttr>(symbols[argument.getArgNumber()]).getValue()));
  }
  auto result = cast<OpResult>(value);
  if (auto dim = dyn_cast<ShapedDimOpInterface>(result.getOwner())) {
    Size number = valueOf(dim.getDimension());
    return number ? asIndex(sizeOf(dim.getShapedValue(), *number))
                  : Attribute();
  }
  // What is not chosen need not be known, and may divide by 0.
  if (auto choice = dyn_cast<arith::SelectOp>(result.getOwner());
      choice && choice.getCondition().getType().isInteger(1)) {
    Size isTrue = valueOf(choice.getCondition());
    return !isTrue   ? Attribute()
           : *isTrue ? constantOf(choice.getTrueValue())
                     : constantOf(choice.getFalseValue());
  }
  if (auto choice = dyn_cast<scf::IfOp>(result.getOwner())) {
    Region *arm = takenArm(choice);
    return arm ? constantOf(arm->front().getTerminator()->getOperand(
                     result.getResultNumber()))
               : Attribute();
  }
  if (auto load = dyn_cast<memref::LoadOp>(result.getOwner()))
    return loaded(load);
  return folded(result);
}

// Shapes that the model computes are stored one by one, and read through views.
Attribute KnownSizes::loaded(memref::LoadOp load) {
  std::optional<int64_t> position =
      positionOf(load.getMemRefType(), load.getIndices());
  Value memory = load.getMemRef();
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>()) {
    if (isa<memref::ViewOp>(view))
      break;
    memory = view.getViewSource();
  }
  memref::StoreOp last;
  for (Operation *user : memory.getUsers()) {
    // Arithmetic in place.
    auto writer = dyn_cast<DestinationStyleOpInterface>(user);
    if (writer && llvm::is_contained(writer.getDpsInits(), memory))
      return {};
    if (auto store = dyn_cast<memref::StoreOp>(user);
        store && store->getBlock() == load->getBlock() &&
        store->isBeforeInBlock(load) &&
        (!last || last->isBeforeInBlock(store)) && position &&
        positionOf(store.getMemRefType(), store.getIndices()) == position)
      last = store;
  }
  return last ? constantOf(last.getValueToStore()) : Attribute();
}

KnownSizes::Size KnownSizes::positionOf(MemRefType type, ValueRange indices) {
  SmallVector<int64_t> strides;
  int64_t position;
  if (failed(type.getStridesAndOffset(strides, position)) ||
      ShapedType::isDynamic(position))
    return std::nullopt;
  for (auto [stride, index] : llvm::zip(strides, indices)) {
    Size at = valueOf(index);
    if (!at || ShapedType::isDynamic(stride))
      return std::nullopt;
    position += *at * stride;
  }
  return position;
}

Attribute KnownSizes::folded(OpResult result) {
  Operation *op = result.getOwner();
  if (op->getNumRegions())
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(constantOf(operand));
    if (!operands.back())
      return {};
  }
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) ||
      results.size() != op->getNumResults())
    return {};
  OpFoldResult mine = results[result.getResultNumber()];
  return isa<Value>(mine) ? constantOf(cast<Value>(mine))
                          : cast<Attribute>(mine);
}

std::optional<int64_t> KnownSizes::sizeOf(Value shaped, int64_t dim) {
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
  if (auto loop = dyn_cast<scf::ForOp>(owner))
    return sizeOf(loop.getTiedLoopInit(argument)->get(), dim);
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

KnownSizes::Size KnownSizes::sizeOfPadded(tensor::PadOp pad, int64_t dim) {
  Size size = sizeOf(pad.getSource(), dim),
       low = valueOf(pad.getMixedLowPad()[dim]),
       high = valueOf(pad.getMixedHighPad()[dim]);
  return size && low && high ? Size(*size + *low + *high) : std::nullopt;
}

// Where the data choose, what both arms agree on.
KnownSizes::Size KnownSizes::sizeOfChoice(scf::IfOp choice, unsigned number,
                                          int64_t dim) {
  auto sizeIn = [&](Region &arm) {
    return sizeOf(arm.front().getTerminator()->getOperand(number), dim);
  };
  if (Region *arm = takenArm(choice))
    return sizeIn(*arm);
  Size size = sizeIn(choice.getThenRegion());
  return size == sizeIn(choice.getElseRegion()) ? size : std::nullopt;
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
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return sizeOfPadded(pad, dim);
  if (auto memory = dyn_cast<AllocateOp>(op))
    return valueOf(memory->getOperand(0));
  if (auto choice = dyn_cast<scf::IfOp>(op))
    return sizeOfChoice(choice, result.getResultNumber(), dim);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return sizeOf(loop.getTiedLoopInit(result)->get(), dim);
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
