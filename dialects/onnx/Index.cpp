// Numbers fold, values become arith operations, names become the text of the
// formula: equal formulas of equal names are equal sizes.
#include "dialects/onnx/Index.h"
#include "dialects/onnx/SizeExtremes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace onnxc {

Index::Index(Dim dim) {
  if (dim.isStatic())
    number = dim.size;
  else
    nameAfter(dim);
}

void Index::nameAfter(Dim dim) {
  name = dim.symbol;
  isSize = bool(name);
}

Index::Index(ImplicitLocOpBuilder &builder, Value value) : builder(&builder) {
  IntegerAttr known;
  if (matchPattern(value, m_Constant(&known)))
    number = known.getValue().getSExtValue();
  else
    this->value = value;
}

Dim Index::dim() const {
  return number ? Dim{*number, {}} : Dim{ShapedType::kDynamic, name};
}

Value Index::in(ImplicitLocOpBuilder &to) const {
  return number ? arith::ConstantIndexOp::create(to, *number).getResult()
                : value;
}

OpFoldResult Index::fold() const {
  if (!number)
    return value;
  return IntegerAttr::get(IndexType::get(builder->getContext()), *number);
}

Condition::Condition(ImplicitLocOpBuilder &builder, Value value)
    : builder(&builder) {
  llvm::APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    known = !constant.isZero();
  else
    this->value = value;
}

Value Condition::in(ImplicitLocOpBuilder &to) const {
  if (!known)
    return value;
  return arith::ConstantOp::create(to, to.getBoolAttr(*known));
}

namespace {

ImplicitLocOpBuilder *builderOf(Index a, Index b) {
  return a.value ? a.builder : b.value ? b.builder : nullptr;
}

template <typename Op> Index emit(Index a, Index b) {
  ImplicitLocOpBuilder &builder = *builderOf(a, b);
  return {builder, builder.createOrFold<Op>(a.in(builder), b.in(builder))};
}

// Numbers come from the model, so arithmetic on them wraps.
int64_t wrapping(uint64_t number) { return int64_t(number); }

Index named(MLIRContext *context, const std::string &name) {
  Index result;
  if (name.size() <= longestName)
    result.name = StringAttr::get(context, name);
  return result;
}

std::optional<int64_t> lowest(Index x) {
  if (x.number)
    return x.number;
  std::optional<int64_t> known;
  if (x.name)
    known = lowestOf(x.name.getValue());
  return x.isSize ? std::max<int64_t>(known.value_or(0), 0) : known;
}

bool isAtLeastZero(Index x) { return lowest(x).value_or(-1) >= 0; }

// Numbers that are less than 0 stand in parentheses.
std::string text(Index x) {
  return asOperand(x.number ? std::to_string(*x.number)
                            : x.name.getValue().str());
}

bool isNamed(Index x) { return x.number || x.name; }

// What b is more than a, at least, as far as names tell.
std::optional<int64_t> lowestExcess(Index a, Index b) {
  std::optional<int64_t> low = lowest(b);
  int64_t excess;
  if (a.number && low && !llvm::SubOverflow(*low, *a.number, excess) &&
      excess >= 0)
    return excess;
  return isNamed(a) && isNamed(b) ? lowestDifference(text(b), text(a))
                                  : std::nullopt;
}

// Whether one is at most, or less than, what it is compared to.
bool isAtMost(Index a, Index b) {
  return b.is(std::numeric_limits<int64_t>::max()) ||
         lowestExcess(a, b).value_or(-1) >= 0;
}
bool isBelow(Index a, Index b) { return lowestExcess(a, b).value_or(0) > 0; }

Index formula(Index a, StringRef sign, Index b, bool commutes) {
  if (!isNamed(a) || !isNamed(b))
    return {};
  MLIRContext *context = (a.name ? a.name : b.name).getContext();
  std::string lhs = text(a), rhs = text(b);
  if (commutes && rhs < lhs)
    std::swap(lhs, rhs);
  Index result = named(context, lhs + sign.str() + rhs);
  result.isSize = sign != "-" && isAtLeastZero(a) && isAtLeastZero(b);
  return result;
}

Index plus(Index a, int64_t number) {
  if (!a.name)
    return {};
  Index result =
      named(a.name.getContext(), plusNumber(a.name.getValue(), number));
  result.isSize = number >= 0 && a.isSize;
  return result;
}

// A number or a name, as a formula's text has it.
Index simplified(MLIRContext *context, StringRef text) {
  if (std::optional<int64_t> number = asNumber(text))
    return *number;
  return named(context, text.str());
}

// a + factor*b where sizes cancel.
std::optional<Index> cancelled(Index a, Index b, int64_t factor) {
  auto sum = isNamed(a) && isNamed(b) ? sumName(text(a), text(b), factor)
                                      : std::nullopt;
  if (!sum)
    return std::nullopt;
  Index result = simplified((a.name ? a.name : b.name).getContext(), *sum);
  result.isSize = factor > 0 && isAtLeastZero(a) && isAtLeastZero(b);
  return result;
}

Index dividedBy(Index a, int64_t number) {
  Index result =
      named(a.name.getContext(), dividedName(a.name.getValue(), number));
  result.isSize = isAtLeastZero(a);
  return result;
}

// (n-x%n)%n is what lacks to the next multiple of n: (x+n-1)/n*n-x.
std::optional<Index> upToMultiple(Index a, Index b) {
  auto difference = a.name ? partsOf(a.name.getValue()) : std::nullopt;
  if (!difference || difference->sign != '-' || !b.number ||
      asNumber(difference->lhs) != b.number)
    return std::nullopt;
  auto remainder = partsOf(difference->rhs);
  if (!remainder || remainder->sign != '%' ||
      asNumber(remainder->rhs) != b.number || *b.number < 1 ||
      lowestOf(remainder->lhs).value_or(-1) < 0)
    return std::nullopt;
  MLIRContext *context = a.name.getContext();
  Index whole = simplified(context, withoutParentheses(remainder->lhs));
  return (whole + (*b.number - 1)) / b * b - whole;
}

std::string callOf(StringRef function, Index a, Index b) {
  std::string lhs = text(a), rhs = text(b);
  if (rhs < lhs)
    std::swap(lhs, rhs);
  return function.str() + "(" + lhs + "," + rhs + ")";
}

// Of min() or max(), in the form that equal ones have or as it is.
Index extreme(Index a, Index b, StringRef function) {
  if (!isNamed(a) || !isNamed(b))
    return {};
  auto name = function == "min" ? leastName(text(a), text(b))
                                : greatestName(text(a), text(b));
  Index result = simplified((a.name ? a.name : b.name).getContext(),
                            name ? *name : callOf(function, a, b));
  result.isSize = isAtLeastZero(a) && isAtLeastZero(b);
  return result;
}

// The divisor of a division that the program makes at run time.
Index notZero(Index x) { return select(x == 0, 1, x); }

Condition compare(Index a, Index b, arith::CmpIPredicate predicate) {
  ImplicitLocOpBuilder *builder = builderOf(a, b);
  if (!builder)
    return {};
  return {*builder, builder->createOrFold<arith::CmpIOp>(
                        predicate, a.in(*builder), b.in(*builder))};
}

Index combined(char sign, Index a, Index b) {
  switch (sign) {
  case '+':
    return a + b;
  case '-':
    return a - b;
  case '*':
    return a * b;
  case '/':
    return a / b;
  case '%':
    return a % b;
  case '<':
    return least(a, b);
  case '>':
    return greatest(a, b);
  default: // one gives way
    return select(a == 1, b, a);
  }
}

// What was multiplied in another order has the same name.
Index namedProduct(MLIRContext *context, const Factors &factors, bool isSize) {
  if (factors.number == 0 || factors.names.empty())
    return factors.number;
  Index result = named(context, productName(factors));
  result.isSize = isSize && result.name;
  return result;
}

} // namespace

bool isNeverOne(Index x) { return x.name && isNeverOne(x.name.getValue()); }

bool isNamedSize(Index x) { return x.name && isAtLeastZero(x); }

std::optional<Index>
evaluate(StringRef name,
         llvm::function_ref<std::optional<Index>(StringRef)> sizeOf) {
  if (std::optional<Index> size = sizeOf(name))
    return size;
  if (std::optional<int64_t> number = asNumber(name))
    return Index(*number);
  std::optional<Parts> parts = partsOf(name);
  auto a = parts ? evaluate(parts->lhs, sizeOf) : std::nullopt;
  auto b = a ? evaluate(parts->rhs, sizeOf) : std::nullopt;
  return b ? std::optional(combined(parts->sign, *a, *b)) : std::nullopt;
}

Factors factorsOf(ArrayRef<Index> sizes) {
  Factors all;
  for (Index size : sizes) {
    Factors own;
    if (size.number)
      own.number = *size.number;
    else if (size.name)
      own = factorsOf(size.name.getValue());
    else
      own.names.push_back(
          "%" + std::to_string(uintptr_t(size.value.getAsOpaquePointer())));
    all.number = wrapping(uint64_t(all.number) * uint64_t(own.number));
    llvm::append_range(all.names, own.names);
  }
  llvm::sort(all.names);
  return all;
}

std::optional<int> compare(const Factors &a, const Factors &b) {
  if (a.names == b.names)
    return a.number < b.number ? -1 : a.number > b.number;
  if (std::includes(b.names.begin(), b.names.end(), a.names.begin(),
                    a.names.end()))
    return -1;
  if (std::includes(a.names.begin(), a.names.end(), b.names.begin(),
                    b.names.end()))
    return 1;
  return std::nullopt;
}

bool surelyEqual(Index a, Index b) {
  return (a.number && a.number == b.number) || (a.name && a.name == b.name) ||
         (a.value && a.value == b.value);
}

Index operator+(Index a, Index b) {
  if (a.number && b.number)
    return wrapping(uint64_t(*a.number) + uint64_t(*b.number));
  if (a.is(0))
    return b;
  if (b.is(0))
    return a;
  if (builderOf(a, b))
    return emit<arith::AddIOp>(a, b);
  if (b.number)
    return plus(a, *b.number);
  if (a.number)
    return plus(b, *a.number);
  if (std::optional<Index> sum = cancelled(a, b, 1))
    return *sum;
  return formula(a, "+", b, true);
}

Index operator-(Index a, Index b) {
  if (a.number && b.number)
    return wrapping(uint64_t(*a.number) - uint64_t(*b.number));
  if (b.is(0))
    return a;
  if (surelyEqual(a, b))
    return 0;
  if (builderOf(a, b))
    return emit<arith::SubIOp>(a, b);
  if (b.number)
    return plus(a, -*b.number);
  if (std::optional<Index> difference = cancelled(a, b, -1))
    return *difference;
  return formula(a, "-", b, false);
}

Index operator*(Index a, Index b) {
  if (a.number && b.number)
    return wrapping(uint64_t(*a.number) * uint64_t(*b.number));
  if (a.is(0) || b.is(0))
    return 0;
  if (a.is(1))
    return b;
  if (b.is(1))
    return a;
  if (builderOf(a, b))
    return emit<arith::MulIOp>(a, b);
  if (!isNamed(a) || !isNamed(b))
    return {};
  return namedProduct((a.name ? a.name : b.name).getContext(),
                      factorsOf({a, b}), isAtLeastZero(a) && isAtLeastZero(b));
}

Index operator/(Index a, Index b) {
  if (b.is(0))
    return 0;
  if (b.is(-1) && a.number)
    return 0 - a;
  if (a.number && b.number)
    return *a.number / *b.number;
  if (b.is(1))
    return a;
  if (builderOf(a, b))
    return emit<arith::DivSIOp>(a, b.number ? b : notZero(b));
  if (b.number && *b.number > 0 && a.name)
    return dividedBy(a, *b.number);
  return surelyEqual(a, b) ? Index(1) : formula(a, "/", b, false);
}

Index operator%(Index a, Index b) {
  if (b.is(0) || b.is(1) || b.is(-1))
    return 0;
  if (a.number && b.number)
    return *a.number % *b.number;
  if (builderOf(a, b))
    return emit<arith::RemSIOp>(a, b.number ? b : notZero(b));
  if (a.name && b.number &&
      factorsOf(a.name.getValue()).number % *b.number == 0)
    return 0;
  if (std::optional<Index> left = upToMultiple(a, b))
    return *left;
  return formula(a, "%", b, false);
}

Index ceilDiv(Index a, Index b) { return (a + (b - 1)) / b; }

Index least(Index a, Index b) {
  if (a.number && b.number)
    return std::min(*a.number, *b.number);
  if (surelyEqual(a, b) || isAtMost(a, b))
    return a;
  if (isAtMost(b, a))
    return b;
  return builderOf(a, b) ? emit<arith::MinSIOp>(a, b) : extreme(a, b, "min");
}

Index greatest(Index a, Index b) {
  if (a.number && b.number)
    return std::max(*a.number, *b.number);
  if (surelyEqual(a, b) || isAtMost(b, a))
    return a;
  if (isAtMost(a, b))
    return b;
  return builderOf(a, b) ? emit<arith::MaxSIOp>(a, b) : extreme(a, b, "max");
}

Index clamp(Index x, Index low, Index high) {
  return least(greatest(x, low), high);
}

Index select(Condition condition, Index yes, Index no) {
  if (condition.known)
    return *condition.known ? yes : no;
  if (surelyEqual(yes, no))
    return yes;
  if (!condition.value)
    return {};
  ImplicitLocOpBuilder &builder = *condition.builder;
  return {builder, builder.createOrFold<arith::SelectOp>(
                       condition.value, yes.in(builder), no.in(builder))};
}

Condition operator<(Index a, Index b) {
  if (a.number && b.number)
    return *a.number < *b.number;
  if (surelyEqual(a, b) || isAtMost(b, a))
    return false;
  if (isBelow(a, b))
    return true;
  return compare(a, b, arith::CmpIPredicate::slt);
}

Condition operator<=(Index a, Index b) {
  if (a.number && b.number)
    return *a.number <= *b.number;
  if (surelyEqual(a, b) || isAtMost(a, b))
    return true;
  if (isBelow(b, a))
    return false;
  return compare(a, b, arith::CmpIPredicate::sle);
}

Condition operator==(Index a, Index b) {
  if (a.number && b.number)
    return *a.number == *b.number;
  if (isBelow(a, b) || isBelow(b, a) || (a.is(1) && isNeverOne(b)) ||
      (b.is(1) && isNeverOne(a)))
    return false;
  if (surelyEqual(a, b))
    return true;
  return compare(a, b, arith::CmpIPredicate::eq);
}

Condition operator&&(Condition a, Condition b) {
  if (a.isFalse() || b.isFalse())
    return false;
  if (a.isTrue())
    return b;
  if (b.isTrue() || !a.value || !b.value)
    return b.isTrue() ? a : Condition();
  return {*a.builder, a.builder->createOrFold<arith::AndIOp>(a.value, b.value)};
}

Condition operator||(Condition a, Condition b) {
  if (a.isTrue() || b.isTrue())
    return true;
  if (a.isFalse())
    return b;
  if (b.isFalse() || !a.value || !b.value)
    return b.isFalse() ? a : Condition();
  return {*a.builder, a.builder->createOrFold<arith::OrIOp>(a.value, b.value)};
}

Condition operator!(Condition a) {
  if (a.known)
    return !*a.known;
  if (!a.value)
    return {};
  Value one =
      arith::ConstantOp::create(*a.builder, a.builder->getBoolAttr(true));
  return {*a.builder, a.builder->createOrFold<arith::XOrIOp>(a.value, one)};
}

Index product(ArrayRef<Index> sizes) {
  Index all = 1;
  for (Index size : sizes)
    all = all * size;
  return all;
}

Sizes delinearize(Index linear, ArrayRef<Index> sizes) {
  Sizes at(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    at[i] = i == 0 ? linear : linear % sizes[i];
    linear = linear / sizes[i];
  }
  return at;
}

Index linearize(ArrayRef<Index> at, ArrayRef<Index> sizes) {
  Index linear = 0;
  for (auto [position, size] : llvm::zip_equal(at, sizes))
    linear = linear * size + position;
  return linear;
}

} // namespace onnxc
