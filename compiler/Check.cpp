#include "compiler/Check.h"
#include "dialects/onnx/NodeLocation.h"
#include "dialects/onnx/Record.h"
#include "dialects/onnxc/Onnxc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {
namespace {

class Removal {
public:
  explicit Removal(func::FuncOp function) : function(function) {}

  // A value of unknown rank says nothing of those that use it: they go as well.
  void remove(Operation *op) {
    if (erased.contains(op) || !leaving.insert(op).second)
      return;
    for (Value result : op->getResults()) {
      dropOutputs(result);
      while (!isa<RankedTensorType>(result.getType()) && !result.use_empty()) {
        Operation *user = *result.user_begin();
        remove(isa<YieldOp>(user) ? user->getParentOp() : user);
        if (erased.contains(op)) // with the branch that it lay in
          return;
      }
      if (!result.use_empty())
        result.replaceAllUsesWith(input(result));
    }
    SmallVector<Value> operands(op->getOperands());
    op->walk([&](Operation *inner) { erased.insert(inner); });
    op->erase();
    for (Value operand : operands)
      keep(operand);
  }

private:
  Value input(Value like) {
    unsigned index = function.getNumArguments();
    OpBuilder builder(function.getContext());
    auto name = builder.getStringAttr("left out " + Twine(index));
    auto attributes =
        builder.getDictionaryAttr(builder.getNamedAttr(nameAttrName, name));
    if (failed(function.insertArgument(index, like.getType(), attributes,
                                       like.getLoc())))
      return {};
    return function.getArgument(index);
  }

  Operation *end() { return function.getBody().front().getTerminator(); }

  void dropOutputs(Value value) {
    for (unsigned i = end()->getNumOperands(); i-- > 0;)
      if (end()->getOperand(i) == value) {
        end()->eraseOperand(i);
        (void)function.eraseResult(i);
      }
  }

  // What only a node that is gone has used is an output now: it shall be
  // compiled.
  void keep(Value value) {
    Operation *producer = value.getDefiningOp();
    if (!producer || leaving.contains(producer) || !value.use_empty() ||
        producer->getParentOp() != function || isa<ConstantOp>(producer))
      return;
    unsigned index = function.getNumResults();
    Builder builder(function.getContext());
    auto name = builder.getStringAttr("left over " + Twine(index));
    if (succeeded(function.insertResult(
            index, value.getType(),
            builder.getDictionaryAttr(
                builder.getNamedAttr(nameAttrName, name)))))
      end()->insertOperands(index, value);
  }

  func::FuncOp function;
  DenseSet<Operation *> leaving, erased; // no operation is made meanwhile
};

} // namespace

bool leaveOutNodes(ModuleOp module, ArrayRef<Problem> problems) {
  auto function = module.lookupSymbol<func::FuncOp>("model");
  llvm::StringSet<> told;
  for (const Problem &problem : problems)
    if (!problem.node.empty())
      told.insert(problem.node + "\n" + problem.type);
  if (!function || told.empty())
    return false;
  SmallVector<Operation *> wrong;
  function.walk([&](OnnxOpInterface op) {
    NodeName node = nodeOf(op->getLoc());
    if (told.contains((node.name + "\n" + node.type).str()))
      wrong.push_back(op);
  });
  Removal removal(function);
  for (Operation *op : wrong)
    removal.remove(op);
  return !wrong.empty();
}

} // namespace onnxc
