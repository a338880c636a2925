#include "lowering/loops/math/Real.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace onnxc::elementary {
namespace {

constexpr arith::FastMathFlags contract = arith::FastMathFlags::contract;

Type withElement(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.clone(element);
  return element;
}

Value splat(ImplicitLocOpBuilder &b, Type type, TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    element = DenseElementsAttr::get(vector, Attribute(element));
  return arith::ConstantOp::create(b, element);
}

template <typename OpT> Real arithmetic(Real x, Real y) {
  return {x.builder, OpT::create(*x.builder, x.value, y.value, contract)};
}

template <typename OpT, typename T> T combine(T x, T y) {
  return {x.builder, OpT::create(*x.builder, x.value, y.value)};
}

Mask compare(arith::CmpFPredicate predicate, Real x, Real y) {
  return {x.builder,
          arith::CmpFOp::create(*x.builder, predicate, x.value, y.value)};
}

template <typename T> T choose(Mask condition, T yes, T no) {
  return {yes.builder, arith::SelectOp::create(*yes.builder, condition.value,
                                               yes.value, no.value)};
}

} // namespace

unsigned Bits::width() const {
  return getElementTypeOrSelf(value).getIntOrFloatBitWidth();
}

Bits Bits::constant(int64_t number) const {
  Type type = value.getType();
  auto attr = builder->getIntegerAttr(getElementTypeOrSelf(type), number);
  return {builder, splat(*builder, type, attr)};
}

bool Real::isDouble() const { return getElementTypeOrSelf(value).isF64(); }

Real Real::constant(double number) const {
  Type type = value.getType();
  auto attr = builder->getFloatAttr(getElementTypeOrSelf(type), number);
  return {builder, splat(*builder, type, attr)};
}

Real Real::nan() const {
  return constant(std::numeric_limits<double>::quiet_NaN());
}

Real operator+(Real a, Real b) { return arithmetic<arith::AddFOp>(a, b); }
Real operator-(Real a, Real b) { return arithmetic<arith::SubFOp>(a, b); }
Real operator*(Real a, Real b) { return arithmetic<arith::MulFOp>(a, b); }
Real operator/(Real a, Real b) { return arithmetic<arith::DivFOp>(a, b); }
Real operator-(Real x) {
  return {x.builder, arith::NegFOp::create(*x.builder, x.value)};
}

Mask operator<(Real a, Real b) {
  return compare(arith::CmpFPredicate::OLT, a, b);
}
Mask operator>(Real a, Real b) {
  return compare(arith::CmpFPredicate::OGT, a, b);
}
Mask operator>=(Real a, Real b) {
  return compare(arith::CmpFPredicate::OGE, a, b);
}
Mask operator==(Real a, Real b) {
  return compare(arith::CmpFPredicate::OEQ, a, b);
}
Mask isNan(Real x) { return compare(arith::CmpFPredicate::UNO, x, x); }

Value anyOf(Mask mask) {
  if (!isa<VectorType>(mask.value.getType()))
    return mask.value;
  return vector::ReductionOp::create(*mask.builder, vector::CombiningKind::OR,
                                     mask.value);
}

Mask operator&(Mask a, Mask b) { return combine<arith::AndIOp>(a, b); }
Mask operator|(Mask a, Mask b) { return combine<arith::OrIOp>(a, b); }
Mask operator^(Mask a, Mask b) { return combine<arith::XOrIOp>(a, b); }
Mask operator!(Mask a) {
  ImplicitLocOpBuilder &b = *a.builder;
  Value all = splat(b, a.value.getType(), b.getBoolAttr(true));
  return a ^ Mask{&b, all};
}

Bits operator+(Bits a, Bits b) { return combine<arith::AddIOp>(a, b); }
Bits operator-(Bits a, Bits b) { return combine<arith::SubIOp>(a, b); }
Bits operator&(Bits a, Bits b) { return combine<arith::AndIOp>(a, b); }
Bits operator|(Bits a, Bits b) { return combine<arith::OrIOp>(a, b); }
Bits operator^(Bits a, Bits b) { return combine<arith::XOrIOp>(a, b); }
Bits operator*(Bits a, Bits b) { return combine<arith::MulIOp>(a, b); }
Bits operator<<(Bits a, int64_t places) {
  return combine<arith::ShLIOp>(a, a.constant(places));
}
Bits operator>>(Bits a, int64_t places) {
  return combine<arith::ShRSIOp>(a, a.constant(places));
}
Bits logicalShiftRight(Bits a, int64_t places) {
  return combine<arith::ShRUIOp>(a, a.constant(places));
}
Mask operator==(Bits a, Bits b) {
  return {a.builder, arith::CmpIOp::create(*a.builder, arith::CmpIPredicate::eq,
                                           a.value, b.value)};
}

Mask isBelow(Bits a, Bits b) {
  return {a.builder,
          arith::CmpIOp::create(*a.builder, arith::CmpIPredicate::ult, a.value,
                                b.value)};
}

Real select(Mask condition, Real yes, Real no) {
  return choose(condition, yes, no);
}
Bits select(Mask condition, Bits yes, Bits no) {
  return choose(condition, yes, no);
}

Real abs(Real x) {
  return {x.builder, math::AbsFOp::create(*x.builder, x.value)};
}
Real sqrt(Real x) {
  return {x.builder, math::SqrtOp::create(*x.builder, x.value)};
}
Real copySign(Real magnitude, Real sign) {
  return combine<math::CopySignOp>(magnitude, sign);
}

Bits bitsOf(Real x) {
  ImplicitLocOpBuilder &b = *x.builder;
  Type integer = b.getIntegerType(x.isDouble() ? 64 : 32);
  Type type = withElement(x.value.getType(), integer);
  return {&b, arith::BitcastOp::create(b, type, x.value)};
}

Real realOf(Bits bits, Real like) {
  ImplicitLocOpBuilder &b = *like.builder;
  return {&b, arith::BitcastOp::create(b, like.value.getType(), bits.value)};
}

// In this float's neighbourhood the bits count by one, from these on.
static Real counter(Real like) {
  return like.constant(like.pick(0x1.8p23, 0x1.8p52));
}
static int64_t counterBits(Real like) {
  return like.isDouble() ? llvm::bit_cast<int64_t>(0x1.8p52)
                         : llvm::bit_cast<int32_t>(0x1.8p23f);
}

Real toReal(Bits integer, Real like) {
  return realOf(integer + integer.constant(counterBits(like)), like) -
         counter(like);
}

Nearest nearest(Real x) {
  // The product that x may be is contracted: one rounding less.
  Real zero = counter(x);
  Real sum = x + zero;
  return {sum - zero, bitsOf(sum) - counterBits(x)};
}

std::optional<Real> realOfNearest(Bits n, Real like) {
  auto difference = n.value.getDefiningOp<arith::SubIOp>();
  auto bits = difference ? difference.getLhs().getDefiningOp<arith::BitcastOp>()
                         : arith::BitcastOp();
  APInt offset;
  if (!bits || bits.getIn().getType() != like.value.getType() ||
      !matchPattern(difference.getRhs(), m_ConstantInt(&offset)) ||
      offset != counterBits(like))
    return std::nullopt;
  return Real{like.builder, bits.getIn()} - counter(like);
}

Real powerOfTwo(Bits n, Real like) {
  return realOf((n + like.bias()) << like.mantissa(), like);
}

Real scale(Real x, Bits n) {
  if (x.isDouble())
    return scaleInSteps(x, n);
  ImplicitLocOpBuilder &b = *x.builder;
  auto call = LLVM::CallIntrinsicOp::create(b, x.value.getType(),
                                            b.getStringAttr(scaleIntrinsic),
                                            ValueRange{x.value, n.value});
  return {&b, call.getResult(0)};
}

// Of an exponent only the lowest bits stay, and of its half one more: what
// nearest() takes off above them need not be taken off.
static Bits withoutOffset(Bits n, Real like) {
  auto difference = n.value.getDefiningOp<arith::SubIOp>();
  APInt offset;
  if (!difference ||
      !matchPattern(difference.getRhs(), m_ConstantInt(&offset)) ||
      offset.countr_zero() <= n.width() - like.mantissa())
    return n;
  return {n.builder, difference.getLhs()};
}

Real scaleInSteps(Real x, Bits whole) {
  Bits n = withoutOffset(whole, x), half = n >> 1;
  return x * powerOfTwo(half, x) * powerOfTwo(n - half, x);
}

// sum * x^n + c0 + c1 x + ..., with n coefficients; each step waits for the one
// before.
static Real byHorner(Real sum, Real x, ArrayRef<double> coefficients) {
  for (double coefficient : llvm::reverse(coefficients))
    sum = sum * x + coefficient;
  return sum;
}

static Real byHorner(Real x, ArrayRef<double> coefficients) {
  return byHorner(x.constant(coefficients.back()), x, coefficients.drop_back());
}

// Long ones in two halves, of even powers and of odd ones, which a core
// computes side by side. What they leave of each other's rounding does not
// matter before the last two steps.
Real polynomial(Real x, ArrayRef<double> coefficients) {
  constexpr size_t isLong = 8, lastSteps = 2;
  if (coefficients.size() < isLong)
    return byHorner(x, coefficients);
  SmallVector<double> halves[2];
  for (auto [i, coefficient] :
       llvm::enumerate(coefficients.drop_front(lastSteps)))
    halves[i % 2].push_back(coefficient);
  Real square = x * x;
  Real sum = byHorner(square, halves[1]) * x + byHorner(square, halves[0]);
  return byHorner(sum, x, coefficients.take_front(lastSteps));
}

Real polynomialInPairs(Real x, ArrayRef<double> coefficients) {
  SmallVector<Real> terms = llvm::map_to_vector(
      coefficients, [&](double number) { return x.constant(number); });
  for (; terms.size() > 1; x = x * x) {
    SmallVector<Real> pairs;
    for (size_t i = 0; i < terms.size(); i += 2)
      pairs.push_back(i + 1 < terms.size() ? terms[i + 1] * x + terms[i]
                                           : terms[i]);
    terms = pairs;
  }
  return terms[0];
}

} // namespace onnxc::elementary
