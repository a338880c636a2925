// The importer infers types while it reads, when much is not known yet. Once
// constants are folded, more is: this pass asks every operation again, in
// order, and gives what it learns to the results. Unknown sizes without a name
// get one here, so that a tensor knows at least its own size.
#include "dialects/onnx/Families.h"
#include "dialects/onnx/NodeLocation.h"
#include "dialects/onnx/Sizes.h"
#include "lowering/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace onnxc {
#define GEN_PASS_DEF_INFERSHAPES
#include "lowering/Passes.h.inc"

using namespace mlir;

namespace {

// Names for sizes that nothing is known of: ?0, ?1, ...
class FreshNames {
public:
  explicit FreshNames(ModuleOp module) {
    module.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        skip(type);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Type type : block.getArgumentTypes())
            skip(type);
    });
  }
  StringAttr next(MLIRContext *context) {
    return StringAttr::get(context, "?" + llvm::Twine(count++));
  }

private:
  void skip(Type type) {
    if (!isa<RankedTensorType>(type))
      return;
    for (Dim dim : shapeOf(type)) {
      uint64_t number;
      if (dim.symbol && dim.symbol.getValue().starts_with("?") &&
          !dim.symbol.getValue().drop_front().getAsInteger(10, number))
        count = std::max(count, number + 1);
    }
  }
  uint64_t count = 0;
};

// What is known from either; the newer one is right where both have a name.
Type refine(Type known, Type inferred, FreshNames &names) {
  auto type = dyn_cast<RankedTensorType>(inferred);
  if (!type)
    return isa<RankedTensorType>(known) ? known : inferred;
  Shape shape = shapeOf(type);
  auto old = dyn_cast<RankedTensorType>(known);
  bool comparable = old && old.getRank() == type.getRank();
  for (auto [i, dim] : llvm::enumerate(shape)) {
    Dim before = comparable ? shapeOf(old)[i] : Dim();
    if (!dim.isStatic() && (before.isStatic() || !dim.symbol))
      dim = before;
    if (!dim.isStatic() && !dim.symbol)
      dim.symbol = names.next(type.getContext());
  }
  return tensorOf(shape, type.getElementType());
}

LogicalResult inferResults(Operation *op, FreshNames &names) {
  auto inferrable = dyn_cast<InferTypeOpInterface>(op);
  if (!inferrable || !isa<OnnxOpInterface>(op))
    return success();
  SmallVector<Type> types;
  if (failed(inferrable.inferReturnTypes(
          op->getContext(), op->getLoc(), op->getOperands(),
          op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
          op->getRegions(), types)))
    return failure();
  if (types.size() != op->getNumResults())
    return op->emitOpError() << "has " << op->getNumResults()
                             << " results, expected " << types.size();
  for (auto [result, type] : llvm::zip(op->getResults(), types))
    result.setType(refine(result.getType(), type, names));
  return success();
}

// Shapes that are computed are constants as soon as the sizes are known.
void replaceByConstants(Operation *op) {
  if (!isa<OnnxOpInterface>(op) || isa<ConstantOp>(op))
    return;
  for (OpResult result : op->getResults()) {
    if (result.use_empty())
      continue;
    std::optional<Sizes> elements = knownElements(result);
    if (!elements ||
        !llvm::all_of(*elements, [](Index x) { return x.isKnown(); }))
      continue;
    auto type = cast<RankedTensorType>(result.getType());
    unsigned bits = type.getElementTypeBitWidth();
    SmallVector<APInt> numbers;
    for (Index element : *elements)
      numbers.push_back(APInt(64, element.get()).trunc(bits));
    auto value = DenseElementsAttr::get(type, numbers);
    OpBuilder builder(op);
    NamedAttribute attr = builder.getNamedAttr("value", value);
    result.replaceAllUsesWith(
        ConstantOp::create(builder, op->getLoc(), type, ValueRange(), attr));
  }
}

LogicalResult inferRegion(Region &region, FreshNames &names);

// What is wrong with a branch; nothing if it can run.
std::string problemOf(Region &branch, FreshNames &names) {
  for (auto known : branch.front().getOps<FailOp>())
    return known.getMessage().str();
  std::string problem;
  ScopedDiagnosticHandler handler(
      branch.getContext(), [&](Diagnostic &diagnostic) {
        if (problem.empty())
          problem =
              describeNode(diagnostic.getLocation()) + ": " + diagnostic.str();
        return success();
      });
  return failed(inferRegion(branch, names)) ? problem : "";
}

void replaceByFailure(Region &branch, StringRef problem, TypeRange types) {
  Block &block = branch.front();
  Location loc = block.getTerminator()->getLoc();
  bool wrong = false;
  for (auto known : block.getOps<FailOp>()) {
    loc = known.getLoc();
    wrong = known.getWrong();
  }
  block.dropAllReferences();
  block.clear();
  OpBuilder builder = OpBuilder::atBlockEnd(&block);
  auto failed = FailOp::create(builder, loc, types, problem, wrong);
  YieldOp::create(builder, loc, failed->getResults());
}

// A branch that was right as long as ranks were not known may turn out not to
// take such a tensor. The model is right if it is never taken.
LogicalResult inferBranches(IfOp op, FreshNames &names) {
  std::string problems[2];
  for (auto [problem, branch] : llvm::zip(problems, op->getRegions()))
    problem = problemOf(branch, names);
  if (!problems[0].empty() && !problems[1].empty())
    return op.emitError("no branch can run: ") << problems[0];
  for (auto [i, problem] : llvm::enumerate(problems))
    if (!problem.empty())
      replaceByFailure(
          op->getRegion(i), problem,
          op->getRegion(1 - i).front().getTerminator()->getOperandTypes());
  return success();
}

LogicalResult inferSubgraphs(Operation &op, FreshNames &names) {
  if (auto branches = dyn_cast<IfOp>(op))
    return inferBranches(branches, names);
  LogicalResult all = success();
  for (Region &inner : op.getRegions())
    if (failed(inferRegion(inner, names)))
      all = failure();
  return all;
}

// Operations before those that use them, subgraphs before the operation that
// holds them. All that is wrong is told.
LogicalResult inferRegion(Region &region, FreshNames &names) {
  LogicalResult all = success();
  for (Block &block : region)
    for (Operation &op : block) {
      if (failed(inferSubgraphs(op, names)) || failed(inferResults(&op, names)))
        all = failure();
      else
        replaceByConstants(&op);
    }
  return all;
}

struct InferShapes : impl::InferShapesBase<InferShapes> {
  void runOnOperation() override {
    FreshNames names(getOperation());
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (failed(inferRegion(func.getBody(), names)))
        return signalPassFailure();
      if (func.isExternal())
        continue;
      Operation *end = func.getBody().back().getTerminator();
      func.setType(FunctionType::get(&getContext(), func.getArgumentTypes(),
                                     end->getOperandTypes()));
    }
  }
};

} // namespace
} // namespace onnxc
