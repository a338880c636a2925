// A compiled model writes its outputs where the caller wants them, works in
// memory that the caller lends and is told nothing else. This pass fixes that
// signature. The caller's buffers are arguments from here on and each result is
// materialized in one: bufferization then lets the last producer write there,
// and a copy is left only where the value lives somewhere else already.
#include "lowering/PackedElement.h"
#include "lowering/Passes.h"
#include "lowering/memory/EntryFormulas.h"
#include "lowering/memory/Signature.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {

#define GEN_PASS_DEF_SETSIGNATURE
#include "lowering/Passes.h.inc"

namespace {

// The sizes of the dynamic dimensions, or nothing where one is known to the run
// alone.
std::optional<SmallVector<Value>> entrySizes(EntryFormulas &formulas,
                                             Value result) {
  SmallVector<Value> sizes;
  auto type = cast<RankedTensorType>(result.getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim)) {
      sizes.push_back(formulas.sizeOf(result, dim));
      if (!sizes.back())
        return std::nullopt;
    }
  return sizes;
}

// Appends the argument for output `index`, which inherits the result's name.
Value addOutput(func::FuncOp model, unsigned index, DictionaryAttr attributes,
                Value result) {
  auto tensor = cast<RankedTensorType>(result.getType());
  auto type = MemRefType::get(tensor.getShape(), tensor.getElementType());
  Builder builder(model.getContext());
  NamedAttrList inherited(attributes);
  inherited.set(outputAttrName, builder.getI64IntegerAttr(index));
  (void)model.insertArgument(model.getNumArguments(), type,
                             inherited.getDictionary(model.getContext()),
                             result.getLoc());
  return model.getArguments().back();
}

// What the value is a view of; null for an input.
Operation *makerOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<tensor::ExtractSliceOp, tensor::ExpandShapeOp,
                         tensor::CollapseShapeOp, tensor::CastOp,
                         tensor::ReshapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op;
}

// A value that another one overwrites is handed over before that: the buffer of
// an output may have held it, and bufferization does not see that what is
// copied there at last is written into the same memory.
void sortByAge(Block &block) {
  SmallVector<Operation *> ends;
  for (Operation &op : block)
    if (isa<bufferization::MaterializeInDestinationOp, ResultOp>(op))
      ends.push_back(&op);
  llvm::stable_sort(ends, [](Operation *one, Operation *other) {
    Operation *first = makerOf(one->getOperand(0)),
              *second = makerOf(other->getOperand(0));
    return second && (!first || first->isBeforeInBlock(second));
  });
  for (Operation *op : ends)
    op->moveBefore(block.getTerminator());
}

// The symbols of the inputs, in order of first appearance.
SmallVector<std::string> listSymbols(func::FuncOp model) {
  SmallVector<std::string> symbols;
  for (BlockArgument argument : model.getArguments())
    if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim))
          if (std::string name = symbolOf(argument, dim);
              !llvm::is_contained(symbols, name))
            symbols.push_back(name);
  return symbols;
}

// @model_output_dims: the dynamic sizes of the output arguments, from symbols.
void emitOutputDims(func::FuncOp model, ArrayRef<std::string> symbols,
                    ArrayRef<Value> sizes) {
  if (sizes.empty())
    return;
  OpBuilder builder(model.getContext());
  builder.setInsertionPointAfter(model);
  Location loc = model.getLoc();
  Type index = builder.getIndexType();
  auto type = builder.getFunctionType(SmallVector<Type>(symbols.size(), index),
                                      SmallVector<Type>(sizes.size(), index));
  auto func = func::FuncOp::create(builder, loc, outputDimsName, type);
  func.setPrivate();
  Block *block = func.addEntryBlock();
  builder.setInsertionPointToStart(block);
  EntryFormulas formulas(builder, [&](BlockArgument input, int64_t dim) {
    auto symbol = llvm::find(symbols, symbolOf(input, dim));
    return block->getArgument(symbol - symbols.begin());
  });
  auto results =
      llvm::map_to_vector(sizes, [&](Value v) { return formulas.valueOf(v); });
  func::ReturnOp::create(builder, loc, results);
}

struct SetSignature : impl::SetSignatureBase<SetSignature> {
  void runOnOperation() override {
    func::FuncOp model = findModel(getOperation());
    if (!model)
      return;
    SmallVector<std::string> symbols = listSymbols(model);
    FailureOr<SmallVector<Value>> sizes = passResults(model);
    if (failed(sizes))
      return signalPassFailure();
    emitOutputDims(model, symbols, *sizes);
    addLentMemory(model);
    SmallVector<StringRef> names(symbols.begin(), symbols.end());
    getOperation()->setAttr(symbolsAttrName,
                            Builder(&getContext()).getStrArrayAttr(names));
  }

  // Makes the results destinations; returns the sizes of the dynamic ones.
  FailureOr<SmallVector<Value>> passResults(func::FuncOp model) {
    auto end = cast<func::ReturnOp>(model.getBody().back().getTerminator());
    OpBuilder builder(end);
    EntryFormulas formulas(builder, [&](BlockArgument input, int64_t dim) {
      return tensor::DimOp::create(builder, input.getLoc(), input, dim);
    });
    SmallVector<Value> allSizes;
    for (auto [index, result] : llvm::enumerate(end.getOperands())) {
      if (!isa<RankedTensorType>(result.getType()))
        return model.emitError() << "output " << index << " has no rank";
      Location loc = result.getLoc();
      DictionaryAttr attributes = model.getResultAttrDict(index);
      // Where a size is not constant, only the call that ends packs.
      auto sizes = packedElement(attributes) ? std::nullopt
                                             : entrySizes(formulas, result);
      if (sizes) {
        allSizes.append(*sizes);
        bufferization::MaterializeInDestinationOp::create(
            builder, loc, TypeRange(), result,
            addOutput(model, index, attributes, result), /*restrict=*/true,
            /*writable=*/true);
        continue;
      }
      auto handed = ResultOp::create(builder, loc, result, index);
      if (attributes)
        handed->setDiscardableAttrs(attributes);
    }
    sortByAge(model.getBody().back());
    end->setOperands({});
    if (failed(
            model.eraseResults(llvm::BitVector(model.getNumResults(), true))))
      return failure();
    return allSizes;
  }
};

} // namespace
} // namespace onnxc
