// Values become buffers. What makes this a plan and not a copy machine happens
// before and after: outputs and concatenations are destinations that producers
// write to (empty-tensor elimination), loops may hand out buffers that they
// made, and nothing is freed because everything will lie in one arena.
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Passes.h"
#include "lowering/loops/IndexMath.h"
#include "lowering/memory/BufferizationModels.h"
#include "lowering/memory/Branches.h"
#include "lowering/memory/Signature.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace onnxc {

#define GEN_PASS_DEF_BUFFERIZE
#include "lowering/Passes.h.inc"

namespace {

// The specification inside a kernel stays on tensors, and the kernel that it
// is in has tensors for block arguments even when its operands are buffers.
bool isSpecification(Operation *op) {
  if (auto kernel = dyn_cast<KernelOp>(op); kernel && !kernel->getNumResults())
    return true;
  Operation *scope = op->getParentWithTrait<OpTrait::IsIsolatedFromAbove>();
  return scope && !isa<ModuleOp, FunctionOpInterface>(scope);
}

OneShotBufferizationOptions makeOptions() {
  OneShotBufferizationOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.setFunctionBoundaryTypeConversion(LayoutMapOption::IdentityLayoutMap);
  options.allowReturnAllocsFromLoops = true;
  options.opFilter.denyOperation(isSpecification);
  return options;
}

void makeInputsReadOnly(ModuleOp module) {
  Builder builder(module.getContext());
  for (auto func : module.getOps<func::FuncOp>())
    for (BlockArgument argument : func.getArguments())
      if (isa<TensorType>(argument.getType()))
        func.setArgAttr(argument.getArgNumber(),
                        BufferizationDialect::kWritableAttrName,
                        builder.getBoolAttr(false));
}

// What an operation makes of the tensor that it overwrites; null where it only
// reads.
Value overwritten(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
    return &use == &insert.getDestMutable() ? insert.getResult() : Value();
  if (auto insert = dyn_cast<tensor::InsertOp>(user))
    return &use == &insert.getDestMutable() ? insert.getResult() : Value();
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(user))
    return dps.isDpsInit(&use) ? Value(dps.getTiedOpResult(&use)) : Value();
  if (auto loop = dyn_cast<scf::ForOp>(user))
    return llvm::is_contained(loop.getInitArgs(), use.get())
               ? Value(loop.getTiedLoopResult(&use))
               : Value();
  return isa<scf::WhileOp>(user) && user->getNumResults() ? user->getResult(0)
                                                          : Value();
}

void collectOverwritten(Value begin, SmallVectorImpl<Value> &all) {
  for (OpOperand &use : begin.getUses()) {
    if (auto cast = dyn_cast<tensor::CastOp>(use.getOwner()))
      collectOverwritten(cast, all);
    else if (Value next = overwritten(use))
      all.push_back(next);
  }
}

// Whether two operations write into what begins as this tensor, as where CSE
// has merged the equal beginnings of two concatenations. In the memory of one
// of them, the other's value would be overwritten: the analysis does not see
// that an output's buffer and a tensor in it are the same.
bool isForked(Value begin) {
  SmallVector<Value> next = {begin};
  while (next.size() == 1) {
    Value value = next.pop_back_val();
    collectOverwritten(value, next);
  }
  return !next.empty();
}

// A concatenation made of inserts into an empty tensor is left to elide-copies:
// here, its first producer would get that tensor and the concatenation another.
Value buildDestination(RewriterBase &rewriter, SubsetInsertionOpInterface op,
                       tensor::EmptyOp empty, Operation *user) {
  // Nor may a body write what only the loop's end hands over.
  if (empty->getBlock() != op->getBlock() || isForked(empty))
    return {};
  Value destination = op.getDestinationOperand().get();
  while (auto insert = destination.getDefiningOp<tensor::InsertSliceOp>())
    destination = insert.getDest();
  if (destination.getDefiningOp<tensor::EmptyOp>())
    return {};
  return buildSubsetExtraction(rewriter, op, empty, user);
}

// An empty tensor that many operations write, as CSE leaves it, would be one
// buffer to the analysis: it compares every write with every read of it, in
// time that grows with the cube of the operations.
void splitEmpties(ModuleOp module) {
  SmallVector<Operation *> empties; // parts of them first
  module.walk([&](tensor::ExtractSliceOp part) {
    if (part.getSource().getDefiningOp<tensor::EmptyOp>())
      empties.push_back(part);
  });
  module.walk([&](tensor::EmptyOp empty) { empties.push_back(empty); });
  for (Operation *empty : empties) {
    if (empty->hasOneUse())
      continue;
    for (OpOperand &use : llvm::make_early_inc_range(empty->getUses())) {
      OpBuilder builder(use.getOwner());
      use.set(builder.clone(*empty)->getResult(0));
    }
    empty->erase();
  }
}

// A fill that many operations go on from, as CSE leaves it, would be copied for
// each of them: they fill their own.
void splitFills(ModuleOp module) {
  SmallVector<linalg::FillOp> fills;
  module.walk([&](linalg::FillOp fill) {
    if (!isSpecification(fill) && fill->getNumResults() &&
        !fill->getResult(0).hasOneUse())
      fills.push_back(fill);
  });
  for (linalg::FillOp fill : fills)
    for (OpOperand &use : llvm::make_early_inc_range(fill->getUses()))
      if (overwritten(use)) {
        OpBuilder builder(use.getOwner());
        use.set(builder.clone(*fill)->getResult(0));
      }
}

// A padded copy is a destination too, which its source may then be written
// into; what is beside it is filled, and nothing twice.
void padInPlace(ModuleOp module) {
  SmallVector<tensor::PadOp> pads;
  module.walk([&](tensor::PadOp pad) {
    auto isKnown = [](int64_t size) { return size >= 0; };
    if (!isSpecification(pad) && pad.getConstantPaddingValue() &&
        llvm::all_of(pad.getStaticLow(), isKnown) &&
        llvm::all_of(pad.getStaticHigh(), isKnown))
      pads.push_back(pad);
  });
  for (tensor::PadOp pad : pads) {
    ImplicitLocOpBuilder b(pad.getLoc(), pad);
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(b, b.getLoc(), pad.getSource());
    SmallVector<OpFoldResult> done = sizes, begin = pad.getMixedLowPad();
    for (auto [size, low, high] :
         llvm::zip(sizes, pad.getStaticLow(), pad.getStaticHigh()))
      size = add(b, size, b.getIndexAttr(low + high));
    Type element = pad.getResultType().getElementType();
    Value whole = tensor::EmptyOp::create(b, sizes, element);
    SmallVector<OpFoldResult> steps(sizes.size(), b.getIndexAttr(1));
    auto place = [&](Value part, ArrayRef<OpFoldResult> offsets,
                     ArrayRef<OpFoldResult> cut) {
      whole =
          tensor::InsertSliceOp::create(b, part, whole, offsets, cut, steps);
    };
    place(pad.getSource(), begin, done);
    for (int64_t axis = sizes.size(); axis-- > 0;) {
      auto fill = [&](OpFoldResult from, int64_t size) {
        if (size == 0)
          return;
        SmallVector<OpFoldResult> offsets = begin, cut = done;
        offsets[axis] = from;
        cut[axis] = b.getIndexAttr(size);
        Value empty = tensor::EmptyOp::create(b, cut, element);
        place(linalg::FillOp::create(b, pad.getConstantPaddingValue(), empty)
                  .getResult(0),
              offsets, cut);
      };
      int64_t low = pad.getStaticLow()[axis];
      fill(b.getIndexAttr(0), low);
      fill(add(b, done[axis], b.getIndexAttr(low)), pad.getStaticHigh()[axis]);
      begin[axis] = b.getIndexAttr(0);
      done[axis] = sizes[axis];
    }
    if (whole.getType() != pad.getType())
      whole = tensor::CastOp::create(b, pad.getType(), whole);
    pad->replaceAllUsesWith(ValueRange(whole));
    pad.erase();
  }
}

// More uses than a network has of any value but its sizes.
constexpr unsigned manyUses = 256;

// The analysis compares all uses of what may be one buffer, views included,
// with each other. Where there are very many, each looks at the buffer for
// itself; nothing else does, so that nobody can write it.
void partUses(Value value) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    if (!isa<tensor::DimOp>(use.getOwner()))
      uses.push_back(&use);
  if (uses.size() <= manyUses)
    return;
  auto type = cast<RankedTensorType>(value.getType());
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  Location loc = value.getLoc();
  Value own = value;
  if (!isa<BlockArgument>(value)) // an input is read only anyway
    own = AllocTensorOp::create(builder, loc, type, ValueRange(), value);
  Value buffer = ToBufferOp::create(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
      own, /*read_only=*/true);
  for (OpOperand *use : uses) {
    builder.setInsertionPoint(use->getOwner());
    use->set(ToTensorOp::create(builder, loc, type, buffer, /*restrict=*/true,
                                /*writable=*/false));
  }
}

void partUses(func::FuncOp function) {
  SmallVector<Value> values(function.getArguments());
  for (Operation &op : function.getOps())
    if (!isa<tensor::EmptyOp>(op) && !op.hasTrait<OpTrait::ConstantLike>())
      llvm::append_range(values, op.getResults());
  for (Value value : values)
    if (auto type = dyn_cast<RankedTensorType>(value.getType());
        type && !type.getEncoding())
      partUses(value);
}

// The dimension of an input that has the same symbol as one of an output.
Value sizeOfInput(OpBuilder &builder, BlockArgument output, int64_t dim) {
  std::string symbol = symbolOf(output, dim);
  for (BlockArgument input : output.getOwner()->getArguments()) {
    auto type = dyn_cast<MemRefType>(input.getType());
    for (int64_t own = 0; type && isInput(input) && own < type.getRank(); ++own)
      if (type.isDynamicDim(own) && symbolOf(input, own) == symbol)
        return memref::DimOp::create(builder, input.getLoc(), input, own);
  }
  return {};
}

// What it asks of the source is added to `open`.
Value sizeOfJoined(ImplicitLocOpBuilder &b, memref::CollapseShapeOp joined,
                   int64_t dim, SmallVectorImpl<memref::DimOp> &open) {
  Value size;
  SmallVector<ReassociationIndices> groups = joined.getReassociationIndices();
  for (int64_t own : groups[dim]) {
    Value factor = getValueOrCreateConstantIndexOp(
        b, b.getLoc(),
        memref::getMixedSize(b, b.getLoc(), joined.getSrc(), own));
    if (auto asked = factor.getDefiningOp<memref::DimOp>())
      open.push_back(asked);
    size = size ? b.createOrFold<arith::MulIOp>(size, factor) : factor;
  }
  return size;
}

// Sizes that upstream's folds do not find, so that they are known at entry.
void findSizes(ModuleOp module) {
  SmallVector<memref::DimOp> open;
  llvm::SetVector<Operation *> found;
  module.walk([&](memref::DimOp dim) { open.push_back(dim); });
  while (!open.empty()) {
    memref::DimOp dim = open.pop_back_val();
    std::optional<int64_t> index = dim.getConstantIndex();
    auto type = cast<MemRefType>(dim.getSource().getType());
    bool exists = index && *index >= 0 && *index < type.getRank();
    if (!exists || found.contains(dim))
      continue;
    ImplicitLocOpBuilder b(dim.getLoc(), dim);
    Value source = dim.getSource(), size;
    if (auto joined = source.getDefiningOp<memref::CollapseShapeOp>())
      size = sizeOfJoined(b, joined, *index, open);
    else if (auto split = source.getDefiningOp<memref::ExpandShapeOp>())
      size = getValueOrCreateConstantIndexOp(
          b, b.getLoc(), split.getMixedOutputShape()[*index]);
    else if (auto output = dyn_cast<BlockArgument>(source);
             output && isa<func::FuncOp>(output.getOwner()->getParentOp()) &&
             !isInput(output))
      size = sizeOfInput(b, output, *index);
    if (!size)
      continue;
    dim.replaceAllUsesWith(size);
    found.insert(dim);
  }
  for (Operation *dim : found)
    dim->erase();
}

// A reshape of a slice that a branch yields is copied: it might be one buffer
// with its source or not, and upstream decides that once for the yield and once
// for the reshape, not always alike.
void copyYieldedReshapes(ModuleOp module) {
  auto isSlice = [](Value value) {
    return value.getDefiningOp<tensor::ExtractSliceOp>() != nullptr;
  };
  module.walk([&](scf::YieldOp yield) {
    if (!isa<scf::IfOp>(yield->getParentOp()))
      return;
    for (OpOperand &operand : yield->getOpOperands()) {
      Operation *op = operand.get().getDefiningOp();
      if (!isa_and_present<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
              op) ||
          !isSlice(op->getOperand(0)))
        continue;
      OpBuilder builder(yield);
      operand.set(
          AllocTensorOp::create(builder, yield.getLoc(),
                                cast<RankedTensorType>(operand.get().getType()),
                                ValueRange(), operand.get()));
    }
  });
}

LogicalResult eliminateEmpties(ModuleOp module,
                               const OneShotBufferizationOptions &options) {
  OneShotAnalysisState state(module, options);
  if (failed(analyzeModuleOp(module, state)))
    return failure();
  IRRewriter rewriter(module.getContext());
  return eliminateEmptyTensors(rewriter, module, state, buildDestination);
}

struct Bufferize : impl::BufferizeBase<Bufferize> {
  void getDependentDialects(DialectRegistry &registry) const override {
    BufferizeBase::getDependentDialects(registry);
    registerBufferizationModels(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    makeInputsReadOnly(module);
    padInPlace(module);
    copyYieldedReshapes(module);
    splitFills(module);
    splitEmpties(module);
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal())
        partUses(function);
    OneShotBufferizationOptions options = makeOptions();
    if (failed(eliminateEmpties(module, options)))
      return signalPassFailure();
    BufferizationState state;
    if (failed(runOneShotModuleBufferize(module, options, state)))
      return signalPassFailure();
    removeBufferizationAttributesInModule(module);
    tightenBranches(module);
    findSizes(module);
  }
};

} // namespace
} // namespace onnxc
