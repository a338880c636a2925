#include "lowering/Estimate.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace onnxc {
namespace {

class Estimator {
public:
  explicit Estimator(int64_t size) : size(size) {}

  // Null of what does not fold and is no size.
  Attribute fold(Value value) {
    if (auto found = known.find(value); found != known.end())
      return found->second;
    Attribute result;
    if (Operation *op = value.getDefiningOp();
        op && op->getNumRegions() == 0 &&
        !isa<memref::DimOp, tensor::DimOp>(op))
      result = folded(op);
    if (!result && value.getType().isIndex())
      result = IntegerAttr::get(value.getType(), size);
    return known[value] = result;
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

int64_t estimate(Value value, int64_t size) {
  auto constant = dyn_cast_or_null<IntegerAttr>(Estimator(size).fold(value));
  return constant ? constant.getValue().getSExtValue() : size;
}

} // namespace onnxc
