#include "lowering/tensor/irregular/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {

static Tensors
visitFrom(ImplicitLocOpBuilder &builder, ArrayRef<Index> sizes, Sizes &at,
          Tensors tensors,
          llvm::function_ref<Tensors(ArrayRef<Index>, Tensors)> body) {
  if (at.size() == sizes.size())
    return body(at, tensors);
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value one = arith::ConstantIndexOp::create(builder, 1);
  Value size = sizes[at.size()].in(builder);
  auto emit = [&](OpBuilder &, Location, Value position, ValueRange carried) {
    at.push_back({builder, position});
    scf::YieldOp::create(builder,
                         visitFrom(builder, sizes, at, Tensors(carried), body));
    at.pop_back();
  };
  auto loop = scf::ForOp::create(builder, zero, size, one, tensors, emit);
  return Tensors(loop.getResults());
}

Tensors visit(ImplicitLocOpBuilder &builder, ArrayRef<Index> sizes,
              Tensors start,
              llvm::function_ref<Tensors(ArrayRef<Index>, Tensors)> body) {
  Sizes at;
  return visitFrom(builder, sizes, at, start, body);
}

Tensors repeatWhile(ImplicitLocOpBuilder &builder, Tensors start,
                    llvm::function_ref<Condition(ArrayRef<Value>)> more,
                    llvm::function_ref<Tensors(Tensors)> body) {
  auto ask = [&](OpBuilder &, Location, ValueRange carried) {
    scf::ConditionOp::create(
        builder, more(llvm::to_vector(carried)).in(builder), carried);
  };
  auto run = [&](OpBuilder &, Location, ValueRange carried) {
    scf::YieldOp::create(builder, body(Tensors(carried)));
  };
  auto loop = scf::WhileOp::create(builder, ValueRange(start).getTypes(), start,
                                   ask, run);
  return Tensors(loop.getResults());
}

Value insert(ImplicitLocOpBuilder &builder, Value element, Value into,
             ArrayRef<Index> at) {
  SmallVector<Value> indices;
  for (Index position : at)
    indices.push_back(position.in(builder));
  return tensor::InsertOp::create(builder, element, into, indices);
}

Tensors changeIf(ImplicitLocOpBuilder &builder, Condition condition,
                 Tensors tensors,
                 llvm::function_ref<Tensors(Tensors)> changed) {
  if (condition.isTrue())
    return changed(tensors);
  if (condition.isFalse())
    return tensors;
  auto yes = [&](OpBuilder &, Location) {
    scf::YieldOp::create(builder, changed(tensors));
  };
  auto no = [&](OpBuilder &, Location) {
    scf::YieldOp::create(builder, tensors);
  };
  auto branch = scf::IfOp::create(builder, condition.in(builder), yes, no);
  return Tensors(branch.getResults());
}

Scalar scalarAt(ScalarBuilder &scalars, Value tensor, Type element,
                ArrayRef<Index> at) {
  return load(scalars, extract(scalars, tensor, at), element);
}

Value asInt64(ImplicitLocOpBuilder &builder, Index index) {
  return builder.createOrFold<arith::IndexCastOp>(builder.getI64Type(),
                                                  index.in(builder));
}

} // namespace onnxc
