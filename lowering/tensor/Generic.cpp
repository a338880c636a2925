// Loops over onnx elements, and the small words that go with them.
#include "dialects/onnx/NodeLocation.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/tensor/Inputs.h"
#include "lowering/tensor/OnnxToLinalg.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {

SmallVector<IteratorType> parallel(int64_t rank) {
  return SmallVector<IteratorType>(rank, IteratorType::parallel);
}

SmallVector<Value> generic(ImplicitLocOpBuilder &builder, ValueRange inputs,
                           ArrayRef<Type> from, ValueRange outputs,
                           ArrayRef<Type> to, ArrayRef<AffineMap> maps,
                           ArrayRef<IteratorType> iterators, Body body) {
  bool folds = !outputs[0].getDefiningOp<tensor::EmptyOp>();
  auto emit = [&](OpBuilder &inner, Location loc, ValueRange args) {
    ScalarBuilder scalars(inner, loc, to[0]);
    SmallVector<Scalar> loaded;
    for (auto [arg, type] : llvm::zip(args, llvm::concat<const Type>(from, to)))
      loaded.push_back(loaded.size() < from.size() || folds
                           ? load(scalars, arg, type)
                           : Scalar());
    SmallVector<Value> stored;
    for (auto [scalar, type] : llvm::zip(body(scalars, loaded), to))
      stored.push_back(store(scalars, scalar, type));
    linalg::YieldOp::create(scalars, stored);
  };
  auto loop = linalg::GenericOp::create(builder, TypeRange(outputs), inputs,
                                        outputs, maps, iterators, emit);
  return SmallVector<Value>(loop.getResults());
}

Value emptyOf(ImplicitLocOpBuilder &builder, ArrayRef<OpFoldResult> sizes,
              Type element) {
  return tensor::EmptyOp::create(builder, sizes, storageType(element));
}

SmallVector<OpFoldResult> sizesOf(ImplicitLocOpBuilder &builder, Value tensor) {
  SmallVector<Index> sizes;
  for (int64_t i = 0, rank = cast<RankedTensorType>(tensor.getType()).getRank();
       i < rank; ++i)
    sizes.push_back(sizeOf(builder, tensor, i));
  return folded(builder, sizes);
}

Value indexValue(ImplicitLocOpBuilder &builder, OpFoldResult size) {
  return getValueOrCreateConstantIndexOp(builder, builder.getLoc(), size);
}

Value castTo(ImplicitLocOpBuilder &builder, Value value, Type type) {
  return value.getType() == type
             ? value
             : tensor::CastOp::create(builder, type, value).getResult();
}

void check(ImplicitLocOpBuilder &builder, Value condition, Status status,
           Operation *op, StringRef what, StringRef operand) {
  std::string node = nodeName(op->getLoc()).str();
  StringRef type = nodeOf(op->getLoc()).type; // of the node that it stands for
  if (type.empty())
    type = op->getName().stripDialect();
  CheckOp::create(builder, condition, uint32_t(status),
                  "node '" + node + "' (" + type.str() + "): " + what.str(),
                  operand.str());
}

} // namespace onnxc
