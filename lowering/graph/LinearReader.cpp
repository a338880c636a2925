#include "lowering/graph/LinearReader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace onnxc {

using namespace mlir;

namespace {

// Beyond are no positions; sums of two never overflow.
constexpr int64_t greatestNumber = int64_t(1) << 40;

class LinearReader {
public:
  LinearReader(ArrayRef<Index> dims, const DenseMap<Value, Index> &sizes)
      : dims(dims), sizes(sizes) {}

  std::optional<Linear> read(Value value) {
    if (auto known = found.find(value); known != found.end())
      return known->second;
    std::optional<Linear> linear = readNew(value);
    if (linear && !isInReach(*linear))
      linear.reset();
    found[value] = linear;
    return linear;
  }

private:
  using Result = std::optional<Linear>;

  static bool isInReach(const Linear &x) {
    auto isSmall = [](int64_t number) {
      return number > -greatestNumber && number < greatestNumber;
    };
    return (x.start.number ? isSmall(*x.start.number) : bool(x.start.name)) &&
           llvm::all_of(x.slopes, isSmall);
  }

  Linear number(Index start) const {
    return {start, SmallVector<int64_t>(dims.size(), 0)};
  }
  static bool isNumber(const Linear &x) {
    return llvm::all_of(x.slopes, [](int64_t slope) { return slope == 0; });
  }

  Result readNew(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return readArgument(argument);
    llvm::APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return number(constant.getBitWidth() == 1
                        ? int64_t(constant.getZExtValue())
                        : constant.getSExtValue());
    Operation *op = value.getDefiningOp();
    if (auto select = dyn_cast<arith::SelectOp>(op))
      return chosen(select);
    SmallVector<Linear> args;
    for (Value operand : op->getOperands()) {
      Result arg = read(operand);
      if (!arg)
        return std::nullopt;
      args.push_back(*arg);
    }
    return computed(op, args);
  }

  Result readArgument(BlockArgument argument) const {
    if (auto size = sizes.find(argument); size != sizes.end())
      return number(size->second);
    if (argument.getArgNumber() >= dims.size())
      return std::nullopt;
    Linear position = number(0);
    position.slopes[argument.getArgNumber()] = 1;
    return position;
  }

  Result chosen(arith::SelectOp op) {
    Result condition = read(op.getCondition());
    if (!condition)
      return std::nullopt;
    return read(condition->start.is(0) ? op.getFalseValue()
                                       : op.getTrueValue());
  }

  Result computed(Operation *op, ArrayRef<Linear> args) const {
    if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
      return args[0];
    if (op->getResult(0).getType().isInteger(1))
      return computedTruth(op, args);
    return llvm::TypeSwitch<Operation *, Result>(op)
        .Case([&](arith::AddIOp) { return sum(args[0], args[1], 1); })
        .Case([&](arith::SubIOp) { return sum(args[0], args[1], -1); })
        .Case([&](arith::MulIOp) { return product(args[0], args[1]); })
        .Case([&](arith::DivSIOp) { return divided(args[0], args[1]).first; })
        .Case([&](arith::RemSIOp) { return divided(args[0], args[1]).second; })
        .Case([&](arith::MaxSIOp) { return greater(args[0], args[1]); })
        .Case([&](arith::MinSIOp) { return smaller(args[0], args[1]); })
        .Default([](Operation *) { return std::nullopt; });
  }

  // Truth values are known, 0 or 1, or not at all.
  Result computedTruth(Operation *op, ArrayRef<Linear> args) const {
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      return compared(compare.getPredicate(), args[0], args[1]);
    bool a = !args.front().start.is(0), b = !args.back().start.is(0);
    if (isa<arith::AndIOp>(op))
      return number(a && b);
    if (isa<arith::OrIOp>(op))
      return number(a || b);
    if (isa<arith::XOrIOp>(op))
      return number(a != b);
    return std::nullopt;
  }

  Linear sum(Linear a, const Linear &b, int64_t sign) const {
    a.start = sign > 0 ? a.start + b.start : a.start - b.start;
    for (auto [slope, other] : llvm::zip_equal(a.slopes, b.slopes))
      slope += sign * other;
    return a;
  }

  Result product(Linear a, Linear b) const {
    if (!isNumber(b))
      std::swap(a, b);
    bool isKnown = isNumber(b) && (b.start.number || isNumber(a));
    if (!isKnown)
      return std::nullopt;
    if (a.start.number && b.start.number &&
        llvm::MulOverflow(*a.start.number, *b.start.number, *a.start.number))
      return std::nullopt;
    if (!a.start.number || !b.start.number)
      a.start = a.start * b.start;
    for (int64_t &slope : a.slopes)
      if (slope != 0 && llvm::MulOverflow(slope, *b.start.number, slope))
        return std::nullopt;
    return a;
  }

  // Quotient and remainder of what is not negative: the terms that a divisor
  // divides, and the rest where that is less than it.
  std::pair<Result, Result> divided(const Linear &a, const Linear &b) const {
    if (!isNumber(b))
      return {};
    if (!b.start.number)
      return isPositionBelow(a, b.start)
                 ? std::pair<Result, Result>(number(0), a)
                 : std::pair<Result, Result>();
    int64_t divisor = *b.start.number;
    if (divisor <= 0 || !a.start.number || !isAtLeast(a, 0))
      return {};
    Linear quotient = number(*a.start.number / divisor),
           rest = number(*a.start.number % divisor);
    for (auto [i, slope] : llvm::enumerate(a.slopes))
      if (slope % divisor == 0)
        quotient.slopes[i] = slope / divisor;
      else
        rest.slopes[i] = slope;
    if (!isAtLeast(rest, 0) || !isAtLeast(sum(number(divisor), rest, -1), 1))
      return {};
    return {quotient, rest};
  }

  // One of the positions itself, below the size of its dimension.
  bool isPositionBelow(const Linear &x, Index size) const {
    if (!x.start.is(0) || llvm::count(x.slopes, 0) + 1 != int(dims.size()))
      return false;
    const auto *slope =
        llvm::find_if(x.slopes, [](int64_t slope) { return slope != 0; });
    return *slope == 1 && surelyEqual(dims[slope - x.slopes.begin()], size);
  }

  // Surely, at all positions there are.
  bool isAtLeast(const Linear &x, int64_t least) const {
    if (!x.start.number && !(x.start.isSize && least <= 0))
      return false;
    int64_t low = x.start.number.value_or(0);
    for (auto [slope, dim] : llvm::zip_equal(x.slopes, dims)) {
      int64_t below = 0;
      bool isKnown =
          slope >= 0 || (dim.number && *dim.number < greatestNumber &&
                         !llvm::MulOverflow(slope, *dim.number - 1, below) &&
                         !llvm::AddOverflow(low, below, low));
      if (!isKnown)
        return false;
    }
    return low >= least;
  }
  // x is at least y, by one where `more` says so.
  bool isAtLeast(const Linear &x, const Linear &y, int64_t more = 0) const {
    return isAtLeast(sum(x, y, -1), more);
  }

  Result greater(const Linear &a, const Linear &b) const {
    return isAtLeast(a, b) ? Result(a) : isAtLeast(b, a) ? Result(b) : Result();
  }
  Result smaller(const Linear &a, const Linear &b) const {
    return isAtLeast(b, a) ? Result(a) : isAtLeast(a, b) ? Result(b) : Result();
  }

  Result compared(arith::CmpIPredicate predicate, const Linear &a,
                  const Linear &b) const {
    auto known = [&](bool yes, bool no) {
      return yes || no ? Result(number(yes)) : Result();
    };
    bool less = isAtLeast(b, a, 1), more = isAtLeast(a, b, 1);
    bool same = isAtLeast(a, b) && isAtLeast(b, a);
    switch (predicate) {
    case arith::CmpIPredicate::eq:
      return known(same, less || more);
    case arith::CmpIPredicate::ne:
      return known(less || more, same);
    case arith::CmpIPredicate::slt:
      return known(less, isAtLeast(a, b));
    case arith::CmpIPredicate::sle:
      return known(isAtLeast(b, a), more);
    case arith::CmpIPredicate::sgt:
      return known(more, isAtLeast(b, a));
    case arith::CmpIPredicate::sge:
      return known(isAtLeast(a, b), less);
    default:
      return std::nullopt;
    }
  }

  ArrayRef<Index> dims;
  const DenseMap<Value, Index> &sizes;
  DenseMap<Value, Result> found;
};

} // namespace

std::optional<Linear> readLinear(Value value, ArrayRef<Index> dims,
                                 const DenseMap<Value, Index> &sizes) {
  return LinearReader(dims, sizes).read(value);
}

} // namespace onnxc
