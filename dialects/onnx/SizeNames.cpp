// The text of formulas, and the few laws that make equal sizes of a network
// have equal names: what convolutions of stride 2 halve and upsampling doubles,
// in any order and with any padding.
#include "dialects/onnx/SizeNames.h"
#include "dialects/onnx/SizeExtremes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace onnxc {
namespace {

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

// "(x)" is x, "f(x)" and "(x)+(y)" are not.
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

std::optional<Parts> partsAt(StringRef name, size_t at, char sign) {
  if (at == StringRef::npos || at == 0)
    return std::nullopt;
  return Parts{sign, name.take_front(at), name.drop_front(at + 1)};
}

// min(a,b)
std::optional<Parts> callOf(StringRef name, StringRef function, char sign) {
  if (!name.consume_front(function) || !consumeParentheses(name))
    return std::nullopt;
  return partsAt(name, findOutside(name, ","), sign);
}

std::optional<int64_t> lowestOfParts(const Parts &parts) {
  std::optional<int64_t> a = lowestOf(parts.lhs), b = lowestOf(parts.rhs);
  std::optional<int64_t> number = asNumber(parts.rhs);
  if (parts.sign == '>' && a.has_value() != b.has_value())
    return a ? a : b;
  if (!a || !b)
    return std::nullopt;
  int64_t result;
  switch (parts.sign) {
  case '<':
  case '|':
    return std::min(*a, *b);
  case '>':
    return std::max(*a, *b);
  case '+':
    return llvm::AddOverflow(*a, *b, result) ? std::nullopt
                                             : std::optional(result);
  case '-': {
    std::optional<int64_t> most = greatestOf(parts.rhs);
    return !most || llvm::SubOverflow(*a, *most, result)
               ? std::nullopt
               : std::optional(result);
  }
  case '*':
    return *a < 0 || *b < 0 || llvm::MulOverflow(*a, *b, result)
               ? std::nullopt
               : std::optional(result);
  case '/':
    if (number && *number > 0)
      return *a / *number;
    return *a >= 0 && *b >= 0 ? std::optional<int64_t>(0) : std::nullopt;
  default: // of a remainder, which has the sign of what is divided
    return *a >= 0 ? std::optional<int64_t>(0) : std::nullopt;
  }
}

// x/m+c divided by n is (x+c*m)/(m*n) where all divisions round alike: of what
// is not negative, or where the rounding of the first one cannot matter.
bool divisionsMerge(StringRef x, int64_t m, int64_t c, int64_t n) {
  if (c == 0)
    return true;
  std::optional<int64_t> lowest = lowestOf(x);
  int64_t offset;
  if (!lowest || llvm::MulOverflow(c, m, offset))
    return false;
  return *lowest >= 0 ? offset >= 0 || *lowest + offset >= 0
                      : *lowest > -m && c > 0 && c % n != 0;
}

} // namespace

// '?' begins the names of unnamed ones.
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

StringRef withoutParentheses(StringRef name) {
  while (consumeParentheses(name)) {
  }
  return name;
}

std::optional<int64_t> asNumber(StringRef name) {
  int64_t number;
  return withoutParentheses(name).getAsInteger(10, number)
             ? std::nullopt
             : std::optional(number);
}

// "a*b+1" is a sum; all other operands with signs are in parentheses.
std::optional<Parts> partsOf(StringRef name) {
  name = withoutParentheses(name);
  if (asNumber(name))
    return std::nullopt;
  for (StringRef signs : {"|", "+-", "*/%"})
    if (size_t at = findOutside(name, signs); at != StringRef::npos && at != 0)
      return partsAt(name, at, name[at]);
  if (std::optional<Parts> least = callOf(name, "min", '<'))
    return least;
  return callOf(name, "max", '>');
}

std::string asOperand(StringRef name) {
  return findOutside(name, "+-*/%,|") == StringRef::npos
             ? name.str()
             : "(" + name.str() + ")";
}

std::pair<StringRef, int64_t> splitOffset(StringRef name) {
  std::optional<Parts> parts = partsOf(name);
  std::optional<int64_t> offset = parts ? asNumber(parts->rhs) : std::nullopt;
  if (!offset || (parts->sign != '+' && parts->sign != '-'))
    return {name, 0};
  return {withoutParentheses(parts->lhs),
          parts->sign == '-' ? int64_t(0 - uint64_t(*offset)) : *offset};
}

Factors factorsOf(StringRef name) {
  uint64_t number = 1;
  Factors factors;
  SmallVector<StringRef> open = {name};
  while (!open.empty()) {
    StringRef next = open.pop_back_val();
    std::optional<Parts> parts = partsOf(next);
    if (std::optional<int64_t> known = asNumber(next))
      number *= uint64_t(*known);
    else if (parts && parts->sign == '*')
      append_values(open, parts->rhs, parts->lhs);
    else
      factors.names.push_back(withoutParentheses(next).str());
  }
  factors.number = int64_t(number);
  sort(factors.names);
  return factors;
}

std::string productName(const Factors &factors) {
  bool hasNumber = factors.number != 1 || factors.names.empty();
  if (!hasNumber && factors.names.size() == 1)
    return factors.names.front();
  SmallVector<std::string> operands;
  if (hasNumber)
    operands.push_back(asOperand(std::to_string(factors.number)));
  for (StringRef name : factors.names)
    operands.push_back(asOperand(name));
  return join(operands, "*");
}

std::optional<int64_t> lowestOf(StringRef name) {
  if (std::optional<int64_t> number = asNumber(name))
    return number;
  std::optional<Parts> parts = partsOf(name);
  return parts ? lowestOfParts(*parts) : 0;
}

std::optional<int64_t> greatestOf(StringRef name) {
  if (std::optional<int64_t> number = asNumber(name))
    return number;
  std::optional<Parts> parts = partsOf(name);
  std::optional<int64_t> divisor =
      parts && parts->sign == '%' ? asNumber(parts->rhs) : std::nullopt;
  bool isKnown =
      divisor.value_or(0) > 0 && lowestOf(parts->lhs).value_or(-1) >= 0;
  return isKnown ? std::optional(*divisor - 1) : std::nullopt;
}

bool isNeverOne(StringRef name) {
  int64_t factor = factorsOf(name).number;
  return factor < -1 || factor > 1 || factor == 0 ||
         lowestOf(name).value_or(0) > 1;
}

std::string broadcastName(StringRef a, StringRef b) {
  if (isSameUnlessEmpty(a, b)) // the 1 gives way to the 0
    return b.str();
  if (isSameUnlessEmpty(b, a))
    return a.str();
  bool isFirst = isNeverOne(a), isSecond = isNeverOne(b);
  if (isFirst && isSecond) { // the one that more is known of
    int64_t first = factorsOf(a).number, second = factorsOf(b).number;
    return (first != second ? first > second : a < b) ? a.str() : b.str();
  }
  if (isFirst || isSecond)
    return isFirst ? a.str() : b.str();
  SmallVector<StringRef> names, open = {a, b};
  while (!open.empty()) {
    StringRef next = open.pop_back_val();
    std::optional<Parts> parts = partsOf(next);
    if (parts && parts->sign == '|')
      llvm::append_values(open, parts->lhs, parts->rhs);
    else
      names.push_back(next);
  }
  llvm::sort(names);
  names.erase(llvm::unique(names), names.end());
  return llvm::join(names, "|");
}

// Numbers wrap, as the run computes them.
static int64_t wrappingSum(int64_t a, int64_t b) {
  return int64_t(uint64_t(a) + uint64_t(b));
}

std::string plusNumber(StringRef name, int64_t number) {
  auto [base, offset] = splitOffset(name);
  int64_t sum = wrappingSum(offset, number);
  if (sum == 0)
    return base.str();
  // 2*(N+1)+3 is 2*N+5.
  Factors factors = factorsOf(base);
  auto [inner, own] = factors.names.size() == 1
                          ? splitOffset(factors.names[0])
                          : std::pair(StringRef(), int64_t(0));
  if (factors.number != 1 && own != 0) {
    Factors product{factors.number, {inner.str()}};
    return plusNumber(
        productName(product),
        wrappingSum(sum, int64_t(uint64_t(factors.number) * uint64_t(own))));
  }
  std::optional<Parts> parts = partsOf(base);
  std::string text = parts && parts->sign == '|' ? asOperand(base) : base.str();
  return text + (sum > 0 ? "+" : "") + std::to_string(sum);
}

std::string dividedName(StringRef name, int64_t divisor) {
  auto [base, offset] = splitOffset(name);
  Factors factors = factorsOf(base);
  int64_t factor = factors.number;
  bool isPositive = lowestOf(name).value_or(-1) >= 0;
  if (factor % divisor == 0 && (isPositive || offset % divisor == 0)) {
    factors.number /= divisor;
    return plusNumber(productName(factors),
                      llvm::divideFloorSigned(offset, divisor));
  }
  if (factor > 1 && divisor % factor == 0 && isPositive) {
    factors.number = 1;
    return dividedName(plusNumber(productName(factors),
                                  llvm::divideFloorSigned(offset, factor)),
                       divisor / factor);
  }
  std::optional<Parts> parts = partsOf(base);
  std::optional<int64_t> before =
      parts && parts->sign == '/' ? asNumber(parts->rhs) : std::nullopt;
  int64_t both;
  if (before && *before > 0 && !llvm::MulOverflow(*before, divisor, both) &&
      divisionsMerge(parts->lhs, *before, offset, divisor))
    return dividedName(plusNumber(parts->lhs, offset * *before), both);
  return asOperand(name) + "/" + std::to_string(divisor);
}

} // namespace onnxc
