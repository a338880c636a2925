#include "lowering/Estimate.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace onnxc {
namespace {

class Estimator {
public:
  explicit Estimator(int64_t size) : size(size) {}

  Attribute fold(Value value) {
    if (auto found = known.find(value); found != known.end())
      return found->second;
    Operation *op = value.getDefiningOp();
    Attribute result;
    if (isa_and_nonnull<memref::DimOp>(op) ||
        (!op && value.getType().isIndex()))
      result = IntegerAttr::get(IndexType::get(value.getContext()), size);
    else if (op)
      result = folded(op);
    known[value] = result;
    return result;
  }

private:
  Attribute folded(Operation *op) {
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(fold(operand));
    Operation *copy = op->clone(); // folding may change it
    SmallVector<OpFoldResult> results;
    bool isOne =
        succeeded(copy->fold(operands, results)) && results.size() == 1;
    copy->destroy();
    if (!isOne)
      return {};
    return isa<Attribute>(results[0]) ? cast<Attribute>(results[0])
                                      : fold(cast<Value>(results[0]));
  }

  int64_t size;
  llvm::DenseMap<Value, Attribute> known;
};

} // namespace

std::optional<int64_t> estimate(Value value, int64_t size) {
  auto constant = dyn_cast_or_null<IntegerAttr>(Estimator(size).fold(value));
  if (!constant)
    return std::nullopt;
  return constant.getValue().getSExtValue();
}

} // namespace onnxc
