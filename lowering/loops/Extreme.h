// The greatest or least element, which is NaN if any is. A machine's maximum
// takes one instruction where NaN need not win, so a second accumulator keeps
// any NaN that comes by.
#pragma once
#include "lowering/loops/LaneBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace onnxc {

// Of an arith.maximumf that folds rows: who reads the result finds a NaN of the
// row without it, so that it may be the greatest of the numbers.
inline constexpr llvm::StringLiteral leavesNanOutAttrName =
    "onnxc.leaves_nan_out";

struct Extreme {
  mlir::arith::CmpFPredicate wins;
  mlir::ImplicitLocOpBuilder &b;
  bool leavesNanOut;

  static std::optional<Extreme> of(mlir::ImplicitLocOpBuilder &b,
                                   const Combiner &combiner) {
    bool leavesNanOut = combiner.op->hasAttr(leavesNanOutAttrName);
    if (mlir::isa<mlir::arith::MaximumFOp>(combiner.op))
      return Extreme{mlir::arith::CmpFPredicate::OGT, b, leavesNanOut};
    if (mlir::isa<mlir::arith::MinimumFOp>(combiner.op))
      return Extreme{mlir::arith::CmpFPredicate::OLT, b, leavesNanOut};
    return std::nullopt;
  }
  mlir::Value fold(mlir::Value extreme, mlir::Value value) const {
    mlir::Value isNew = mlir::arith::CmpFOp::create(b, wins, value, extreme);
    return mlir::arith::SelectOp::create(b, isNew, value, extreme);
  }
  mlir::Value isNan(mlir::Value value) const {
    return mlir::arith::CmpFOp::create(b, mlir::arith::CmpFPredicate::UNO,
                                       value, value);
  }
  mlir::Value keepNan(mlir::Value kept, mlir::Value value) const {
    if (leavesNanOut)
      return kept;
    return mlir::arith::SelectOp::create(b, isNan(value), value, kept);
  }
  // Of all lanes.
  mlir::Value orNan(mlir::Value extreme, mlir::Value kept) const {
    if (leavesNanOut)
      return extreme;
    mlir::Value any = mlir::vector::ReductionOp::create(
        b, mlir::vector::CombiningKind::OR, isNan(kept));
    auto type = mlir::cast<mlir::FloatType>(extreme.getType());
    mlir::Value nan = mlir::arith::ConstantOp::create(
        b,
        b.getFloatAttr(type, llvm::APFloat::getQNaN(type.getFloatSemantics())));
    return mlir::arith::SelectOp::create(b, any, nan, extreme);
  }
};

// A greatest or least element as LLVM's own operation, which machines have one
// instruction for, and one or two more where NaN need not win in that; any
// other value as it is. Of zeros of both signs it may be either. What was
// `before` comes second: x86 asks of the first whether it is NaN, which then
// waits for no other step.
mlir::Value asExtreme(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                      mlir::Value before);

} // namespace onnxc
