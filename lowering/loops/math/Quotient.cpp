// Division by a number as multiplication by its reciprocal: "Division by
// Invariant Integers using Multiplication" (Granlund and Montgomery, 1994).
#include "lowering/loops/math/Quotient.h"
#include "lowering/loops/math/Real.h"
#include "llvm/Support/DivisionByConstantInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace onnxc {
namespace {

using elementary::Bits;

// What all lanes of a vector of i64 are. Powers of two are shifts.
std::optional<APInt> divisorOf(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type || !type.getElementType().isInteger(64))
    return std::nullopt;
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
    value = broadcast.getSource();
  APInt divisor;
  if (!matchPattern(value, m_ConstantInt(&divisor)) || divisor.isZero() ||
      divisor.abs().isPowerOf2())
    return std::nullopt;
  return divisor;
}

Bits upper(Bits x) { return logicalShiftRight(x, 32); }
Bits lower(Bits x) { return x & UINT32_MAX; }

// The upper half of the product of two that have no sign, from products of
// halves, which are instructions.
Bits upperProduct(Bits x, Bits y) {
  Bits cross = upper(x) * lower(y) + upper(lower(x) * lower(y));
  Bits carry = lower(x) * upper(y) + lower(cross);
  return upper(x) * upper(y) + upper(cross) + upper(carry);
}

Bits quotient(Bits x, const APInt &divisor) {
  auto info = llvm::SignedDivisionByConstantInfo::get(divisor);
  Bits reciprocal = x.constant(info.Magic.getSExtValue());
  // As if x had no sign, less what that is too much.
  Bits y = upperProduct(x, reciprocal) - ((x >> 63) & reciprocal);
  if (divisor.isNegative())
    y = y - x;
  if (info.ShiftAmount)
    y = y >> info.ShiftAmount;
  return y + logicalShiftRight(y, 63);
}

template <typename Op> struct MultiplyByReciprocal : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    std::optional<APInt> divisor = divisorOf(op.getRhs());
    if (!divisor)
      return rewriter.notifyMatchFailure(op, "not vectors of i64 by a number");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Bits x = {&b, op.getLhs()}, y = quotient(x, *divisor);
    if constexpr (std::is_same_v<Op, arith::RemSIOp>)
      y = x - y * divisor->getSExtValue();
    rewriter.replaceOp(op, y.value);
    return success();
  }
};

} // namespace

void addQuotientPatterns(RewritePatternSet &patterns) {
  patterns.add<MultiplyByReciprocal<arith::DivSIOp>,
               MultiplyByReciprocal<arith::RemSIOp>>(patterns.getContext());
}

} // namespace onnxc
