// onnxc.kernel: the verifier, and what bufferization wants to know of a kernel.
#include "dialects/onnxc/Onnxc.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace onnxc {

static Type tensorForm(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type); shaped && shaped.hasRank())
    return RankedTensorType::get(shaped.getShape(), shaped.getElementType());
  return type;
}

void KernelOp::build(OpBuilder &builder, OperationState &state,
                     Attribute schedule, ValueRange inputs,
                     ValueRange outputs) {
  build(builder, state, outputs.getTypes(), schedule, inputs, outputs);
  Block &block = state.regions.front()->emplaceBlock();
  for (ValueRange operands : {inputs, outputs})
    for (Value operand : operands)
      block.addArgument(tensorForm(operand.getType()), operand.getLoc());
}

OperandRange KernelOp::getYielded() {
  return cast<KernelYieldOp>(getBodyBlock()->getTerminator()).getValues();
}

static LogicalResult verifyArguments(KernelOp op) {
  Block *block = op.getBodyBlock();
  if (block->getNumArguments() != op->getNumOperands()) // C1
    return op.emitOpError()
           << "expected " << op->getNumOperands() << " block arguments, got "
           << block->getNumArguments();
  for (OpOperand &operand : op->getOpOperands()) {
    Type expected = tensorForm(operand.get().getType());
    Type actual = op.getBlockArgument(operand).getType();
    if (tensorForm(actual) != expected)
      return op.emitOpError()
             << "expected block argument " << operand.getOperandNumber()
             << " of type " << expected << ", got " << actual;
  }
  return success();
}

static LogicalResult verifyYield(KernelOp op) {
  auto yield = dyn_cast<KernelYieldOp>(op.getBodyBlock()->getTerminator());
  if (!yield)
    return op.emitOpError() << "expected the body to end in onnxc.yield";
  if (yield.getValues().size() != op.getOutputs().size()) // C2
    return op.emitOpError()
           << "expected " << op.getOutputs().size() << " yielded values, got "
           << yield.getValues().size();
  for (auto [value, output] : llvm::zip(yield.getValues(), op.getOutputs()))
    if (tensorForm(value.getType()) != tensorForm(output.getType()))
      return op.emitOpError() << "yields " << value.getType()
                              << " for an output of " << output.getType();
  return success();
}

LogicalResult KernelOp::verify() {
  bool tensors =
      llvm::all_of(getOutputs().getTypes(), llvm::IsaPred<RankedTensorType>);
  bool buffers =
      llvm::all_of(getOutputs().getTypes(), llvm::IsaPred<MemRefType>);
  if (!tensors && !buffers) // C3
    return emitOpError("outputs are neither all tensors nor all buffers");
  if (getNumResults() != (tensors ? getOutputs().size() : 0))
    return emitOpError() << "expected one result per tensor output, got "
                         << getNumResults();
  if (failed(verifyArguments(*this)))
    return failure();
  return verifyYield(*this);
}

void KernelOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : (*this)->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool output = isDpsInit(&operand);
    if (!output || readsOutput(operand))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (output)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

// Whether `use` reads elements of its tensor.
static bool readsElements(OpOperand &use) {
  auto pack = dyn_cast<linalg::PackOp>(use.getOwner());
  if (isa<tensor::DimOp>(use.getOwner()) || (pack && pack.isDpsInit(&use)))
    return false;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return !linalgOp || !linalgOp.isDpsInit(&use) ||
         linalgOp.payloadUsesValueFromOperand(&use);
}

bool KernelOp::isScratch(OpOperand &output) {
  unsigned number = output.getOperandNumber() - getInputs().size();
  return isa<BlockArgument>(getYielded()[number]);
}

bool KernelOp::readsOutput(OpOperand &output) {
  return llvm::any_of(getBlockArgument(output).getUses(), readsElements);
}

bool KernelOp::bufferizesToMemoryRead(OpOperand &operand,
                                      const AnalysisState &) {
  return isDpsInput(&operand) || readsOutput(operand);
}

bool KernelOp::bufferizesToMemoryWrite(OpOperand &operand,
                                       const AnalysisState &) {
  return isDpsInit(&operand);
}

AliasingValueList KernelOp::getAliasingValues(OpOperand &operand,
                                              const AnalysisState &) {
  if (!isDpsInit(&operand))
    return {};
  return {{getTiedOpResult(&operand), BufferRelation::Equivalent}};
}

LogicalResult KernelOp::bufferize(RewriterBase &rewriter,
                                  const BufferizationOptions &options,
                                  BufferizationState &state) {
  SmallVector<Value> operands;
  for (Value operand : getOperands()) {
    if (!isa<TensorType>(operand.getType())) {
      operands.push_back(operand);
      continue;
    }
    FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    operands.push_back(*buffer);
  }
  ArrayRef<Value> all = operands;
  size_t inputCount = getInputs().size();
  auto kernel =
      KernelOp::create(rewriter, getLoc(), TypeRange(), getSchedule(),
                       all.take_front(inputCount), all.drop_front(inputCount));
  kernel->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(getBody(), kernel.getBody(),
                              kernel.getBody().end());
  replaceOpWithBufferizedValues(rewriter, *this, all.drop_front(inputCount));
  return success();
}

} // namespace onnxc
