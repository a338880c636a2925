// The support library's floating point in integers, bit by bit against this
// machine's.

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

typedef uint64_t Division __attribute__((vector_size(16)));

#define DECLARE(x, bits)                                                       \
  bits __aeabi_##x##add(bits, bits);                                           \
  bits __aeabi_##x##sub(bits, bits);                                           \
  bits __aeabi_##x##mul(bits, bits);                                           \
  bits __aeabi_##x##div(bits, bits);                                           \
  int __aeabi_##x##cmpeq(bits, bits);                                          \
  int __aeabi_##x##cmplt(bits, bits);                                          \
  int __aeabi_##x##cmple(bits, bits);                                          \
  int __aeabi_##x##cmpgt(bits, bits);                                          \
  int __aeabi_##x##cmpge(bits, bits);                                          \
  int __aeabi_##x##cmpun(bits, bits);                                          \
  int32_t __aeabi_##x##2iz(bits);                                              \
  uint32_t __aeabi_##x##2uiz(bits);                                            \
  int64_t __aeabi_##x##2lz(bits);                                              \
  uint64_t __aeabi_##x##2ulz(bits);                                            \
  bits __aeabi_i2##x(int32_t);                                                 \
  bits __aeabi_ui2##x(uint32_t);                                               \
  bits __aeabi_l2##x(int64_t);                                                 \
  bits __aeabi_ul2##x(uint64_t);

extern "C" {
DECLARE(f, uint32_t)
DECLARE(d, uint64_t)
uint64_t __aeabi_f2d(uint32_t);
uint32_t __aeabi_d2f(uint64_t);
uint32_t __aeabi_h2f(uint32_t);
uint32_t __aeabi_f2h(uint32_t);
uint32_t __aeabi_d2h(uint64_t);
double arm_sqrt(double);
float arm_sqrtf(float);
Division __aeabi_uldivmod(uint64_t, uint64_t);
Division __aeabi_ldivmod(int64_t, int64_t);
}

namespace {

// Exponents near the limits of every format and integer, mantissas near what
// each of them rounds: what carries, vanishes and saturates lies here.
template <typename Bits> std::vector<Bits> edges() {
  constexpr bool isDouble = sizeof(Bits) == 8;
  constexpr int fraction = isDouble ? 52 : 23;
  constexpr Bits one = 1, hidden = one << fraction;
  const int exponents[] = {0,    1,    2,    52,   126,  127,  128,  150,  157,
                           158,  159,  189,  190,  191,  253,  254,  255,  873,
                           874,  896,  897,  898,  998,  1008, 1022, 1023, 1024,
                           1038, 1039, 1053, 1054, 1055, 1075, 1076, 1085, 1086,
                           1087, 1150, 1151, 2045, 2046, 2047};
  const Bits mantissas[] = {0,
                            1,
                            2,
                            3,
                            hidden / 2 - 1,
                            hidden / 2,
                            hidden / 2 + 1,
                            hidden - (one << (fraction - 10)),
                            hidden - (one << (fraction - 11)),
                            hidden - (one << (isDouble ? 29 : 1)),
                            hidden - (one << 28) % hidden,
                            (one << 28) % hidden,
                            hidden - 2,
                            hidden - 1};
  std::vector<Bits> all;
  for (int exponent : exponents)
    for (Bits mantissa : mantissas)
      if (exponent <= (isDouble ? 2047 : 255))
        for (Bits sign : {0, 1})
          all.push_back(sign << (sizeof(Bits) * 8 - 1) |
                        Bits(exponent) << fraction | (mantissa & (hidden - 1)));
  return all;
}

// Counts what differs and keeps the first operands: millions of CHECKs would
// take minutes.
template <typename Bits> struct Differences {
  size_t count = 0;
  Bits a = 0, b = 0;

  void expect(bool isSame, Bits left, Bits right = 0) {
    if (!isSame && count++ == 0)
      a = left, b = right;
  }
  void check() const {
    INFO("first: " << std::hex << uint64_t(a) << " " << uint64_t(b));
    CHECK(count == 0);
  }
};

// Any NaN is as good as another one.
template <typename Real, typename Bits> bool same(Bits actual, Real expected) {
  Real value = std::bit_cast<Real>(actual);
  return actual == std::bit_cast<Bits>(expected) ||
         (std::isnan(value) && std::isnan(expected));
}

template <typename Integer, typename Real> Integer saturated(Real x) {
  using Limits = std::numeric_limits<Integer>;
  if (std::isnan(x))
    return 0;
  if (x >= std::ldexp(Real(1), Limits::digits))
    return Limits::max();
  return x <= Real(Limits::min()) ? Limits::min() : Integer(x);
}

#define FORMAT(name, x, Real, Bits)                                            \
  struct name {                                                                \
    using R = Real;                                                            \
    using B = Bits;                                                            \
    static constexpr auto add = __aeabi_##x##add, sub = __aeabi_##x##sub,      \
                          mul = __aeabi_##x##mul, div = __aeabi_##x##div;      \
    static constexpr auto eq = __aeabi_##x##cmpeq, lt = __aeabi_##x##cmplt,    \
                          le = __aeabi_##x##cmple, gt = __aeabi_##x##cmpgt,    \
                          ge = __aeabi_##x##cmpge, un = __aeabi_##x##cmpun;    \
    static constexpr auto iz = __aeabi_##x##2iz;                               \
    static constexpr auto uiz = __aeabi_##x##2uiz;                             \
    static constexpr auto lz = __aeabi_##x##2lz;                               \
    static constexpr auto ulz = __aeabi_##x##2ulz;                             \
    static constexpr auto i2 = __aeabi_i2##x;                                  \
    static constexpr auto ui2 = __aeabi_ui2##x;                                \
    static constexpr auto l2 = __aeabi_l2##x;                                  \
    static constexpr auto ul2 = __aeabi_ul2##x;                                \
  };
FORMAT(Single, f, float, uint32_t)
FORMAT(Double, d, double, uint64_t)

template <typename F, typename Visit> void forPairs(Visit visit) {
  using Bits = typename F::B;
  std::vector<Bits> some = edges<Bits>();
  for (Bits a : some)
    for (Bits b : some)
      visit(a, b);
  std::mt19937_64 random(1);
  constexpr int fraction = sizeof(Bits) == 8 ? 52 : 23;
  for (int i = 0; i < 400000; ++i) {
    Bits a = Bits(random()), b = Bits(random());
    visit(a, b);
    // Exponents close to each other: sums that cancel.
    visit(a, a ^ (b & ((Bits(16) << fraction) - 1)) ^
                 (Bits(i & 1) << (sizeof(Bits) * 8 - 1)));
  }
}

} // namespace

TEMPLATE_TEST_CASE("arithmetic in integers is this machine's", "", Single,
                   Double) {
  using F = TestType;
  using Real = typename F::R;
  using Bits = typename F::B;
  Differences<Bits> add, sub, mul, div;
  forPairs<F>([&](Bits a, Bits b) {
    volatile Real x = std::bit_cast<Real>(a), y = std::bit_cast<Real>(b);
    add.expect(same<Real>(F::add(a, b), x + y), a, b);
    sub.expect(same<Real>(F::sub(a, b), x - y), a, b);
    mul.expect(same<Real>(F::mul(a, b), x * y), a, b);
    div.expect(same<Real>(F::div(a, b), x / y), a, b);
  });
  for (auto *operation : {&add, &sub, &mul, &div})
    operation->check();
}

TEMPLATE_TEST_CASE("comparisons in integers are this machine's", "", Single,
                   Double) {
  using F = TestType;
  using Real = typename F::R;
  using Bits = typename F::B;
  Differences<Bits> differences;
  forPairs<F>([&](Bits a, Bits b) {
    Real x = std::bit_cast<Real>(a), y = std::bit_cast<Real>(b);
    differences.expect(F::eq(a, b) == (x == y) && F::lt(a, b) == (x < y) &&
                           F::le(a, b) == (x <= y) && F::gt(a, b) == (x > y) &&
                           F::ge(a, b) == (x >= y) &&
                           F::un(a, b) == std::isunordered(x, y),
                       a, b);
  });
  differences.check();
}

TEMPLATE_TEST_CASE("conversions to integers truncate and saturate", "", Single,
                   Double) {
  using F = TestType;
  using Bits = typename F::B;
  Differences<Bits> differences;
  forPairs<F>([&](Bits a, Bits) {
    auto x = std::bit_cast<typename F::R>(a);
    differences.expect(F::iz(a) == saturated<int32_t>(x) &&
                           F::uiz(a) == saturated<uint32_t>(x) &&
                           F::lz(a) == saturated<int64_t>(x) &&
                           F::ulz(a) == saturated<uint64_t>(x),
                       a);
  });
  differences.check();
}

TEMPLATE_TEST_CASE("conversions of integers round", "", Single, Double) {
  using F = TestType;
  using Real = typename F::R;
  Differences<uint64_t> differences;
  auto visit = [&](uint64_t a) {
    differences.expect(same<Real>(F::i2(int32_t(a)), Real(int32_t(a))) &&
                           same<Real>(F::ui2(uint32_t(a)), Real(uint32_t(a))) &&
                           same<Real>(F::l2(int64_t(a)), Real(int64_t(a))) &&
                           same<Real>(F::ul2(a), Real(a)),
                       a);
  };
  std::mt19937_64 random(1);
  for (int bits = 0; bits < 64; ++bits)
    for (int64_t near = -600; near <= 600; ++near)
      visit((uint64_t(1) << bits) + uint64_t(near));
  for (int i = 0; i < 1000000; ++i)
    visit(random() >> (i % 64));
  differences.check();
}

TEST_CASE("conversions between formats round once") {
  Differences<uint64_t> narrower;
  forPairs<Double>([&](uint64_t a, uint64_t) {
    narrower.expect(
        same<float>(__aeabi_d2f(a), float(std::bit_cast<double>(a))), a);
  });
  narrower.check();
  Differences<uint32_t> wider;
  forPairs<Single>([&](uint32_t a, uint32_t) {
    wider.expect(same<double>(__aeabi_f2d(a), double(std::bit_cast<float>(a))),
                 a);
  });
  wider.check();
}

// Between two neighbours of 16 bits: their middle goes to the even one, and
// what is next to the middle to the nearer one.
TEST_CASE("conversions to half precision round to the nearest") {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    int exponent = int(bits >> 10);
    float low = std::ldexp(float((bits & 1023) + (exponent ? 1024u : 0u)),
                           std::max(exponent, 1) - 25);
    float step = std::ldexp(1.0f, std::max(exponent, 1) - 25);
    REQUIRE(std::bit_cast<float>(__aeabi_h2f(bits)) == low);
    REQUIRE(std::bit_cast<float>(__aeabi_h2f(bits | 0x8000)) == -low);
    float middle = low + step / 2;
    uint32_t even = bits + (bits & 1);
    REQUIRE(__aeabi_f2h(std::bit_cast<uint32_t>(low)) == bits);
    REQUIRE(__aeabi_f2h(std::bit_cast<uint32_t>(middle)) == even);
    REQUIRE(__aeabi_f2h(std::bit_cast<uint32_t>(-middle)) == (even | 0x8000));
    REQUIRE(__aeabi_d2h(std::bit_cast<uint64_t>(double(middle))) == even);
    double above = std::nextafter(double(middle), 1e9);
    double below = std::nextafter(double(middle), 0);
    REQUIRE(__aeabi_d2h(std::bit_cast<uint64_t>(above)) == bits + 1);
    REQUIRE(__aeabi_d2h(std::bit_cast<uint64_t>(below)) == bits);
  }
  CHECK(std::isnan(std::bit_cast<float>(__aeabi_h2f(0x7c01))));
  CHECK(std::isinf(std::bit_cast<float>(__aeabi_h2f(0xfc00))));
  CHECK(__aeabi_f2h(std::bit_cast<uint32_t>(1e9f)) == 0x7c00);
}

TEST_CASE("square roots in integers are this machine's") {
  Differences<uint64_t> doubles;
  forPairs<Double>([&](uint64_t a, uint64_t) {
    double x = std::bit_cast<double>(a);
    uint64_t root = std::bit_cast<uint64_t>(arm_sqrt(x));
    doubles.expect(same<double>(root, std::sqrt(x)), a);
  });
  doubles.check();
  Differences<uint32_t> singles;
  forPairs<Single>([&](uint32_t a, uint32_t) {
    float x = std::bit_cast<float>(a);
    uint32_t root = std::bit_cast<uint32_t>(arm_sqrtf(x));
    singles.expect(same<float>(root, std::sqrt(x)), a);
  });
  singles.check();
}

TEST_CASE("division of 64 bits in steps is this machine's") {
  Differences<uint64_t> differences;
  auto visit = [&](uint64_t a, uint64_t b) {
    if (b == 0)
      return;
    Division whole = __aeabi_uldivmod(a, b);
    differences.expect(whole[0] == a / b && whole[1] == a % b, a, b);
    if (b == UINT64_MAX) // overflows here
      return;
    int64_t x = int64_t(a), y = int64_t(b);
    Division part = __aeabi_ldivmod(x, y);
    differences.expect(part[0] == uint64_t(x / y) && part[1] == uint64_t(x % y),
                       a, b);
  };
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000000; ++i)
    visit(random() >> (random() % 64), random() >> (random() % 64));
  for (uint64_t a : {0ull, 1ull, 1ull << 32, 1ull << 63, ~0ull, ~0ull - 1})
    for (uint64_t b : {1ull, 2ull, 1ull << 32, 1ull << 63, ~0ull - 1, ~0ull})
      visit(a, b);
  differences.check();
}
