// The shares that softmax gives to the rows of another matrix are e^(x - max)
// by their sum. A mask of -100 leaves 4e-44 of one: nothing in f32 beside the
// share of the maximum, but a subnormal number, and Intel's cores take some 150
// cycles for each multiplication with one: 27 of Swin's 95 ms. Weights that
// training has let die are such numbers as well, and the tails of bells: maps
// of key points, e^-d^2, took a network 20 ms that takes 3 without them.
#include "dialects/onnx/Constants.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/Passes.h"
#include "lowering/loops/Extreme.h"
#include "lowering/loops/math/Functions.h"
#include "lowering/tensor/SmallPowers.h"
#include "lowering/tensor/TensorReads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <cmath>

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_DROPSMALLFACTORS
#include "lowering/Passes.h.inc"

namespace {

// The indices into `from`, which `op` moves or computes element by element, of
// the element that it puts at `indices`; nothing where dimensions are divided
// or joined that are longer than one.
std::optional<SmallVector<AffineExpr>>
indicesBehind(Operation *op, OpOperand &from, ArrayRef<AffineExpr> at) {
  MLIRContext *context = op->getContext();
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    AffineMap result = generic.getIndexingMapsArray().back();
    if (!result.isPermutation())
      return std::nullopt;
    auto position = AffineMap::get(result.getNumDims(), 0, at, context);
    return llvm::to_vector(generic.getMatchingIndexingMap(&from)
                               .compose(inversePermutation(result))
                               .compose(position)
                               .getResults());
  }
  bool expands = isa<tensor::ExpandShapeOp>(op);
  if (!expands && !isa<tensor::CollapseShapeOp>(op))
    return std::nullopt;
  auto groups =
      expands ? cast<tensor::ExpandShapeOp>(op).getReassociationIndices()
              : cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
  auto longer = cast<ShapedType>(expands ? op->getResult(0).getType()
                                         : op->getOperand(0).getType());
  AffineExpr zero = getAffineConstantExpr(0, context);
  SmallVector<AffineExpr> behind(expands ? groups.size() : longer.getRank(),
                                 zero);
  for (auto [joined, group] : llvm::enumerate(groups)) {
    auto isLong = [&](int64_t dim) { return longer.getDimSize(dim) != 1; };
    if (llvm::count_if(group, isLong) > 1)
      return std::nullopt;
    auto dim = llvm::find_if(group, isLong);
    if (dim != group.end())
      behind[expands ? joined : *dim] = at[expands ? *dim : joined];
  }
  return behind;
}

// What the reduction of a row is read through: movements, and functions whose
// last operand it is.
OpOperand *readOf(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  Operation *function = onlyOp<arith::DivFOp, math::LogOp>(generic);
  return function ? operandOf(generic, function->getOperands().back())
                  : &op->getOpOperand(0);
}

// Whether element i of `value`, at indices of `op`, comes from the reduction of
// the row that element i of the result is in: both have the shape of what is
// reduced.
bool isOfItsRow(linalg::GenericOp op, OpOperand &value,
                linalg::GenericOp reduction) {
  auto at = llvm::to_vector(op.getMatchingIndexingMap(&value).getResults());
  Operation *moved = value.get().getDefiningOp();
  while (moved != reduction) {
    OpOperand *from = readOf(moved);
    auto behind = from ? indicesBehind(moved, *from, at) : std::nullopt;
    if (!behind)
      return false;
    at = *behind;
    moved = from->get().getDefiningOp();
  }
  SmallVector<AffineMap> maps = reduction.getIndexingMapsArray();
  SmallVector<int64_t> extents = reduction.getStaticLoopRanges();
  auto isSame = [&](auto pair) {
    auto [index, row] = pair;
    return index == row || extents[cast<AffineDimExpr>(row).getPosition()] == 1;
  };
  return maps.front().isIdentity() &&
         llvm::all_of(llvm::zip_equal(at, maps.back().getResults()), isSame);
}

// Whether `value`, which `op` reads, is made of the sums of rows of `powers`
// alone, for each element that of its row.
bool isOfSum(linalg::GenericOp op, OpOperand &value, Value powers) {
  Value sums = value.get();
  Operation *function = originOf(sums).getDefiningOp();
  if (onlyOp<arith::DivFOp, math::LogOp>(
          dyn_cast_or_null<linalg::GenericOp>(function))) {
    OpOperand *from = readOf(function);
    sums = from ? from->get() : Value();
  }
  linalg::GenericOp sum =
      sums ? reductionOf<arith::AddFOp>(sums, powers) : nullptr;
  return sum && isOfItsRow(op, value, sum);
}

// Whether the result has the shape of the operand, element by element.
bool isInPlace(linalg::GenericOp op, OpOperand &operand) {
  return op.getMatchingIndexingMap(&operand).isIdentity() &&
         op.getIndexingMapsArray().back().isIdentity();
}

// Whether only products read `value`, however they are laid out.
bool isOnlyMultiplied(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           return isMovement(user, value) ? isOnlyMultiplied(user->getResult(0))
                                          : isFactorOf(user, value);
         });
}

// Whether `op` is what an OpT makes of an element of `value` and of the sum of
// the element's row of `powers`.
template <typename... OpTs>
bool joinsSum(linalg::GenericOp op, Value value, Value powers) {
  Operation *join = onlyOp<OpTs...>(op);
  if (!join)
    return false;
  OpOperand *first = operandOf(op, join->getOperand(0)),
            *second = operandOf(op, join->getOperand(1));
  if (isa<arith::MulFOp>(join) && second && second->get() == value)
    std::swap(first, second);
  return first && second && first->get() == value && isInPlace(op, *first) &&
         isOfSum(op, *second, powers);
}

// Whether the powers are summed along the rows of `maximum`, and become shares.
bool becomesShares(Value powers, linalg::GenericOp maximum) {
  return llvm::all_of(powers.getUsers(), [&](Operation *user) {
    auto op = dyn_cast<linalg::GenericOp>(user);
    if (op && op->getNumResults() == 1 &&
        reductionOf<arith::AddFOp>(op.getResult(0), powers))
      return op.getIndexingMapsArray() == maximum.getIndexingMapsArray();
    return joinsSum<arith::MulFOp, arith::DivFOp>(op, powers, powers);
  });
}

// e^(x - max(x)) of the rows of x that makes shares, or their logarithms.
struct Shares {
  linalg::GenericOp powers, difference, maximum;
};

// The exponential that `op` is of f32; null if it is something else.
math::ExpOp powerOf(linalg::GenericOp op) {
  auto power = dyn_cast_or_null<math::ExpOp>(onlyOp<math::ExpOp>(op));
  return power && power.getType().isF32() ? power : math::ExpOp();
}

std::optional<Shares> sharesOf(linalg::GenericOp op) {
  math::ExpOp power = powerOf(op);
  if (!power)
    return std::nullopt;
  OpOperand *exponents = operandOf(op, power.getOperand());
  auto from = exponents ? exponents->get().getDefiningOp<linalg::GenericOp>()
                        : linalg::GenericOp();
  Operation *difference = onlyOp<arith::SubFOp>(from);
  if (!difference)
    return std::nullopt;
  OpOperand *x = operandOf(from, difference->getOperand(0)),
            *most = operandOf(from, difference->getOperand(1));
  linalg::GenericOp maximum =
      x && most ? reductionOf<arith::MaximumFOp>(most->get(), x->get())
                : nullptr;
  bool areShares = maximum && isInPlace(op, *exponents) &&
                   isInPlace(from, *x) && isOfItsRow(from, *most, maximum) &&
                   becomesShares(op.getResult(0), maximum);
  return areShares ? std::optional(Shares{op, from, maximum}) : std::nullopt;
}

bool isOnlyReadBy(Value value, Operation *reader) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user == reader || (isMovement(user, value) &&
                              isOnlyReadBy(user->getResult(0), reader));
  });
}

// Whether a NaN in a row is in all that is made of the row even where the
// maximum leaves it out: all joins the sum of the powers.
bool findsNanElsewhere(Shares shares) {
  Value x = shares.difference.getResult(0), powers = shares.powers.getResult(0);
  auto joins = [&](Operation *user) {
    return user == shares.powers ||
           joinsSum<arith::SubFOp>(dyn_cast<linalg::GenericOp>(user), x,
                                   powers);
  };
  return isOnlyReadBy(shares.maximum.getResult(0), shares.difference) &&
         llvm::all_of(x.getUsers(), joins);
}

// Makes zero of powers that would be subnormal.
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

// Makes zero of subnormal weights.
void dropSmall(arith::ConstantOp op) {
  auto value = dyn_cast<ElementsAttr>(op.getValue());
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!value || !type || !type.getElementType().isF32() || value.isSplat() ||
      !isOnlyMultiplied(op))
    return;
  SmallVector<char> storage;
  ArrayRef<char> bytes = bytesOf(value, storage);
  auto isSubnormal = [](const char *at) {
    float weight;
    std::memcpy(&weight, at, sizeof(weight));
    return std::fpclassify(weight) == FP_SUBNORMAL;
  };
  // Few models have any; the others are not copied.
  std::vector<char> weights;
  for (size_t at = 0; at < bytes.size(); at += sizeof(float))
    if (isSubnormal(bytes.data() + at)) {
      if (weights.empty())
        weights.assign(bytes.begin(), bytes.end());
      std::memset(weights.data() + at, 0, sizeof(float));
    }
  if (!weights.empty())
    op.setValueAttr(constantFrom(type, weights));
}

struct DropSmallFactors : impl::DropSmallFactorsBase<DropSmallFactors> {
  void runOnOperation() override {
    if (isStrict(getOperation()))
      return;
    SmallVector<Shares> found;
    getOperation().walk([&](linalg::GenericOp op) {
      if (std::optional<Shares> shares = sharesOf(op))
        found.push_back(*shares);
    });
    for (Shares shares : found) {
      if (findsNanElsewhere(shares))
        combinerOf(shares.maximum, 0)
            ->op->setAttr(leavesNanOutAttrName, UnitAttr::get(&getContext()));
      math::ExpOp power = powerOf(shares.powers);
      power->setAttr(elementary::atMostZeroAttrName,
                     UnitAttr::get(&getContext()));
      dropSmall(shares.powers);
    }
    getOperation().walk([](linalg::GenericOp op) {
      if (powerOf(op) && isOnlySummed(op.getResult(0)))
        dropSmall(op);
    });
    getOperation().walk([](arith::ConstantOp op) { dropSmall(op); });
  }
};

} // namespace
} // namespace onnxc
