// Numbers fold, values become arith operations, names become the text of the
// formula: equal formulas of equal names are equal sizes.
#include "dialects/onnx/Index.h"
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

// Names grow with every formula; one that is too long is no name.
constexpr size_t longestName = 240;

// As long as `text`, with blanks for what stands in quotes.
std::string blankQuoted(StringRef text) {
  std::string blank = text.str();
  bool isQuoted = false;
  for (char &c : blank) {
    isQuoted ^= c == '\'';
    if (isQuoted)
      c = ' ';
  }
  return blank;
}

// Where the last of these characters stands outside of all parentheses and
// quotes; npos if nowhere, or if parentheses do not match.
size_t findOutside(StringRef name, StringRef characters) {
  std::string text = blankQuoted(name);
  int64_t depth = 0;
  for (size_t i = text.size(); i-- > 0;) {
    depth += (text[i] == ')') - (text[i] == '(');
    if (depth < 0)
      break;
    if (depth == 0 && characters.contains(text[i]))
      return i;
  }
  return StringRef::npos;
}

std::string text(Index x) {
  if (x.number)
    return std::to_string(*x.number);
  StringRef name = x.name.getValue();
  return findOutside(name, "+-*/%,|") == StringRef::npos
             ? name.str()
             : "(" + name.str() + ")";
}

bool isNamed(Index x) { return x.number || x.name; }

Index named(MLIRContext *context, const std::string &name) {
  Index result;
  if (name.size() <= longestName)
    result.name = StringAttr::get(context, name);
  return result;
}

bool isAtLeastZero(Index x) { return x.number ? *x.number >= 0 : x.isSize; }

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

// "N+3" is N and 3, so that constants add up: N+3-1 is N+2.
std::pair<StringRef, int64_t> splitOffset(StringRef name) {
  size_t sign = name.find_last_of("+-");
  int64_t offset;
  if (sign == StringRef::npos || sign == 0 ||
      name.drop_front(sign + 1).getAsInteger(10, offset))
    return {name, 0};
  return {name.take_front(sign), name[sign] == '-' ? -offset : offset};
}

bool hasDifference(StringRef name) {
  return StringRef(blankQuoted(name)).contains('-');
}

Index plus(Index named_, int64_t number) {
  if (!named_.name)
    return {};
  auto [base, offset] = splitOffset(named_.name.getValue());
  offset = wrapping(uint64_t(offset) + uint64_t(number));
  std::string sum = base.str();
  if (offset != 0)
    sum += (offset > 0 ? "+" : "") + std::to_string(offset);
  Index result = named(named_.name.getContext(), sum);
  // Of what was taken away, as much or more may have come back.
  result.isSize = number >= 0 && (named_.isSize || !hasDifference(sum));
  return result;
}

Index function(StringRef name, Index a, Index b) {
  if (!isNamed(a) || !isNamed(b))
    return {};
  std::string lhs = text(a), rhs = text(b);
  if (rhs < lhs)
    std::swap(lhs, rhs);
  Index result = named((a.name ? a.name : b.name).getContext(),
                       name.str() + "(" + lhs + "," + rhs + ")");
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

// "(x)" is x, "f(x)" is not.
bool consumeParentheses(StringRef &text) {
  StringRef inner = text;
  if (!inner.consume_front("(") || !inner.consume_back(")"))
    return false;
  int64_t depth = 0;
  for (char c : blankQuoted(inner)) {
    depth += (c == '(') - (c == ')');
    if (depth < 0)
      return false;
  }
  text = inner;
  return depth == 0;
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
  default:
    return a % b;
  }
}

// As one product of a number and of names in their order, so that what was
// multiplied in another order has the same name and what was multiplied can be
// divided.
Index namedProduct(MLIRContext *context, const Factors &factors, bool isSize) {
  if (factors.number == 0 || factors.names.empty())
    return factors.number;
  std::string all;
  if (factors.number != 1)
    all = std::to_string(factors.number);
  for (StringRef name : factors.names) {
    Index factor;
    factor.name = StringAttr::get(context, name);
    bool isAlone = factors.names.size() == 1 && all.empty();
    all += (all.empty() ? "" : "*") + (isAlone ? name.str() : text(factor));
  }
  Index result = named(context, all);
  result.isSize = isSize && result.name;
  return result;
}

// The factors of what `divisor` divides without a rest.
std::optional<Factors> quotientOf(Index product, Index divisor) {
  if (!product.name || !divisor.number)
    return std::nullopt;
  Factors factors = factorsOf(product);
  if (factors.number % *divisor.number != 0)
    return std::nullopt;
  factors.number /= *divisor.number;
  return factors;
}

void addFactors(StringRef name, Factors &factors) {
  while (consumeParentheses(name)) {
  }
  int64_t number;
  size_t product = findOutside(name, "*");
  bool isSum = findOutside(name, "+-/%,|") != StringRef::npos;
  if (!name.getAsInteger(10, number)) {
    factors.number = wrapping(uint64_t(factors.number) * uint64_t(number));
  } else if (product != StringRef::npos && !isSum) {
    addFactors(name.take_front(product), factors);
    addFactors(name.drop_front(product + 1), factors);
  } else {
    factors.names.push_back(name.str());
  }
}

} // namespace

bool isNamedSize(Index x) { return x.name && x.isSize; }

// '|' joins the names of broadcast sizes, '?' begins those of unnamed ones.
std::string quotedName(StringRef given) {
  std::string name = given.str();
  std::replace(name.begin(), name.end(), '|', '_');
  std::replace(name.begin(), name.end(), '\'', '_');
  if (name.front() == '?')
    name.front() = '_';
  int64_t number;
  bool isPlain = StringRef(name).getAsInteger(10, number) &&
                 name.find_first_of("+-*/%,()") == std::string::npos;
  return isPlain ? name : "'" + name + "'";
}

StringRef unquotedName(StringRef name) {
  return name.starts_with("'") && name.find('\'', 1) == name.size() - 1
             ? name.drop_front().drop_back()
             : name;
}

std::optional<Index>
evaluate(StringRef name,
         llvm::function_ref<std::optional<Index>(StringRef)> sizeOf) {
  if (std::optional<Index> size = sizeOf(name))
    return size;
  int64_t number;
  if (!name.getAsInteger(10, number))
    return Index(number);
  if (StringRef inner = name; consumeParentheses(inner))
    return evaluate(inner, sizeOf);
  bool isLeast = name.consume_front("min("),
       isGreatest = name.consume_front("max(");
  if (isLeast || isGreatest)
    name.consume_back(")");
  // "a*b+1" is a sum; all other operands with signs are in parentheses.
  size_t sign = findOutside(name, isLeast || isGreatest ? "," : "+-");
  if (sign == StringRef::npos)
    sign = findOutside(name, "*/%");
  if (sign == StringRef::npos || sign == 0)
    return std::nullopt;
  auto a = evaluate(name.take_front(sign), sizeOf);
  auto b = a ? evaluate(name.drop_front(sign + 1), sizeOf) : std::nullopt;
  if (!b)
    return std::nullopt;
  return isLeast      ? least(*a, *b)
         : isGreatest ? greatest(*a, *b)
                      : combined(name[sign], *a, *b);
}

Factors factorsOf(ArrayRef<Index> sizes) {
  Factors factors;
  for (Index size : sizes) {
    if (size.number)
      factors.number =
          wrapping(uint64_t(factors.number) * uint64_t(*size.number));
    else if (size.name)
      addFactors(size.name.getValue(), factors);
    else
      factors.names.push_back(
          "%" + std::to_string(uintptr_t(size.value.getAsOpaquePointer())));
  }
  llvm::sort(factors.names);
  return factors;
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
  return b.number ? plus(a, -*b.number) : formula(a, "-", b, false);
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
  if (std::optional<Factors> quotient = quotientOf(a, b))
    return namedProduct(a.name.getContext(), *quotient,
                        a.isSize && *b.number > 0);
  return surelyEqual(a, b) ? Index(1) : formula(a, "/", b, false);
}

Index operator%(Index a, Index b) {
  if (b.is(0) || b.is(1) || b.is(-1))
    return 0;
  if (a.number && b.number)
    return *a.number % *b.number;
  if (builderOf(a, b))
    return emit<arith::RemSIOp>(a, b.number ? b : notZero(b));
  if (quotientOf(a, b))
    return 0;
  return formula(a, "%", b, false);
}

Index ceilDiv(Index a, Index b) { return (a + (b - 1)) / b; }

Index least(Index a, Index b) {
  if (a.number && b.number)
    return std::min(*a.number, *b.number);
  if (surelyEqual(a, b))
    return a;
  return builderOf(a, b) ? emit<arith::MinSIOp>(a, b) : function("min", a, b);
}

Index greatest(Index a, Index b) {
  if (a.number && b.number)
    return std::max(*a.number, *b.number);
  if (surelyEqual(a, b) || (isNamedSize(a) && b.is(0)))
    return a;
  if (isNamedSize(b) && a.is(0))
    return b;
  return builderOf(a, b) ? emit<arith::MaxSIOp>(a, b) : function("max", a, b);
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
  if (surelyEqual(a, b) || (isNamedSize(a) && b.number && *b.number <= 0))
    return false;
  if (isNamedSize(b) && a.number && *a.number < 0)
    return true;
  return compare(a, b, arith::CmpIPredicate::slt);
}

Condition operator<=(Index a, Index b) {
  if (a.number && b.number)
    return *a.number <= *b.number;
  if (surelyEqual(a, b) || (isNamedSize(b) && a.number && *a.number <= 0))
    return true;
  if (isNamedSize(a) && b.number && *b.number < 0)
    return false;
  return compare(a, b, arith::CmpIPredicate::sle);
}

Condition operator==(Index a, Index b) {
  if (a.number && b.number)
    return *a.number == *b.number;
  if ((isNamedSize(a) && b.number && *b.number < 0) ||
      (isNamedSize(b) && a.number && *a.number < 0))
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
