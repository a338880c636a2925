#include "lowering/tensor/Tables.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace onnxc {
namespace {

// Larger ones are computed by the run: compiling would take noticeable time.
constexpr int64_t mostElements = 1 << 14;

// Values that are known, each computed once.
class Known {
public:
  Attribute of(Value value) {
    if (auto known = values.find(value); known != values.end())
      return known->second;
    Operation *op = value.getDefiningOp();
    if (op && op->getNumResults() == 1 && op->getNumRegions() == 0)
      fold(*op);
    return values[value];
  }
  void set(Value value, Attribute known) { values[value] = known; }
  bool fold(Operation &op) {
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands())
      operands.push_back(of(operand));
    SmallVector<OpFoldResult> results;
    if (llvm::is_contained(operands, Attribute()) ||
        failed(op.fold(operands, results)) || results.size() != 1)
      return false;
    auto value = dyn_cast<Value>(results.front());
    values[op.getResult(0)] =
        value ? of(value) : cast<Attribute>(results.front());
    return bool(values[op.getResult(0)]);
  }

private:
  DenseMap<Value, Attribute> values;
};

} // namespace

SmallVector<DenseElementsAttr> foldTables(linalg::GenericOp op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (op.getNumDpsInputs() != 0 || !type.hasStaticShape() ||
      type.getRank() != 1 || type.getNumElements() > mostElements ||
      op.getNumParallelLoops() != 1)
    return {};
  Builder builder(op.getContext());
  Known outside;
  std::vector<SmallVector<Attribute>> tables(op->getNumResults());
  Block *body = op.getBody();
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Known known = outside;
    for (Operation &inner : body->without_terminator()) {
      if (isa<linalg::IndexOp>(inner))
        known.set(inner.getResult(0), builder.getIndexAttr(i));
      else if (inner.getNumResults() != 1 || !known.fold(inner))
        return {};
    }
    for (auto [table, value] :
         llvm::zip(tables, body->getTerminator()->getOperands()))
      table.push_back(known.of(value));
  }
  SmallVector<DenseElementsAttr> folded;
  for (auto [table, result] : llvm::zip(tables, op->getResultTypes())) {
    if (llvm::is_contained(table, Attribute()))
      return {};
    folded.push_back(DenseElementsAttr::get(cast<ShapedType>(result), table));
  }
  return folded;
}

} // namespace onnxc
