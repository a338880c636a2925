#include "lowering/tensor/Tables.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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
    if (llvm::is_contained(operands, Attribute()))
      return false;
    values[op.getResult(0)] = resultOf(op, operands);
    return bool(values[op.getResult(0)]);
  }

private:
  Attribute resultOf(Operation &op, ArrayRef<Attribute> operands) {
    if (isa<arith::TruncFOp>(op))
      return rounded(operands[0], op.getResult(0).getType());
    SmallVector<OpFoldResult> results;
    if (failed(op.fold(operands, results)) || results.size() != 1)
      return {};
    auto value = dyn_cast<Value>(results.front());
    return value ? of(value) : cast<Attribute>(results.front());
  }

  // arith folds only what needs no rounding.
  static Attribute rounded(Attribute number, Type type) {
    auto from = dyn_cast<FloatAttr>(number);
    auto to = dyn_cast<FloatType>(type);
    if (!from || !to)
      return {};
    APFloat value = from.getValue();
    bool losesInfo;
    value.convert(to.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    return FloatAttr::get(to, value);
  }

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
