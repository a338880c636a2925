// The shares that softmax gives to the rows of another matrix are e^(x - max)
// by their sum. A mask of -100 leaves 4e-44 of one: nothing in f32 beside the
// share of the maximum, but a subnormal number, and Intel's cores take some 150
// cycles for each multiplication with one. Swin spent 27 of 95 ms so.
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/Passes.h"
#include "lowering/loops/LaneBody.h"
#include "lowering/loops/math/Functions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_DROPSMALLSHARES
#include "lowering/Passes.h.inc"

namespace {

// The operation that makes what `op` yields of its elements.
template <typename... OpTs> Operation *onlyOp(linalg::GenericOp op) {
  if (!op || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0)
    return nullptr;
  Block *body = op.getBody();
  Operation *result = body->getTerminator()->getOperand(0).getDefiningOp();
  bool isOnly = result && llvm::hasNItems(*body, 2) && isa<OpTs...>(result);
  return isOnly ? result : nullptr;
}

// The tensor whose elements the body sees as `element`.
Value tensorOf(linalg::GenericOp op, Value element) {
  auto argument = dyn_cast<BlockArgument>(element);
  return argument && argument.getOwner() == op.getBody()
             ? op.getMatchingOpOperand(argument)->get()
             : Value();
}

// Whether `op` only moves elements of `value`.
bool isMovement(Operation *op, Value value) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
               tensor::ExtractSliceOp, linalg::TransposeOp, linalg::PackOp>(op);
  Operation *yield = generic.getBody()->getTerminator();
  return generic.getNumDpsInits() == 1 &&
         tensorOf(generic, yield->getOperand(0)) == value;
}

// What `value` is a repetition or another shape of.
Value originOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (op->getNumOperands() == 0)
      return value;
    Value from = op->getOperand(0);
    if (!isMovement(op, from) || (generic && generic.getNumDpsInputs() != 1))
      return value;
    value = from;
  }
  return value;
}

// Whether `value` is a reduction of `tensor`, in some shape.
template <typename OpT> bool isReductionOf(Value value, Value tensor) {
  auto op = originOf(value).getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return false;
  std::optional<Combiner> combiner = combinerOf(op, 0);
  return combiner && isa<OpT>(combiner->op) &&
         tensorOf(op, combiner->folded) == tensor;
}

// Whether `value` is made of the sum of `powers` alone.
bool isOfSum(Value value, Value powers) {
  if (isReductionOf<arith::AddFOp>(value, powers))
    return true;
  auto op = originOf(value).getDefiningOp<linalg::GenericOp>();
  Operation *division = onlyOp<arith::DivFOp>(op);
  Value sum = division ? tensorOf(op, division->getOperand(1)) : Value();
  return sum && isReductionOf<arith::AddFOp>(sum, powers);
}

// Whether only products read `value`, however they are laid out.
bool isOnlyMultiplied(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           if (isMovement(user, value))
             return isOnlyMultiplied(user->getResult(0));
           auto op = dyn_cast<linalg::LinalgOp>(user);
           return op && linalg::isaContractionOpInterface(op);
         });
}

// Whether the powers are summed, and become shares that products read.
bool becomesShares(Value powers) {
  return llvm::all_of(powers.getUsers(), [&](Operation *user) {
    auto op = dyn_cast<linalg::GenericOp>(user);
    if (op && op->getNumResults() == 1 &&
        isReductionOf<arith::AddFOp>(op.getResult(0), powers))
      return true;
    Operation *share = onlyOp<arith::MulFOp, arith::DivFOp>(op);
    if (!share || !isOnlyMultiplied(op.getResult(0)))
      return false;
    Value first = tensorOf(op, share->getOperand(0)),
          second = tensorOf(op, share->getOperand(1));
    if (isa<arith::MulFOp>(share) && second == powers)
      std::swap(first, second);
    return first == powers && second && isOfSum(second, powers);
  });
}

// x of e^(x - max(x)) where that makes shares.
bool isPowerOfShares(linalg::GenericOp op) {
  auto power = dyn_cast_or_null<math::ExpOp>(onlyOp<math::ExpOp>(op));
  if (!power || !power.getType().isF32())
    return false;
  Value exponents = tensorOf(op, power.getOperand());
  auto from = exponents ? exponents.getDefiningOp<linalg::GenericOp>()
                        : linalg::GenericOp();
  Operation *difference = onlyOp<arith::SubFOp>(from);
  if (!difference)
    return false;
  Value x = tensorOf(from, difference->getOperand(0)),
        most = tensorOf(from, difference->getOperand(1));
  return x && most && isReductionOf<arith::MaximumFOp>(most, x) &&
         becomesShares(op.getResult(0));
}

void dropSmall(linalg::GenericOp op) {
  Operation *yield = op.getBody()->getTerminator();
  Value power = yield->getOperand(0);
  ImplicitLocOpBuilder b(op.getLoc(), yield);
  auto constant = [&](double number) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(number));
  };
  Value isSmall = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT,
                                        power.getDefiningOp()->getOperand(0),
                                        constant(elementary::leastExponent));
  yield->setOperand(0, arith::SelectOp::create(b, isSmall, constant(0), power));
}

struct DropSmallShares : impl::DropSmallSharesBase<DropSmallShares> {
  void runOnOperation() override {
    if (isStrict(getOperation()))
      return;
    SmallVector<linalg::GenericOp> powers;
    getOperation().walk([&](linalg::GenericOp op) {
      if (isPowerOfShares(op))
        powers.push_back(op);
    });
    llvm::for_each(powers, dropSmall);
  }
};

} // namespace
} // namespace onnxc
