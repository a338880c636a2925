#include "compiler/Budget.h"
#include "dialects/onnx/Families.h" // generated: the classes of every family
#include "dialects/onnx/OnnxDialect.h"
#include "dialects/onnx/Shape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace onnxc {

constexpr int64_t mostNodes = 25000, mostValues = 10000, mostNames = 500;

static LogicalResult checkNames(ModuleOp module) {
  auto model = module.lookupSymbol<func::FuncOp>("model");
  llvm::DenseSet<StringAttr> names;
  if (model)
    for (Type type : model.getArgumentTypes())
      if (isa<RankedTensorType>(type))
        for (Dim dim : shapeOf(type))
          if (dim.symbol)
            names.insert(dim.symbol);
  if (int64_t(names.size()) <= mostNames)
    return success();
  return model.emitError() << "a model of " << names.size()
                           << " unknown sizes exceeds the budget of "
                           << mostNames << "; give some by --dim";
}

LogicalResult checkWidths(ModuleOp module) {
  OnnxOpInterface wide;
  module->walk([&](OnnxOpInterface op) {
    if (op->getNumOperands() + op->getNumResults() > mostValues)
      wide = op;
    return wide ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (wide)
    return wide->emitError()
           << "a node of " << wide->getNumOperands() + wide->getNumResults()
           << " operands and results exceeds the budget of " << mostValues;
  return checkNames(module);
}

LogicalResult checkNodes(ModuleOp module) {
  int64_t nodes = 0;
  Operation *last = nullptr;
  module->walk([&](OnnxOpInterface op) {
    if (!isa<ConstantOp>(op) && ++nodes == mostNodes + 1)
      last = op;
  });
  if (!last)
    return success();
  return last->emitError() << "a graph of " << nodes
                           << " nodes exceeds the budget of " << mostNodes;
}

} // namespace onnxc
