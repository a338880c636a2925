#include "dialects/onnx/SizeArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace onnxc {

// Larger denominators are none of strides and scales.
constexpr int64_t largestUnder = 1 << 12;
// Doubles count up to it without gaps, and no size is as large.
constexpr double largestExact = 9007199254740992; // 2^53

namespace {

Fraction reduced(Index over, int64_t under) {
  if (under <= 0 || under > largestUnder)
    return {};
  int64_t common = over.number ? std::gcd(*over.number, under)
                   : over.name ? std::gcd(factorsOf(over).number, under)
                               : 1;
  return {over / common, under / common};
}

bool isKnownToBePositive(Index x) {
  return x.number ? *x.number >= 0 : isNamedSize(x);
}

// What constants alone come to, floats round as they do.
bool areNumbers(const Fraction &a, const Fraction &b) {
  return a.over.number && b.over.number;
}

int64_t oddPart(int64_t number) {
  return number >> llvm::countr_zero(uint64_t(number));
}

// What floats round stays apart from integers by more than they round, but a
// whole number must come of whole numbers: a third thrice may be less than 1.
// So odd factors of denominators never cancel.
bool areApart(int64_t a, int64_t b) { return std::gcd(oddPart(a), b) == 1; }

Fraction sum(const Fraction &a, const Fraction &b, bool isDifference) {
  if (areNumbers(a, b) || !areApart(a.under, oddPart(b.under)))
    return {};
  int64_t under = std::lcm(a.under, b.under);
  Index x = a.over * (under / a.under), y = b.over * (under / b.under);
  return reduced(isDifference ? x - y : x + y, under);
}

bool keepsUnder(const Fraction &a, const Fraction &factor) {
  return oddPart(a.under) == 1 ||
         (factor.over.number && areApart(a.under, *factor.over.number));
}

Fraction product(const Fraction &a, const Fraction &b) {
  return areNumbers(a, b) || !keepsUnder(a, b) || !keepsUnder(b, a)
             ? Fraction()
             : reduced(a.over * b.over, a.under * b.under);
}

Fraction quotient(const Fraction &a, const Fraction &b) {
  if (areNumbers(a, b) || !b.over.number || *b.over.number <= 0 ||
      *b.over.number > largestUnder)
    return {};
  return reduced(a.over * b.under, a.under * *b.over.number);
}

Fraction floorOf(const Fraction &a) {
  if (a.under == 1)
    return a;
  return isKnownToBePositive(a.over) ? Fraction{a.over / a.under} : Fraction();
}

Fraction ceilOf(const Fraction &a) {
  if (a.under == 1)
    return a;
  return isKnownToBePositive(a.over) ? Fraction{ceilDiv(a.over, a.under)}
                                     : Fraction();
}

class Interpreter {
public:
  llvm::DenseMap<Value, Fraction> values;

  void run(Operation &op) {
    if (op.getNumResults() == 1)
      values[op.getResult(0)] = evaluate(op);
  }

private:
  static Condition truth(Index x) { return x == 1; }
  static Index number(Condition x) { return select(x, 1, 0); }
  static Index constant(const llvm::APInt &number) {
    return number.getBitWidth() == 1 ? int64_t(number.getZExtValue())
                                     : number.getSExtValue();
  }

  Fraction evaluate(Operation &op) {
    llvm::APInt integer;
    if (matchPattern(&op, m_ConstantInt(&integer)))
      return {constant(integer)};
    llvm::APFloat real(0.0);
    if (matchPattern(&op, m_ConstantFloat(&real)))
      return fractionOf(toDouble(real));
    auto arg = [&](unsigned i) { return values[op.getOperand(i)]; };
    if (isa<arith::SelectOp>(op)) {
      Condition which = truth(arg(0).over);
      if (which.known)
        return *which.known ? arg(1) : arg(2);
      bool areWhole = arg(1).under == 1 && arg(2).under == 1;
      return {areWhole ? select(which, arg(1).over, arg(2).over) : Index()};
    }
    if (auto compared = dyn_cast<arith::CmpFOp>(op))
      return {number(compare(compared))};
    bool hasFloats =
        llvm::any_of(op.getOperandTypes(), llvm::IsaPred<FloatType>);
    return hasFloats ? ofFloats(op) : Fraction{ofIntegers(op)};
  }

  Fraction ofFloats(Operation &op) {
    Fraction a = values[op.getOperand(0)], b = op.getNumOperands() > 1
                                                   ? values[op.getOperand(1)]
                                                   : Fraction();
    return llvm::TypeSwitch<Operation *, Fraction>(&op)
        .Case([&](arith::AddFOp) { return sum(a, b, false); })
        .Case([&](arith::SubFOp) { return sum(a, b, true); })
        .Case([&](arith::MulFOp) { return product(a, b); })
        .Case([&](arith::DivFOp) { return quotient(a, b); })
        .Case([&](math::FloorOp) { return floorOf(a); })
        .Case([&](math::CeilOp) { return ceilOf(a); })
        .Case<math::TruncOp, arith::FPToSIOp>(
            [&](auto) { return Fraction{a.over / a.under}; })
        .Case([&](arith::ExtFOp) { return a; })
        .Case([&](arith::TruncFOp) {
          return Fraction{held(a.over, op), a.under};
        })
        .Default([](Operation *) { return Fraction(); });
  }

  // Conversions ask whether a number is one, and whether an integer can hold
  // it.
  Condition compare(arith::CmpFOp op) {
    using Predicate = arith::CmpFPredicate;
    Value a = op.getLhs(), b = op.getRhs();
    Predicate predicate = op.getPredicate();
    if (a == b && isSize(a))
      return predicate == Predicate::OEQ || predicate == Predicate::OGE ||
             predicate == Predicate::OLE || predicate == Predicate::UEQ ||
             predicate == Predicate::ORD;
    int order = isSize(a) ? -beyondSizes(b) : isSize(b) ? beyondSizes(a) : 0;
    if (order == 0)
      return {};
    switch (predicate) {
    case Predicate::OGT:
    case Predicate::OGE:
    case Predicate::UGT:
    case Predicate::UGE:
      return order > 0;
    case Predicate::OLT:
    case Predicate::OLE:
    case Predicate::ULT:
    case Predicate::ULE:
      return order < 0;
    default:
      return {};
    }
  }
  // 1 for a constant that no size is as large as, -1 for its negative.
  static int beyondSizes(Value value) {
    llvm::APFloat real(0.0);
    if (!matchPattern(value, m_ConstantFloat(&real)) ||
        !(std::abs(toDouble(real)) >= largestExact))
      return 0;
    return real.isNegative() ? -1 : 1;
  }
  bool isSize(Value value) {
    Index over = values[value].over;
    return over.number || over.name;
  }

  Condition compare(arith::CmpIOp op) {
    Index a = values[op.getLhs()].over, b = values[op.getRhs()].over;
    switch (op.getPredicate()) {
    case arith::CmpIPredicate::eq:
      return a == b;
    case arith::CmpIPredicate::ne:
      return !(a == b);
    case arith::CmpIPredicate::slt:
      return a < b;
    case arith::CmpIPredicate::sle:
      return a <= b;
    case arith::CmpIPredicate::sgt:
      return a > b;
    case arith::CmpIPredicate::sge:
      return a >= b;
    default:
      return {};
    }
  }

  Index ofIntegers(Operation &op) {
    auto arg = [&](unsigned i) { return values[op.getOperand(i)].over; };
    bool isTruth = op.getResult(0).getType().isInteger(1);
    return llvm::TypeSwitch<Operation *, Index>(&op)
        .Case([&](arith::CmpIOp compared) { return number(compare(compared)); })
        .Case<arith::ExtSIOp, arith::ExtUIOp>([&](auto) { return arg(0); })
        .Case([&](arith::SIToFPOp) { return held(arg(0), op); })
        .Case([&](arith::TruncIOp) { return isTruth ? Index() : arg(0); })
        .Case([&](arith::AndIOp) {
          return isTruth ? number(truth(arg(0)) && truth(arg(1))) : Index();
        })
        .Case([&](arith::OrIOp) {
          return isTruth ? number(truth(arg(0)) || truth(arg(1))) : Index();
        })
        .Case([&](arith::AddIOp) { return arg(0) + arg(1); })
        .Case([&](arith::SubIOp) { return arg(0) - arg(1); })
        .Case([&](arith::MulIOp) { return arg(0) * arg(1); })
        .Case([&](arith::DivSIOp) { return arg(0) / arg(1); })
        .Case([&](arith::RemSIOp) { return arg(0) % arg(1); })
        .Case([&](arith::MaxSIOp) { return greatest(arg(0), arg(1)); })
        .Case([&](arith::MinSIOp) { return least(arg(0), arg(1)); })
        .Default([](Operation *) { return Index(); });
  }

  // A number is one still as a float of the result's type; sizes count as held.
  static Index held(Index x, Operation &op) {
    bool isSmall = x.number && std::abs(*x.number) <= int64_t(1) << 24;
    return !x.number || isSmall || op.getResult(0).getType().isF64() ? x
                                                                     : Index();
  }

  static double toDouble(llvm::APFloat real) {
    bool loses;
    real.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &loses);
    return real.convertToDouble();
  }
};

} // namespace

Fraction fractionOf(double number) {
  constexpr int64_t under = 16;
  double over = number * under;
  if (!(std::abs(over) < largestExact) || over != std::floor(over))
    return {};
  return reduced(int64_t(over), under);
}

Fraction computeSize(Block &block, ArrayRef<Fraction> arguments, Value result) {
  Interpreter interpreter;
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    interpreter.values[argument] = value;
  for (Operation &op : block)
    interpreter.run(op);
  return interpreter.values[result];
}

} // namespace onnxc
