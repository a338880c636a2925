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
#include "lowering/loops/LaneBody.h"
#include "lowering/loops/math/Functions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <cmath>

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_DROPSMALLFACTORS
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

// What the body sees an element of as `element`; null if nothing.
OpOperand *operandOf(linalg::GenericOp op, Value element) {
  auto argument = dyn_cast<BlockArgument>(element);
  bool isOwn = argument && argument.getOwner() == op.getBody();
  return isOwn ? op.getMatchingOpOperand(argument) : nullptr;
}

Value tensorOf(linalg::GenericOp op, Value element) {
  OpOperand *operand = operandOf(op, element);
  return operand ? operand->get() : Value();
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

// The reduction of `tensor` that `value` is, in some shape; null if it is none.
template <typename OpT>
linalg::GenericOp reductionOf(Value value, Value tensor) {
  auto op = originOf(value).getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return nullptr;
  std::optional<Combiner> combiner = combinerOf(op, 0);
  bool isFound = combiner && isa<OpT>(combiner->op) &&
                 tensorOf(op, combiner->folded) == tensor;
  return isFound ? op : nullptr;
}

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

// Whether `op` sums products of elements of `value`, and reads it for nothing
// else.
bool isFactorOf(Operation *op, Value value) {
  auto sum = dyn_cast<linalg::GenericOp>(op);
  if (!sum || sum.getNumDpsInits() != 1 || sum.getDpsInits()[0] == value)
    return false;
  std::optional<Combiner> combiner = combinerOf(sum, 0);
  auto product = combiner && isa<arith::AddFOp>(combiner->op)
                     ? combiner->folded.getDefiningOp<arith::MulFOp>()
                     : arith::MulFOp();
  return product && llvm::all_of(sum.getDpsInputOperands(), [&](OpOperand *x) {
           return x->get() != value ||
                  llvm::all_of(
                      sum.getMatchingBlockArgument(x).getUsers(),
                      [&](Operation *user) { return user == product; });
         });
}

// Whether only products read `value`, however they are laid out.
bool isOnlyMultiplied(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           return isMovement(user, value) ? isOnlyMultiplied(user->getResult(0))
                                          : isFactorOf(user, value);
         });
}

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

// Whether all of `value` are known numbers beside which subnormal ones are
// nothing.
bool isLargeConstant(Value value) {
  auto numbers = constantFloats(originOf(value));
  return numbers && llvm::all_of(*numbers, [](double number) {
           return std::abs(number) > 1e-30;
         });
}

// Whether `value` may be so large that its product with a subnormal number is
// something: what is computed element by element with another exponential, a
// quotient or a power, and constants.
bool mayBeHuge(Value value) {
  if (auto numbers = constantFloats(originOf(value)))
    return llvm::any_of(*numbers, [](double number) {
      return !(std::abs(number) < 1e6); // NaN too
    });
  Operation *op = originOf(value).getDefiningOp();
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!op || isa<linalg::FillOp, tensor::EmptyOp>(op) ||
      (generic && generic.getNumReductionLoops()))
    return false;
  if (!generic)
    return llvm::any_of(op->getOperands(), [](Value operand) {
      return isa<RankedTensorType>(operand.getType()) && mayBeHuge(operand);
    });
  bool grows =
      llvm::any_of(generic.getBody()->without_terminator(), [](Operation &in) {
        return isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::PowFOp,
                   arith::DivFOp, math::RsqrtOp, math::TanOp, math::SinhOp,
                   math::CoshOp>(in);
      });
  return grows || llvm::any_of(generic.getInputs(), mayBeHuge);
}

// Whether `op` adds a large constant to what it makes of other operands.
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

// Whether what `op` makes of 0 is hardly another than of a subnormal number:
// not the quotient of two, nor a logarithm.
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

// Whether all that comes of `value`, to the end or up to where something is
// added that is known, hides how small it is.
bool Readers::hide(Value value) {
  if (!hidden.insert(value).second)
    return true;
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
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
  return !value.use_empty() &&
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
      if (powerOf(op) && Readers().areSums(op.getResult(0)))
        dropSmall(op);
    });
    getOperation().walk([](arith::ConstantOp op) { dropSmall(op); });
  }
};

} // namespace
} // namespace onnxc
