// One name means one value. Dimensions of inputs that share a symbol are read
// from the first of them (the entry checks that they agree), and a size of an
// intermediate value that follows from the inputs' sizes becomes that formula,
// computed at entry. What is left of tensor.dim is known to the run alone.
#include "lowering/Passes.h"
#include "dialects/onnx/NodeLocation.h"
#include "lowering/memory/EntryFormulas.h"
#include "lowering/memory/Signature.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace onnxc {

#define GEN_PASS_DEF_HOISTSIZES
#include "lowering/Passes.h.inc"

namespace {

// The first dimension of each symbol, read at entry.
llvm::StringMap<Value> readSymbols(OpBuilder &builder, func::FuncOp model) {
  llvm::StringMap<Value> sizes;
  for (BlockArgument argument : model.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    for (int64_t dim = 0; type && dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        if (Value &size = sizes[symbolOf(argument, dim)]; !size)
          size =
              tensor::DimOp::create(builder, argument.getLoc(), argument, dim);
  }
  return sizes;
}

// As arithmetic, like the formulas that names are, so that equal ones merge.
void expandMaps(Block &entry) {
  for (auto apply :
       llvm::make_early_inc_range(entry.getOps<affine::AffineApplyOp>())) {
    OpBuilder builder(apply);
    auto expanded =
        affine::expandAffineMap(builder, apply.getLoc(), apply.getAffineMap(),
                                llvm::to_vector(apply.getOperands()));
    apply.replaceAllUsesWith(expanded->front());
    apply.erase();
  }
}

// What a check of sizes needs: arithmetic, and the last operation in front of
// that, null where that is what is computed at entry.
struct Needed {
  llvm::SetVector<Operation *> arithmetic;
  Operation *last = nullptr;

  void add(Value value, Operation *begin) {
    Operation *op = value.getDefiningOp();
    if (!op || op->isBeforeInBlock(begin) || arithmetic.contains(op))
      return;
    auto dim = dyn_cast<tensor::DimOp>(op);
    bool isOfInput = dim && isa<BlockArgument>(dim.getSource());
    bool isArithmetic = isPure(op) && op->getNumRegions() == 0 &&
                        llvm::all_of(op->getOperandTypes(), isNumber);
    if (!isArithmetic && !isOfInput) {
      last = last && op->isBeforeInBlock(last) ? last : op;
      return;
    }
    for (Value operand : op->getOperands())
      add(operand, begin);
    arithmetic.insert(op);
  }

  static bool isNumber(Type type) { return type.isIntOrIndexOrFloat(); }
};

// What is computed of a value has the size that the check asks for by now, so
// as little as may be is in front of it. Those of one node stay in order.
void hoistChecks(Block &entry, Operation *begin) {
  llvm::StringMap<Operation *> lastOfNode;
  for (CheckOp check : llvm::make_early_inc_range(entry.getOps<CheckOp>())) {
    if (check->isBeforeInBlock(begin))
      continue;
    Needed needed;
    needed.add(check.getCondition(), begin);
    Operation *&before = lastOfNode[nodeOf(check.getLoc()).name];
    bool isAtEntry = !before || before->isBeforeInBlock(begin);
    if (!isAtEntry && !(needed.last && before->isBeforeInBlock(needed.last)))
      needed.last = before;
    before = check;
    Operation *place = needed.last ? needed.last->getNextNode() : begin;
    needed.arithmetic.insert(check);
    for (Operation *op : needed.arithmetic)
      if (op == place)
        place = op->getNextNode();
      else if (!op->isBeforeInBlock(place))
        op->moveBefore(place);
  }
}

struct HoistSizes : impl::HoistSizesBase<HoistSizes> {
  void runOnOperation() override {
    func::FuncOp model = findModel(getOperation());
    if (!model)
      return;
    SmallVector<tensor::DimOp> dims;
    model.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != model && op->hasTrait<OpTrait::IsIsolatedFromAbove>())
        return WalkResult::skip();
      if (auto dim = dyn_cast<tensor::DimOp>(op))
        dims.push_back(dim);
      return WalkResult::advance();
    });
    Block &entry = model.getBody().front();
    auto builder = OpBuilder::atBlockBegin(&entry);
    // Where what is computed at entry ends.
    Operation *begin =
        arith::ConstantIndexOp::create(builder, model.getLoc(), 0);
    builder.setInsertionPoint(begin);
    llvm::StringMap<Value> symbols = readSymbols(builder, model);
    EntryFormulas formulas(builder, [&](BlockArgument input, int64_t dim) {
      return symbols.lookup(symbolOf(input, dim));
    });
    for (tensor::DimOp dim : dims)
      if (Value size = formulas.valueOf(dim)) {
        dim.replaceAllUsesWith(size);
        ++sizesAtEntry;
      }
    expandMaps(entry);
    hoistChecks(entry, begin);
    begin->erase();
  }
};

} // namespace
} // namespace onnxc
