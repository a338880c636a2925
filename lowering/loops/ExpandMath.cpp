// Every function of the math dialect that a C library would be asked for
// becomes arithmetic, on scalars and vectors alike: an object has no undefined
// symbol, and the error bound is the same on every machine. Narrow floats are
// computed in f32. What remains (sqrt, abs, copysign, and rounding where the
// machine has vectors) is an instruction.
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Passes.h"
#include "lowering/loops/math/Double.h"
#include "lowering/loops/math/Functions.h"
#include "lowering/loops/math/Quotient.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/TargetParser/Triple.h"

#include <cmath>

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_EXPANDMATH
#include "lowering/Passes.h.inc"

namespace {

using elementary::Bits;
using elementary::Mask;
using elementary::Real;

Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

// Replaces the operation by what `emit` builds of its operands in f32 or f64.
template <typename OpT, auto emit> struct Expand : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType(), element = getElementTypeOrSelf(type);
    if (!isa<FloatType>(element) || element.getIntOrFloatBitWidth() > 64)
      return rewriter.notifyMatchFailure(op, "not on floats");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    bool isNarrow = element.getIntOrFloatBitWidth() < 32;
    Type wide = withElement(type, b.getF32Type());
    SmallVector<Real> operands;
    for (Value operand : op->getOperands()) {
      if (isNarrow)
        operand = arith::ExtFOp::create(b, wide, operand);
      operands.push_back({&b, operand});
    }
    Value result = call(operands).value;
    if (isNarrow)
      result = arith::TruncFOp::create(b, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }

  static Real call(ArrayRef<Real> operands) {
    if constexpr (std::is_invocable_v<decltype(emit), Real>)
      return emit(operands[0]);
    else if constexpr (std::is_invocable_v<decltype(emit), Real, Real>)
      return emit(operands[0], operands[1]);
    else
      return emit(operands[0], operands[1], operands[2]);
  }
};

std::optional<double> constantOf(Real x) {
  APFloat number(0.0);
  if (!matchPattern(x.value, m_ConstantFloat(&number)))
    return std::nullopt;
  bool loses;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  return number.convertToDouble();
}

// x^n for n > 0 with few products; each rounds once.
Real product(Real x, int n) {
  if (n == 1)
    return x;
  Real half = product(x, n / 2);
  return n % 2 ? half * half * x : half * half;
}

// The exponents that models have are a product or a root, or both: from 1/4 in
// steps of a quarter to 1 and of a half to 4, these are within two units in the
// last place. Negative ones, down to -3, begin with the inverse: within four.
Real powOf(Real x, Real y) {
  std::optional<double> exponent = constantOf(y);
  double size = exponent ? std::fabs(*exponent) : 0.0;
  bool falls = exponent < 0.0;
  double steps = size < 1.0 ? 4 : 2;
  if (size < 0.25 || size > (falls ? 3.0 : 4.0) ||
      size * steps != std::floor(size * steps))
    return elementary::pow(x, y);
  int whole = int(size);
  if (whole == size)
    return product(falls ? 1.0 / x : x, whole);
  // Of -0 the root is 0 here, and so is the power; of -infinity infinity.
  Real base = falls && whole ? 1.0 / (x + 0.0) : x;
  Real root = elementary::sqrt(base) + 0.0;
  if (size == 0.25)
    root = elementary::sqrt(root);
  if (size == 0.75) // one rounding less than root * sqrt(root)
    root = elementary::select((root == 0.0) | (root == root.infinity()), root,
                              x / elementary::sqrt(root));
  Real power = whole   ? product(elementary::abs(base), whole) * root
               : falls ? 1.0 / root
                       : root;
  return elementary::select(x == -x.infinity(), falls ? 0.0 : x.infinity(),
                            power);
}

bool isNumber(Value x, double number) {
  APFloat found(0.0);
  return matchPattern(x, m_ConstantFloat(&found)) &&
         found.isExactlyValue(number);
}

// v of the sum of f(v) and another operand, on either side.
template <typename OpT> OpT termOf(arith::AddFOp sum, Value &other) {
  for (int side : {0, 1})
    if (auto term = sum.getOperand(side).getDefiningOp<OpT>()) {
      other = sum.getOperand(1 - side);
      return term;
    }
  return {};
}

// v of e^-|v|.
Value ofPowerToOne(Value x) {
  auto power = x.getDefiningOp<math::ExpOp>();
  auto negated =
      power ? power.getOperand().getDefiningOp<arith::NegFOp>() : nullptr;
  auto size =
      negated ? negated.getOperand().getDefiningOp<math::AbsFOp>() : nullptr;
  return size ? size.getOperand() : Value();
}

// v of log(1 + e^v): as exporters write Softplus, and as its record does.
Value ofSoftplus(Value x) {
  Value other;
  if (auto log = x.getDefiningOp<math::LogOp>()) {
    auto sum = log.getOperand().getDefiningOp<arith::AddFOp>();
    auto power = sum ? termOf<math::ExpOp>(sum, other) : nullptr;
    return power && isNumber(other, 1.0) ? power.getOperand() : Value();
  }
  auto sum = x.getDefiningOp<arith::AddFOp>();
  auto log = sum ? termOf<math::Log1pOp>(sum, other) : nullptr;
  auto positive = other ? other.getDefiningOp<arith::MaximumFOp>() : nullptr;
  if (!log || !positive || !isNumber(positive.getRhs(), 0.0) ||
      ofPowerToOne(log.getOperand()) != positive.getLhs())
    return {};
  return positive.getLhs();
}

// Replaces the operation by what `emit` builds of the value that `find` sees in
// its operand.
template <typename OpT, auto find, auto emit>
struct ExpandOf : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    Value x = find(op.getOperand());
    if (!x || getElementTypeOrSelf(x).getIntOrFloatBitWidth() < 32)
      return rewriter.notifyMatchFailure(op, "not of the form looked for");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, emit(Real{&b, x}).value);
    return success();
  }
};

Value ofNegation(Value x) {
  auto negated = x.getDefiningOp<arith::NegFOp>();
  return negated ? negated.getOperand() : Value();
}

Value powerToOne(Value x) { return ofPowerToOne(x) ? x : Value(); }

// Mish is x * tanh(softplus(x)).
using ExpandTanhOfSoftplus =
    ExpandOf<math::TanhOp, ofSoftplus, elementary::tanhOfSoftplus>;
using ExpandLogOfSoftplus =
    ExpandOf<math::Log1pOp, powerToOne, elementary::log1pToOne>;
using ExpandExpOfNegative =
    ExpandOf<math::ExpOp, ofNegation, elementary::expOfNegative>;
using ExpandExpOfNegativeOrNothing =
    ExpandOf<math::ExpOp, ofNegation, elementary::expOfNegativeOrNothing>;

// As exporters write Sigmoid, and as its record does.
template <auto emit> struct ExpandOnePlusExp : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::AddFOp op,
                                PatternRewriter &rewriter) const override {
    Value other;
    auto power = termOf<math::ExpOp>(op, other);
    Value x =
        power && power->hasOneUse() ? ofNegation(power.getOperand()) : Value();
    if (!x || !isNumber(other, 1.0) || !getElementTypeOrSelf(x).isF32())
      return rewriter.notifyMatchFailure(op, "not of the form looked for");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, emit(Real{&b, x}).value);
    return success();
  }
};

// Beside a number, as in ELU, nothing is left to see of subnormal powers.
struct ChooseZeroBesideNumber : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    auto isBesideNumber = [&](Operation *user) {
      constexpr double least = 0x1p-100;
      if (!isa<arith::AddFOp, arith::SubFOp>(user))
        return false;
      APFloat number(0.0f);
      return llvm::any_of(user->getOperands(), [&](Value operand) {
        return matchPattern(operand, m_ConstantFloat(&number)) &&
               std::fabs(number.convertToFloat()) >= least;
      });
    };
    if (!getElementTypeOrSelf(op.getType()).isF32() ||
        !llvm::all_of(op->getUsers(), isBesideNumber))
      return rewriter.notifyMatchFailure(op, "seen by itself");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Real x = {&b, op.getOperand()};
    auto power = math::ExpOp::create(b, x.value);
    rewriter.replaceOp(op, select(x < x.constant(elementary::leastExponent),
                                  x.constant(0), {&b, power})
                               .value);
    return success();
  }
};

// A choice between 0 and e^x that leaves no subnormal number.
template <auto emit>
struct ExpandExpOrZero : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op,
                                PatternRewriter &rewriter) const override {
    auto power = op.getFalseValue().getDefiningOp<math::ExpOp>();
    auto isLess = op.getCondition().getDefiningOp<arith::CmpFOp>();
    if (!power || !isLess || !getElementTypeOrSelf(op.getType()).isF32() ||
        !isNumber(op.getTrueValue(), 0.0) ||
        isLess.getPredicate() != arith::CmpFPredicate::OLT ||
        isLess.getLhs() != power.getOperand() ||
        !isNumber(isLess.getRhs(), elementary::leastExponent))
      return rewriter.notifyMatchFailure(op, "not of the form looked for");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Real x = {&b, power.getOperand()};
    if (!power->hasAttr(elementary::atMostZeroAttrName))
      x = atMost(x, elementary::exponentOfInfinity);
    rewriter.replaceOp(op, emit(x).value);
    return success();
  }
};

// Integer powers by squaring. A negative exponent leaves 1 / x: 0, 1 or -1.
struct ExpandIntegerPower : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::IPowIOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Bits x = {&b, op.getLhs()}, y = {&b, op.getRhs()};
    Mask isNegative = compare(y, arith::CmpIPredicate::slt, y.constant(0));
    Bits one = x.constant(1), zero = x.constant(0);
    Bits odd = y & 1;
    Mask isUnit = (x == one) | (x == -1);
    Bits inverse = select(isUnit, select(odd == 1, x, one), zero);
    // For the others the loop need not run.
    Bits power = select(isNegative, zero, y);
    rewriter.replaceOp(op,
                       select(isNegative, inverse, bysquaring(x, power)).value);
    return success();
  }

  static Mask compare(Bits a, arith::CmpIPredicate predicate, Bits b) {
    return {a.builder,
            arith::CmpIOp::create(*a.builder, predicate, a.value, b.value)};
  }

  static Bits bysquaring(Bits x, Bits power) {
    ImplicitLocOpBuilder &b = *x.builder;
    Value start[] = {x.constant(1).value, x.value, power.value};
    auto more = [&](OpBuilder &, Location, ValueRange state) {
      Bits left = {&b, state[2]};
      Value any = (!(left == 0)).value;
      if (isa<VectorType>(any.getType()))
        any = vector::ReductionOp::create(b, vector::CombiningKind::OR, any);
      scf::ConditionOp::create(b, any, state);
    };
    auto step = [&](OpBuilder &, Location, ValueRange state) {
      Bits result = {&b, state[0]}, base = {&b, state[1]};
      Bits left = {&b, state[2]};
      Value next[] = {
          elementary::select((left & 1) == 1, result * base, result).value,
          (base * base).value, elementary::logicalShiftRight(left, 1).value};
      scf::YieldOp::create(b, next);
    };
    TypeRange types = ValueRange(start).getTypes();
    auto loop = scf::WhileOp::create(b, types, start, more, step);
    return {&b, loop.getResult(0)};
  }
};

struct ExpandScale : OpRewritePattern<LLVM::CallIntrinsicOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LLVM::CallIntrinsicOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getIntrin() != elementary::scaleIntrinsic)
      return rewriter.notifyMatchFailure(op, "another intrinsic");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Real scaled =
        elementary::scaleInSteps({&b, op.getArgs()[0]}, {&b, op.getArgs()[1]});
    rewriter.replaceOp(op, scaled.value);
    return success();
  }
};

// x86 scales by a whole number that is a float, which is where most come from.
struct ScaleByReal : OpRewritePattern<LLVM::CallIntrinsicOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LLVM::CallIntrinsicOp op,
                                PatternRewriter &rewriter) const override {
    auto type = op.getIntrin() == elementary::scaleIntrinsic
                    ? dyn_cast<VectorType>(op.getResult(0).getType())
                    : VectorType();
    int64_t lanes = type ? type.getNumElements() : 0;
    if (lanes != 4 && lanes != 8 && lanes != 16)
      return rewriter.notifyMatchFailure(op, "no vector of a machine");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Real x = {&b, op.getArgs()[0]};
    std::optional<Real> n = elementary::realOfNearest({&b, op.getArgs()[1]}, x);
    if (!n)
      return rewriter.notifyMatchFailure(op, "an integer of elsewhere");
    auto number = [&](unsigned bits, int64_t value) {
      return arith::ConstantOp::create(
          b, b.getIntegerAttr(b.getIntegerType(bits), value));
    };
    // All lanes; with 512 bits, and the current rounding.
    SmallVector<Value> operands = {x.value, n->value, x.value,
                                   number(std::max<int64_t>(lanes, 8), -1)};
    Operation *replaced = op;
    if (arith::SelectOp choice = choiceOfZero(op); choice && lanes >= 8) {
      b.setInsertionPoint(choice);
      operands[2] = choice.getTrueValue();
      operands[3] = LLVM::BitcastOp::create(
          b, b.getIntegerType(lanes),
          (!elementary::Mask{&b, choice.getCondition()}).value);
      replaced = choice;
    }
    if (lanes == 16)
      operands.push_back(number(32, 4));
    std::string name =
        "llvm.x86.avx512.mask.scalef.ps." + std::to_string(32 * lanes);
    auto scaled =
        LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), operands);
    rewriter.replaceOp(replaced, scaled);
    if (replaced != op)
      rewriter.eraseOp(op);
    return success();
  }

  // Of zero or what is scaled: lanes of zero are not to be scaled, for LLVM may
  // choose later, and a number too small to be one takes some 150 cycles.
  static arith::SelectOp choiceOfZero(LLVM::CallIntrinsicOp op) {
    auto choice = op->hasOneUse() ? dyn_cast<arith::SelectOp>(*op->user_begin())
                                  : arith::SelectOp();
    bool isOfZero = choice && choice.getFalseValue() == op.getResult(0) &&
                    isNumber(choice.getTrueValue(), 0.0) &&
                    isa<VectorType>(choice.getCondition().getType());
    return isOfZero ? choice : arith::SelectOp();
  }
};

// Compositions go before their parts.
template <typename Pattern> LogicalResult expandAll(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  patterns.add<Pattern>(module.getContext());
  return applyPatternsGreedily(module, std::move(patterns));
}

void addFunctions(RewritePatternSet &patterns) {
  namespace el = elementary;
  patterns
      .add<Expand<math::Exp2Op, el::exp2>, Expand<math::ExpM1Op, el::expm1>,
           Expand<math::LogOp, el::log>, Expand<math::Log2Op, el::log2>,
           Expand<math::Log10Op, el::log10>, Expand<math::Log1pOp, el::log1p>,
           Expand<math::SinhOp, el::sinh>, Expand<math::CoshOp, el::cosh>,
           Expand<math::AsinhOp, el::asinh>, Expand<math::AcoshOp, el::acosh>,
           Expand<math::AtanhOp, el::atanh>, Expand<math::SinOp, el::sin>,
           Expand<math::CosOp, el::cos>, Expand<math::TanOp, el::tan>,
           Expand<math::AsinOp, el::asin>, Expand<math::AcosOp, el::acos>,
           Expand<math::AtanOp, el::atan>, Expand<math::Atan2Op, el::atan2>,
           Expand<math::ErfOp, el::erf>, Expand<math::PowFOp, powOf>,
           Expand<math::CbrtOp, el::cbrt>, Expand<math::RsqrtOp, el::rsqrt>,
           Expand<arith::RemFOp, el::remainder>, ExpandIntegerPower>(
          patterns.getContext());
}

void addRounding(RewritePatternSet &patterns) {
  namespace el = elementary;
  patterns.add<Expand<math::TruncOp, el::trunc>,
               Expand<math::FloorOp, el::floor>, Expand<math::CeilOp, el::ceil>,
               Expand<math::RoundEvenOp, el::roundToEven>,
               Expand<math::RoundOp, el::roundAway>,
               Expand<arith::MaxNumFOp, el::greaterNumber>,
               Expand<arith::MinNumFOp, el::lesserNumber>>(
      patterns.getContext());
}

bool isX86(TargetAttr target) {
  return target && llvm::Triple(target.getTriple()).isX86();
}

struct ExpandMath : impl::ExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    bool hasScale = target && target.getHasScale();
    if (failed(expandAll<ExpandTanhOfSoftplus>(getOperation())) ||
        failed(expandAll<ExpandLogOfSoftplus>(getOperation())) ||
        failed(expandOnePlusExp(hasScale)) ||
        failed(expandAll<ChooseZeroBesideNumber>(getOperation())) ||
        failed(expandExpOfNegative(target)) ||
        failed(expandExpOrZero(hasScale)))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    addFunctions(patterns);
    if (!isX86(target))
      patterns.add<Expand<math::ExpOp, elementary::exp>>(&getContext());
    else if (hasScale)
      patterns.add<Expand<math::ExpOp, elementary::expOrNothing>>(
          &getContext());
    else
      patterns.add<Expand<math::ExpOp, elementary::expOrNothingByPower>>(
          &getContext());
    // Machines with vectors round in one instruction.
    if (target && target.getVectorBits() == 0)
      addRounding(patterns);
    // In narrower vectors one lane after another is as fast.
    if (target && target.getVectorBits() >= 256)
      addQuotientPatterns(patterns);
    if (!hasScale)
      patterns.add<ExpandScale>(&getContext());
    else
      patterns.add<ScaleByReal>(&getContext());
    if (target && target.getHasFma())
      patterns.add<Expand<math::TanhOp, elementary::tanh>>(&getContext());
    else
      patterns.add<Expand<math::TanhOp, elementary::tanhByPower>,
                   Expand<math::FmaOp, elementary::fma>>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }

  LogicalResult expandOnePlusExp(bool hasScale) {
    namespace el = elementary;
    if (hasScale)
      return expandAll<ExpandOnePlusExp<el::onePlusExpOfNegative>>(
          getOperation());
    return expandAll<ExpandOnePlusExp<el::onePlusExpOfNegativeByPower>>(
        getOperation());
  }

  // The others of x86 negate the operand.
  LogicalResult expandExpOfNegative(TargetAttr target) {
    if (!isX86(target))
      return expandAll<ExpandExpOfNegative>(getOperation());
    if (target.getHasScale())
      return expandAll<ExpandExpOfNegativeOrNothing>(getOperation());
    return success();
  }

  LogicalResult expandExpOrZero(bool hasScale) {
    if (hasScale)
      return expandAll<ExpandExpOrZero<elementary::expOrZero>>(getOperation());
    return expandAll<ExpandExpOrZero<elementary::expOrZeroByPower>>(
        getOperation());
  }
};

} // namespace
} // namespace onnxc
