// The tails of bells, e^-d^2, are subnormal numbers, which sums of products
// hide beside anything that is not. But where a sum has no other terms, its
// quotient by another one, its logarithm or a huge multiple of it shows them.
#include "lowering/tensor/SmallPowers.h"
#include "dialects/onnx/Constants.h"
#include "lowering/tensor/TensorReads.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace onnxc {
namespace {

// Of what comes of powers, and of what they are multiplied by, that is looked
// at: graphs are deep.
constexpr size_t mostValues = 256;

// Whether `op` sums elements of `value`.
bool isSumOf(Operation *op, Value value) {
  auto sum = dyn_cast<linalg::GenericOp>(op);
  return sum && sum.getNumResults() == 1 &&
         reductionOf<arith::AddFOp>(sum.getResult(0), value);
}

// Whether `op` only moves elements of `value`, or puts them beside others.
bool movesSmall(Operation *op, Value value) {
  return isMovement(op, value) || isa<tensor::InsertSliceOp, tensor::PadOp>(op);
}

// Whether all of a constant of f32 are such numbers; nothing for other values.
std::optional<bool> areAll(Value value, llvm::function_ref<bool(float)> is) {
  ElementsAttr constant = constantOf(value);
  if (!constant || !constant.getElementType().isF32())
    return std::nullopt;
  SmallVector<char> storage;
  for (ArrayRef<char> bytes = bytesOf(constant, storage); !bytes.empty();
       bytes = bytes.drop_front(sizeof(float))) {
    float number;
    std::memcpy(&number, bytes.data(), sizeof(number));
    if (!is(number))
      return false;
  }
  return true;
}

// Whether all of `value` are known numbers beside which subnormal ones are
// nothing.
bool isLargeConstant(Value value) {
  auto isLarge = [](float number) { return std::abs(number) > 1e-30f; };
  return areAll(originOf(value), isLarge).value_or(false);
}

// Whether numbers may grow much in `op`.
bool grows(Operation &op) {
  return isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::PowFOp,
             math::RsqrtOp, math::TanOp, math::SinhOp, math::CoshOp,
             arith::DivFOp>(op);
}

// Whether `value` may be so large that its product with a subnormal number is
// something: by its constants or a function that it goes through behind sums.
bool mayBeHuge(Value value) {
  llvm::SetVector<Value> behind;
  behind.insert(value);
  for (size_t i = 0; i < behind.size(); ++i) {
    if (i == mostValues)
      return true;
    auto isModerate = [](float number) { return std::abs(number) < 1e6f; };
    if (std::optional<bool> areModerate = areAll(behind[i], isModerate)) {
      if (!*areModerate)
        return true;
      continue;
    }
    Operation *op = behind[i].getDefiningOp();
    auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
    if (!op || (generic && generic.getNumReductionLoops()))
      continue;
    if (generic && llvm::any_of(generic.getBody()->without_terminator(), grows))
      return true;
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        behind.insert(operand);
  }
  return false;
}

// Whether `op` adds to what it makes of other operands a constant that is so
// large that what follows sees nothing else.
bool addsConstant(linalg::GenericOp op) {
  if (op.getNumReductionLoops())
    return isLargeConstant(op.getDpsInits()[0]);
  return onlyOp<arith::AddFOp>(op) &&
         llvm::any_of(op.getInputs(), isLargeConstant);
}

// Whether an operand of `op` other than `value` may be huge.
bool isScaledUp(Operation *op, Value value) {
  return llvm::any_of(
      cast<linalg::GenericOp>(op).getInputs(),
      [&](Value other) { return other != value && mayBeHuge(other); });
}

// Whether `op` makes elements that are as small as those of `value`, or that
// something larger hides these in.
bool keepsSmall(Operation *op, Value value) {
  if (movesSmall(op, value))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return onlyOp<arith::AddFOp, arith::SubFOp, arith::NegFOp>(generic) ||
         (onlyOp<arith::MulFOp>(generic) && !isScaledUp(generic, value));
}

// Whether what `op` makes of 0 is hardly another than of a subnormal number,
// unless it multiplies: not the quotient of two, nor a logarithm.
bool hidesSmall(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() &&
         llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
           return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp,
                      arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
                      math::ExpOp, math::TanhOp, math::ErfOp>(inner);
         });
}

// What sees the powers of one exponential.
class Readers {
public:
  // Whether nothing but sums comes of `value`, of products and of others, that
  // hide how small it is.
  bool areSums(Value value);

private:
  bool hide(Value value);

  DenseSet<Value> summed, hidden; // as far as is known
};

// Whether all that comes of `value`, to the end or up to a large constant,
// hides how small it is.
bool Readers::hide(Value value) {
  if (!hidden.insert(value).second)
    return true;
  return hidden.size() <= mostValues &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           if (isa<func::ReturnOp, tensor::DimOp>(user))
             return true;
           auto generic = dyn_cast<linalg::GenericOp>(user);
           if (generic && generic.getNumResults() == 1 && hidesSmall(generic) &&
               !isScaledUp(generic, value))
             return addsConstant(generic) || hide(generic.getResult(0));
           return movesSmall(user, value) && hide(user->getResult(0));
         });
}

bool Readers::areSums(Value value) {
  if (!summed.insert(value).second)
    return true;
  return summed.size() <= mostValues && !value.use_empty() &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           if (isa<tensor::DimOp>(user))
             return true;
           if ((isFactorOf(user, value) && !isScaledUp(user, value)) ||
               isSumOf(user, value))
             return addsConstant(cast<linalg::GenericOp>(user)) ||
                    hide(user->getResult(0));
           return keepsSmall(user, value) && areSums(user->getResult(0));
         });
}

} // namespace

bool isOnlySummed(Value powers) { return Readers().areSums(powers); }

} // namespace onnxc
