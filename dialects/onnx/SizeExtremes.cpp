// A formula is taken as the greatest of leasts of sums: sums, differences,
// multiples, min() and max() of such are of that form again. What is surely
// not the extreme is left out, so that the laws of slices (a-min(a,b) is
// max(a-b,0), min(N+2,N) is N) need no telling one by one.
#include "dialects/onnx/SizeExtremes.h"
#include "dialects/onnx/SizeNames.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace llvm;

namespace onnxc {
namespace {

// Larger numbers and formulas are left as they are: a sum might wrap, and a
// long formula is no size that another one equals.
constexpr int64_t greatestNumber = int64_t(1) << 40;
constexpr size_t mostSums = 8;

bool isHarmless(int64_t number) {
  return -greatestNumber <= number && number <= greatestNumber;
}

// A number and multiples of sizes, none of them 0 times.
struct Sum {
  int64_t number = 0;
  std::map<std::string, int64_t> terms;
  bool operator==(const Sum &other) const {
    return number == other.number && terms == other.terms;
  }
};

using Least = SmallVector<Sum>;
using Greatest = SmallVector<Least>;

size_t sumsOf(const Greatest &formula) {
  size_t count = 0;
  for (const Least &least : formula)
    count += least.size();
  return count;
}

size_t termsOf(const Greatest &formula) {
  size_t count = 0;
  for (const Least &least : formula)
    for (const Sum &sum : least)
      count += sum.terms.size();
  return count;
}

// a + factor*b
std::optional<Sum> added(Sum a, const Sum &b, int64_t factor) {
  a.number += factor * b.number;
  for (const auto &[name, count] : b.terms)
    if ((a.terms[name] += factor * count) == 0)
      a.terms.erase(name);
  bool isKept = isHarmless(a.number) && all_of(a.terms, [](const auto &term) {
                  return isHarmless(term.second);
                });
  return isKept ? std::optional(a) : std::nullopt;
}

// Not more than the sum: n*(x/n) lies between x-n+1 and x.
Sum withoutQuotients(Sum sum) {
  for (const auto &[name, count] : Sum(sum).terms) {
    std::optional<Parts> parts = partsOf(name);
    int64_t divisor =
        parts && parts->sign == '/' ? asNumber(parts->rhs).value_or(0) : 0;
    if (divisor <= 0 || count % divisor != 0 ||
        onnxc::lowestOf(parts->lhs).value_or(-1) < 0)
      continue;
    auto [base, offset] = splitOffset(parts->lhs);
    Factors factors = factorsOf(base);
    int64_t number = std::exchange(factors.number, 1);
    if (!isHarmless(number) || !isHarmless(offset))
      continue;
    Sum quotient{0, {{name, divisor}}},
        divided{offset - (count > 0 ? divisor - 1 : 0),
                {{productName(factors), number}}};
    auto rest = added(sum, quotient, -count / divisor);
    auto bound = rest ? added(*rest, divided, count / divisor) : std::nullopt;
    sum = bound.value_or(sum);
  }
  return sum;
}

std::optional<int64_t> lowestByTerms(const Sum &sum) {
  int64_t all = sum.number, part;
  for (const auto &[name, count] : sum.terms) {
    std::optional<int64_t> bound =
        count > 0 ? onnxc::lowestOf(name) : greatestOf(name);
    if (!bound || MulOverflow(*bound, count, part) ||
        AddOverflow(all, part, all))
      return std::nullopt;
  }
  return all;
}

std::optional<int64_t> lowestOf(const Sum &sum) {
  std::optional<int64_t> lowest = lowestByTerms(sum);
  return lowest ? lowest : lowestByTerms(withoutQuotients(sum));
}

bool isAtMost(const Sum &a, const Sum &b) {
  std::optional<Sum> difference = added(b, a, -1);
  return difference && lowestOf(*difference).value_or(-1) >= 0;
}

bool isAtMost(const Least &a, const Least &b) {
  return all_of(b, [&](const Sum &most) {
    return any_of(a, [&](const Sum &sum) { return isAtMost(sum, most); });
  });
}

// Without those that one of the others stands before, or is the same as.
template <typename Item>
void dropOthers(SmallVector<Item> &items,
                function_ref<bool(const Item &, const Item &)> standsBefore) {
  SmallVector<Item> kept;
  for (Item &item : items) {
    if (any_of(kept, [&](Item &other) { return standsBefore(other, item); }))
      continue;
    erase_if(kept, [&](Item &other) { return standsBefore(item, other); });
    kept.push_back(std::move(item));
  }
  items = std::move(kept);
}

std::optional<Greatest> simplified(Greatest formula) {
  for (Least &least : formula)
    dropOthers<Sum>(least,
                    [](const Sum &a, const Sum &b) { return isAtMost(a, b); });
  dropOthers<Least>(
      formula, [](const Least &a, const Least &b) { return isAtMost(b, a); });
  return sumsOf(formula) <= mostSums ? std::optional(std::move(formula))
                                     : std::nullopt;
}

std::optional<Greatest> greatest(Greatest a, const Greatest &b) {
  append_range(a, b);
  return simplified(std::move(a));
}

// min(x,y)+max(x,y) is x+y, as when what two slices leave is joined.
std::optional<Sum> lesserAndGreater(const Greatest &lesser,
                                    const Greatest &greater) {
  if (lesser.size() != 1 || lesser[0].size() != 2 || greater.size() != 2 ||
      sumsOf(greater) != 2)
    return std::nullopt;
  for (const Least &other : greater) {
    const Sum &x = other[0], &y = greater[&other == &greater[0]][0];
    std::optional<Sum> first = added(x, lesser[0][0], -1),
                       second = added(y, lesser[0][1], -1);
    if (first && first->terms.empty() && first == second)
      return added(x, lesser[0][1], 1);
  }
  return std::nullopt;
}

// min() and + distribute over max(), and + over min().
std::optional<Greatest> least(const Greatest &a, const Greatest &b) {
  Greatest all;
  for (const Least &first : a)
    for (const Least &second : b) {
      all.push_back(first);
      append_range(all.back(), second);
    }
  return simplified(std::move(all));
}

std::optional<Greatest> added(const Greatest &a, const Greatest &b) {
  if (std::optional<Sum> all = lesserAndGreater(a, b))
    return Greatest{{*all}};
  if (std::optional<Sum> all = lesserAndGreater(b, a))
    return Greatest{{*all}};
  Greatest all;
  for (const Least &first : a)
    for (const Least &second : b) {
      all.emplace_back();
      for (const Sum &x : first)
        for (const Sum &y : second) {
          std::optional<Sum> sum = added(x, y, 1);
          if (!sum)
            return std::nullopt;
          all.back().push_back(*sum);
        }
    }
  return simplified(std::move(all));
}

// A factor below 0 makes the greatest the least and the other way round.
std::optional<Greatest> times(const Greatest &formula, int64_t factor) {
  std::optional<Greatest> all =
      factor < 0 ? std::nullopt : std::optional(Greatest());
  for (const Least &own : formula) {
    Least scaled;
    for (const Sum &sum : own) {
      std::optional<Sum> product = added({}, sum, factor);
      if (!product)
        return std::nullopt;
      scaled.push_back(*product);
    }
    if (factor > 0) {
      all->push_back(scaled);
      continue;
    }
    Greatest turned;
    for (const Sum &sum : scaled)
      turned.push_back({sum});
    all = all ? least(*all, turned) : simplified(turned);
    if (!all)
      return std::nullopt;
  }
  return all;
}

std::optional<Greatest> formulaOf(StringRef name);

std::optional<Greatest> formulaOfProduct(StringRef name) {
  Factors factors = factorsOf(name);
  int64_t number = std::exchange(factors.number, 1);
  if (!isHarmless(number) || number == 0)
    return std::nullopt;
  if (factors.names.size() == 1 && number != 1) {
    std::optional<Greatest> inner = formulaOf(factors.names.front());
    return inner ? times(*inner, number) : std::nullopt;
  }
  return Greatest{{Sum{0, {{productName(factors), number}}}}};
}

std::optional<Greatest> formulaOf(StringRef name) {
  if (std::optional<int64_t> number = asNumber(name))
    return isHarmless(*number) ? std::optional(Greatest{{Sum{*number, {}}}})
                               : std::nullopt;
  std::optional<Parts> parts = partsOf(name);
  if (!parts || !StringRef("+-<>").contains(parts->sign))
    return formulaOfProduct(name);
  std::optional<Greatest> a = formulaOf(parts->lhs), b = formulaOf(parts->rhs);
  if (b && parts->sign == '-')
    b = times(*b, -1);
  if (!a || !b)
    return std::nullopt;
  return parts->sign == '<'   ? least(*a, *b)
         : parts->sign == '>' ? greatest(*a, *b)
                              : added(*a, *b);
}

std::string nameOf(const Sum &sum) {
  std::string name, taken;
  for (const auto &[term, count] : sum.terms) {
    Factors factors = factorsOf(term);
    factors.number = std::abs(count);
    std::string &side = count > 0 ? name : taken;
    std::string own = productName(factors);
    side = side.empty() ? own : asOperand(side) + "+" + asOperand(own);
  }
  if (taken.empty())
    return name.empty() ? std::to_string(sum.number)
                        : plusNumber(name, sum.number);
  if (name.empty())
    return asOperand(std::to_string(sum.number)) + "-" + asOperand(taken);
  return plusNumber(asOperand(name) + "-" + asOperand(taken), sum.number);
}

std::string callOf(StringRef function, SmallVector<std::string> names) {
  sort(names);
  std::string all = names.front();
  for (const std::string &name : ArrayRef(names).drop_front()) {
    std::string a = asOperand(all), b = asOperand(name);
    if (b < a)
      std::swap(a, b);
    all = function.str() + "(" + a + "," + b + ")";
  }
  return all;
}

// What all sums have in common but the numbers alone, so that numbers add up:
// max(H-2,0)+1 is max(2,H)-1, and without the 1, max(2,H)-2.
int64_t commonNumber(const Greatest &formula) {
  std::optional<int64_t> common;
  for (const Least &least : formula)
    for (const Sum &sum : least)
      if (!sum.terms.empty())
        common = std::min(common.value_or(sum.number), sum.number);
  return common.value_or(0);
}

std::string nameOf(Greatest formula) {
  if (sumsOf(formula) == 1)
    return nameOf(formula.front().front());
  int64_t common = commonNumber(formula);
  SmallVector<std::string> names;
  for (Least &least : formula) {
    SmallVector<std::string> own;
    for (Sum &sum : least) {
      sum.number -= common;
      own.push_back(nameOf(sum));
    }
    names.push_back(callOf("min", own));
  }
  return plusNumber(callOf("max", names), common);
}

using Combine = std::optional<Greatest>(const Greatest &, const Greatest &);

std::optional<std::string> extremeName(StringRef a, StringRef b,
                                       Combine combine) {
  std::optional<Greatest> x = formulaOf(a), y = formulaOf(b);
  if (!x || !y)
    return std::nullopt;
  std::optional<Greatest> both = combine(*x, *y);
  bool grows = !both || sumsOf(*both) > sumsOf(*x) + sumsOf(*y);
  return grows ? std::nullopt : std::optional(nameOf(*both));
}

} // namespace

std::optional<std::string> leastName(StringRef a, StringRef b) {
  return extremeName(a, b, least);
}

std::optional<std::string> greatestName(StringRef a, StringRef b) {
  return extremeName(a, b, [](const Greatest &x, const Greatest &y) {
    return greatest(x, y);
  });
}

std::optional<std::string> sumName(StringRef a, StringRef b, int64_t factor) {
  std::optional<Greatest> x = formulaOf(a), y = formulaOf(b);
  if (y)
    y = times(*y, factor);
  std::optional<Greatest> sum = x && y ? added(*x, *y) : std::nullopt;
  bool cancels = sum && termsOf(*sum) < termsOf(*x) + termsOf(*y);
  return cancels ? std::optional(nameOf(*sum)) : std::nullopt;
}

bool isSameUnlessEmpty(StringRef a, StringRef b) {
  return lowestOf(b).value_or(-1) >= 0 && greatestName(b, "1") == a.str();
}

std::optional<int64_t> lowestDifference(StringRef a, StringRef b) {
  std::optional<Greatest> x = formulaOf(a), y = formulaOf(b);
  if (y)
    y = times(*y, -1);
  std::optional<Greatest> difference = x && y ? added(*x, *y) : std::nullopt;
  std::optional<int64_t> all;
  for (const Least &least : difference.value_or(Greatest())) {
    std::optional<int64_t> own = lowestOf(least.front());
    for (const Sum &sum : ArrayRef(least).drop_front())
      if (std::optional<int64_t> lowest = lowestOf(sum); lowest && own)
        own = std::min(*own, *lowest);
      else
        own = std::nullopt;
    if (own)
      all = std::max(all.value_or(*own), *own);
  }
  return all;
}

} // namespace onnxc
