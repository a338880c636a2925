// C's math functions for objects that have no C library. Loops that matter are
// vector code long before; this is what is left: double precision, rare
// functions, scalars. Errors stay below 3 ULP in double precision; the single
// precision forms compute in double and are rounded once.
#include <stdbool.h>
#include <stdint.h>

#define NAN_ __builtin_nan("")
#define INF_ __builtin_inf()

static const double ln2_high = 0x1.62e42fefa38p-1, // 11 bits of room for k
    ln2_low = 0x1.ef35793c7673p-45;
static const double ln2 = 0x1.62e42fefa39efp-1;
static const double pi = 0x1.921fb54442d18p+1;
static const double half_pi = 0x1.921fb54442d18p+0,
                    half_pi_low = 0x1.1a62633145c07p-54;

static uint64_t bits_of(double x) {
  union {
    double value;
    uint64_t bits;
  } u = {x};
  return u.bits;
}
static double from_bits(uint64_t bits) {
  union {
    uint64_t bits;
    double value;
  } u = {bits};
  return u.value;
}
static bool is_nan(double x) { return x != x; }
static double absolute(double x) { return from_bits(bits_of(x) << 1 >> 1); }
static double with_sign(double x, double sign) {
  return from_bits((bits_of(x) << 1 >> 1) | (bits_of(sign) >> 63 << 63));
}
// coefficients from the highest power down
static double polynomial(double x, const double *c, int count) {
  double sum = c[0];
  for (int i = 1; i < count; ++i)
    sum = sum * x + c[i];
  return sum;
}

// Rounding -------------------------------------------------------------------

double trunc(double x) {
  int exponent = (int)(bits_of(x) >> 52 & 0x7ff) - 1023;
  if (exponent >= 52)
    return x;
  if (exponent < 0)
    return with_sign(0, x);
  return from_bits(bits_of(x) & ~(UINT64_MAX >> 12 >> exponent));
}
double floor(double x) {
  double whole = trunc(x);
  return whole > x ? whole - 1 : with_sign(whole, x);
}
double ceil(double x) {
  double whole = trunc(x);
  return whole < x ? with_sign(whole + 1, x) : whole;
}
double round(double x) {
  double whole = trunc(x);
  double rest = absolute(x - whole);
  return rest >= 0.5 ? whole + with_sign(1, x) : whole;
}
double roundeven(double x) {
  double whole = trunc(x), rest = absolute(x - whole);
  if (rest < 0.5 || is_nan(x))
    return whole;
  bool isOdd = whole * 0.5 != trunc(whole * 0.5);
  return rest > 0.5 || isOdd ? whole + with_sign(1, x) : whole;
}
double rint(double x) { return roundeven(x); }
double nearbyint(double x) { return roundeven(x); }

float truncf(float x) {
  return x > -0x1p23f && x < 0x1p23f ? __builtin_copysignf((float)(int32_t)x, x)
                                     : x;
}
float floorf(float x) {
  float whole = truncf(x);
  return whole > x ? whole - 1 : whole;
}
float ceilf(float x) {
  float whole = truncf(x);
  return whole < x ? __builtin_copysignf(whole + 1, x) : whole;
}
float roundf(float x) {
  float whole = truncf(x), rest = x - whole;
  rest = rest < 0 ? -rest : rest;
  return rest >= 0.5f ? whole + __builtin_copysignf(1, x) : whole;
}
float roundevenf(float x) {
  if (!(x > -0x1p23f && x < 0x1p23f))
    return x;
  int32_t whole = (int32_t)x;
  float rest = x - (float)whole;
  rest = rest < 0 ? -rest : rest;
  if (rest > 0.5f || (rest == 0.5f && whole % 2 != 0))
    whole += x < 0 ? -1 : 1;
  return __builtin_copysignf((float)whole, x);
}
float rintf(float x) { return roundevenf(x); }
float nearbyintf(float x) { return roundevenf(x); }
float fmaxf(float a, float b) { return a != a || a < b ? b : a; }
float fminf(float a, float b) { return a != a || b < a ? b : a; }
double fmax(double a, double b) { return a != a || a < b ? b : a; }
double fmin(double a, double b) { return a != a || b < a ? b : a; }

// Remainder: exact, one bit at a time.
double fmod(double x, double y) {
  uint64_t a = bits_of(x) << 1 >> 1, b = bits_of(y) << 1 >> 1;
  const uint64_t infinite = 0x7ffull << 52, hidden = 1ull << 52;
  if (a >= infinite || b > infinite || b == 0)
    return NAN_;
  if (a < b)
    return x;
  int exponentA = (int)(a >> 52), exponentB = (int)(b >> 52);
  a = exponentA ? (a & (hidden - 1)) | hidden : a;
  b = exponentB ? (b & (hidden - 1)) | hidden : b;
  exponentA += !exponentA;
  exponentB += !exponentB;
  for (; exponentA > exponentB; --exponentA) {
    a = a >= b ? a - b : a;
    a <<= 1;
  }
  a = a >= b ? a - b : a;
  if (a == 0)
    return with_sign(0, x);
  for (; a < hidden && exponentB > 1; --exponentB)
    a <<= 1;
  if (a >= hidden)
    a = (a & (hidden - 1)) | (uint64_t)exponentB << 52;
  return with_sign(from_bits(a), x);
}
float fmodf(float x, float y) { return (float)fmod(x, y); }

// Exponentials and logarithms ------------------------------------------------

static double scale(double x, int exponent) {
  for (; exponent > 1000; exponent -= 1000)
    x *= 0x1p1000;
  for (; exponent < -1000; exponent += 1000)
    x *= 0x1p-1000;
  return x * from_bits((uint64_t)(exponent + 1023) << 52);
}

// e^(high + low) - 1 over high, both small: Taylor to the 13th power.
static double exp_tail(double r) {
  static const double c[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800,
                             1.0 / 3628800,    1.0 / 362880,    1.0 / 40320,
                             1.0 / 5040,       1.0 / 720,       1.0 / 120,
                             1.0 / 24,         1.0 / 6,         0.5};
  return r * r * polynomial(r, c, 12);
}

static double exp_of_sum(double high, double low) {
  if (is_nan(high))
    return high;
  if (high > 710)
    return INF_;
  if (high < -746)
    return 0;
  double k = roundeven(high * 0x1.71547652b82fep+0);
  double r = high - k * ln2_high, error = low - k * ln2_low;
  double small = r + error;
  return scale(1 + (r + (exp_tail(small) + error)), (int)k);
}

double exp(double x) { return exp_of_sum(x, 0); }
double exp2(double x) {
  if (!(x < 1025))
    return x * INF_;
  if (x < -1080)
    return 0;
  double whole = roundeven(x), rest = (x - whole);
  double high = rest * 0x1.62e42fefa39efp-1;
  return scale(exp_of_sum(high, rest * 0x1.abc9e3b39803fp-56), (int)whole);
}
double expm1(double x) {
  if (x == 0)
    return x;
  if (absolute(x) < 0.5) {
    double sum = 0;
    for (int i = 17; i > 1; --i)
      sum = (sum + 1) * x / i;
    return x + x * sum;
  }
  return exp(x) - 1;
}

// x = 2^k * (1 + f), f in [sqrt(1/2) - 1, sqrt(2) - 1]
static double split(double x, int *k) {
  uint64_t bits = bits_of(x);
  *k = 0;
  if (bits < 1ull << 52) {
    bits = bits_of(x * 0x1p54);
    *k = -54;
  }
  uint64_t shifted = bits - 0x3fe6a09e667f3bcdull; // sqrt(1/2)
  *k += (int)((int64_t)shifted >> 52);
  return from_bits((shifted & (UINT64_MAX >> 12)) + 0x3fe6a09e667f3bcdull) - 1;
}

// 2 atanh(s) / s - 2
static double log_tail(double square) {
  static const double c[] = {2.0 / 27, 2.0 / 25, 2.0 / 23, 2.0 / 21, 2.0 / 19,
                             2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9,
                             2.0 / 7,  2.0 / 5,  2.0 / 3};
  return square * polynomial(square, c, 13);
}

double log(double x) {
  if (!(x > 0))
    return x == 0 ? -INF_ : NAN_;
  if (x == INF_)
    return x;
  int k;
  double f = split(x, &k), s = f / (2 + f), half = 0.5 * f * f;
  return k * ln2_high -
         ((half - (s * (half + log_tail(s * s)) + k * ln2_low)) - f);
}
double log2(double x) {
  if (!(x > 0) || x == INF_)
    return log(x);
  int k;
  double f = split(x, &k);
  return k + log(1 + f) * 0x1.71547652b82fep+0;
}
double log10(double x) { return log(x) * 0x1.bcb7b1526e50ep-2; }
double log1p(double x) {
  double u = 1 + x;
  if (u == 1 || !(u > 0) || u == INF_)
    return u > 0 ? x : log(u);
  return log(u) + (x - (u - 1)) / u;
}

// Sums and products with their rounding error.
typedef struct pair {
  double high, low;
} pair;

static pair fast_sum(double a, double b) {
  double sum = a + b;
  return (pair){sum, b - (sum - a)};
}
static pair sum(double a, double b) {
  double s = a + b, part = s - a;
  return (pair){s, (a - (s - part)) + (b - part)};
}
static pair product(double a, double b) {
  double ca = a * 0x1.0000002p27, cb = b * 0x1.0000002p27;
  double ah = ca - (ca - a), al = a - ah, bh = cb - (cb - b), bl = b - bh;
  double p = a * b;
  return (pair){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static pair log_pair(double x) {
  int k;
  double f = split(x, &k);
  pair below = sum(2, f);
  double s = f / below.high;
  pair back = product(s, below.high);
  double rest = ((f - back.high) - back.low - s * below.low) / below.high;
  double tail = s * log_tail(s * s);
  pair whole = fast_sum(k * ln2_high, 2 * s);
  if (k == 0)
    whole = (pair){2 * s, 0};
  return fast_sum(whole.high, whole.low + (2 * rest + tail + k * ln2_low));
}

double pow(double x, double y) {
  if (y == 0 || x == 1)
    return 1;
  if (is_nan(x) || is_nan(y))
    return NAN_;
  bool isInteger = trunc(y) == y;
  bool isOdd = isInteger && absolute(y) < 0x1p53 && trunc(y * 0.5) != y * 0.5;
  double size = absolute(x);
  if (absolute(y) == INF_)
    return size == 1 ? 1 : (size > 1) == (y > 0) ? INF_ : 0;
  double sign = isOdd ? with_sign(1, x) : 1;
  if (size == 0)
    return sign * (y < 0 ? INF_ : 0);
  if (size == INF_)
    return sign * (y < 0 ? 0 : INF_);
  if (x < 0 && !isInteger)
    return NAN_;
  if (absolute(y) > 0x1p64)
    return size == 1 ? 1 : sign * ((size > 1) == (y > 0) ? INF_ : 0);
  pair logarithm = log_pair(size);
  pair power = product(logarithm.high, y);
  return sign * exp_of_sum(power.high, power.low + logarithm.low * y);
}

double cbrt(double x) {
  if (x == 0 || is_nan(x) || absolute(x) == INF_)
    return x;
  double size = absolute(x), root = exp(log(size) / 3);
  root -= (root - size / (root * root)) / 3;
  return with_sign(root, x);
}

// Hyperbolic -----------------------------------------------------------------

double sinh(double x) {
  double size = absolute(x), t;
  if (size > 22) {
    t = exp(size * 0.5);
    return with_sign(0.5 * t * t, x);
  }
  t = expm1(size);
  return with_sign(0.5 * (t + t / (t + 1)), x);
}
double cosh(double x) {
  double half = exp(absolute(x) * 0.5);
  if (absolute(x) > 22)
    return 0.5 * half * half;
  double e = exp(absolute(x));
  return 0.5 * (e + 1 / e);
}
double tanh(double x) {
  double size = absolute(x);
  if (size > 22)
    return with_sign(1, x);
  double t = expm1(2 * size);
  return is_nan(x) ? x : with_sign(t / (t + 2), x);
}
double asinh(double x) {
  double size = absolute(x);
  if (size > 0x1p28)
    return with_sign(log(size) + ln2, x);
  double square = size * size;
  return with_sign(log1p(size + square / (1 + __builtin_sqrt(1 + square))), x);
}
double acosh(double x) {
  if (x > 0x1p28)
    return log(x) + ln2;
  double t = x - 1;
  return t < 0 ? NAN_ : log1p(t + __builtin_sqrt(2 * t + t * t));
}
double atanh(double x) {
  double size = absolute(x);
  return with_sign(0.5 * log1p(2 * size / (1 - size)), x);
}

// Trigonometric --------------------------------------------------------------

// 2/pi, 24 bits to a word.
static const uint32_t two_over_pi[] = {
    0xA2F983, 0x6E4E44, 0x1529FC, 0x2757D1, 0xF534DD, 0xC0DB62, 0x95993C,
    0x439041, 0xFE5163, 0xABDEBB, 0xC561B7, 0x246E3A, 0x424DD2, 0xE00649,
    0x2EEA09, 0xD1921C, 0xFE1DEB, 0x1CB129, 0xA73EE8, 0x8235F5, 0x2EBB44,
    0x84E99C, 0x7026B4, 0x5F7E41, 0x3991D6, 0x398353, 0x39F49C, 0x845F8B,
    0xBDF928, 0x3B1FF8, 0x97FFDE, 0x05980F, 0xEF2F11, 0x8B5A0A, 0x6D1F6D,
    0x367ECF, 0x27CB09, 0xB74F46, 0x3F669E, 0x5FEA2D, 0x7527BA, 0xC7EBE5,
    0xF17B3D, 0x0739F7, 0x8A5292, 0x6BFB5F, 0x8D5D08, 0x560330, 0x46FC7B,
    0x6BABF0};

// x = quadrant * pi/2 + r for large x: a window of 2/pi times the mantissa.
static int reduce_large(double x, pair *r) {
  int exponent = (int)(bits_of(x) >> 52 & 0x7ff) - 1075; // x = mantissa * 2^e
  uint64_t mantissa = (bits_of(x) & (UINT64_MAX >> 12)) | 1ull << 52;
  int first = exponent > 26 ? (exponent - 2) / 24 : 0; // skip whole turns
  // Digits of mantissa * 2/pi in base 2^24, most significant first.
  uint64_t digits[10] = {0};
  uint64_t parts[3] = {mantissa >> 48, mantissa >> 24 & 0xffffff,
                       mantissa & 0xffffff};
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 3; ++j)
      digits[i + j] += parts[j] * two_over_pi[first + i];
  for (int i = 9; i > 0; --i) {
    digits[i - 1] += digits[i] >> 24;
    digits[i] &= 0xffffff;
  }
  // Weight of digits[i]: 2^(exponent + 48 - 24 * (first + i + 1)).
  double whole = 0, sum_high = 0, sum_low = 0;
  int quadrant = 0;
  for (int i = 0; i < 9; ++i) {
    int weight = exponent + 48 - 24 * (first + i + 1);
    if (weight >= 2)
      continue;
    double value = scale((double)digits[i], weight);
    double integer = trunc(value * 0.25) * 4; // whole turns
    value -= integer;
    pair added = sum(sum_high, value);
    sum_high = added.high;
    sum_low += added.low;
  }
  whole = roundeven(sum_high);
  quadrant = (int)(whole - 4 * trunc(whole * 0.25));
  pair fraction = fast_sum(sum_high - whole, sum_low);
  pair angle = product(fraction.high, half_pi);
  *r = fast_sum(angle.high, angle.low + fraction.high * half_pi_low +
                                fraction.low * half_pi);
  return quadrant & 3;
}

static int reduce(double x, pair *r) {
  double size = absolute(x);
  if (size < 0x1.921fb54442d18p-1) {
    *r = (pair){x, 0};
    return 0;
  }
  int quadrant;
  if (size < 0x1p19) {
    // pi/2 in three parts of 33 bits: products with k are exact.
    double k = roundeven(size * 0x1.45f306dc9c883p-1);
    double high = size - k * 0x1.921fb544p+0;
    pair middle = sum(high, -k * 0x1.0b4611a6p-34);
    *r = fast_sum(middle.high, middle.low - k * 0x1.3198a2e037073p-69);
    quadrant = (int)k & 3;
  } else {
    quadrant = reduce_large(size, r);
  }
  if (x < 0) {
    r->high = -r->high;
    r->low = -r->low;
    quadrant = -quadrant & 3;
  }
  return quadrant;
}

static double kernel_sin(pair r) {
  static const double c[] = {-1.0 / 121645100408832000,
                             1.0 / 355687428096000,
                             -1.0 / 1307674368000,
                             1.0 / 6227020800,
                             -1.0 / 39916800,
                             1.0 / 362880,
                             -1.0 / 5040,
                             1.0 / 120,
                             -1.0 / 6};
  double square = r.high * r.high;
  double tail = r.high * square * polynomial(square, c, 9);
  return r.high + (tail + r.low * (1 - 0.5 * square));
}
static double kernel_cos(pair r) {
  static const double c[] = {1.0 / 2432902008176640000,
                             -1.0 / 6402373705728000,
                             1.0 / 20922789888000,
                             -1.0 / 87178291200,
                             1.0 / 479001600,
                             -1.0 / 3628800,
                             1.0 / 40320,
                             -1.0 / 720,
                             1.0 / 24};
  double square = r.high * r.high, half = 0.5 * square, one = 1 - half;
  return one + (((1 - one) - half) +
                (square * square * polynomial(square, c, 9) - r.high * r.low));
}
double sin(double x) {
  pair r;
  if (x == 0 || !(absolute(x) < INF_))
    return x == 0 ? x : NAN_;
  int quadrant = reduce(x, &r);
  double value = quadrant & 1 ? kernel_cos(r) : kernel_sin(r);
  return quadrant & 2 ? -value : value;
}
double cos(double x) {
  pair r;
  if (!(absolute(x) < INF_))
    return NAN_;
  int quadrant = reduce(x, &r);
  double value = quadrant & 1 ? kernel_sin(r) : kernel_cos(r);
  return quadrant == 1 || quadrant == 2 ? -value : value;
}
double tan(double x) {
  pair r;
  if (x == 0 || !(absolute(x) < INF_))
    return x == 0 ? x : NAN_;
  return reduce(x, &r) & 1 ? -kernel_cos(r) / kernel_sin(r)
                           : kernel_sin(r) / kernel_cos(r);
}

double atan(double x) {
  double size = absolute(x), base = 0, base_low = 0, t = size;
  if (size > 2.4375) {
    base = half_pi, base_low = half_pi_low, t = -1 / size;
  } else if (size > 1.1875) {
    base = 0x1.f730bd281f69bp-1, base_low = 0x1.007887af0cbbdp-56; // atan 1.5
    t = (size - 1.5) / (1 + 1.5 * size);
  } else if (size > 0.6875) {
    base = half_pi / 2, base_low = half_pi_low / 2;
    t = (size - 1) / (1 + size);
  } else if (size > 0.4375) {
    base = 0x1.dac670561bb4fp-2, base_low = 0x1.a2b7f222f65e2p-56; // atan 0.5
    t = (size - 0.5) / (1 + 0.5 * size);
  }
  double square = t * t, sum = 0;
  for (int i = 47; i > 1; i -= 2)
    sum = (i % 4 == 3 ? -1.0 : 1.0) / i + square * sum;
  double value = base - ((-(t * square * sum) - base_low) - t);
  return is_nan(x) ? x : with_sign(value, x);
}
double asin(double x) {
  double size = absolute(x);
  if (!(size <= 1))
    return NAN_;
  if (size < 0.5)
    return atan(x / __builtin_sqrt((1 - x) * (1 + x)));
  double root = __builtin_sqrt((1 - size) * 0.5);
  double angle = size == 1 ? 0 : atan(root / __builtin_sqrt((1 + size) * 0.5));
  return with_sign((half_pi - 2 * angle) + half_pi_low, x);
}
double acos(double x) {
  if (!(absolute(x) <= 1))
    return NAN_;
  if (x == -1)
    return pi;
  return 2 * atan(__builtin_sqrt((1 - x) / (1 + x)));
}
double atan2(double y, double x) {
  if (is_nan(x) || is_nan(y))
    return NAN_;
  bool isLeft = bits_of(x) >> 63;
  double angle;
  if (y == 0)
    angle = 0;
  else if (absolute(x) == INF_)
    angle = absolute(y) == INF_ ? half_pi / 2 : 0;
  else
    angle = x == 0 ? half_pi : atan(absolute(y / x));
  if (isLeft)
    angle = pi - (angle - 2 * half_pi_low);
  return with_sign(angle, y);
}

// Error function -------------------------------------------------------------

// Continued fraction of erfc for x >= 1.5, evaluated from the end.
static double erfc_fraction(double x) {
  double fraction = 0;
  for (int i = 120; i > 0; --i)
    fraction = i * 0.5 / (x + fraction);
  pair square = product(x, x);
  return exp_of_sum(-square.high, -square.low) * 0x1.20dd750429b6dp-1 /
         (x + fraction);
}
double erf(double x) {
  double size = absolute(x);
  if (size > 6)
    return with_sign(1, x);
  if (size >= 2)
    return with_sign(1 - erfc_fraction(size), x);
  double sum = 0;
  for (int i = 60; i > 0; --i)
    sum = (sum + 1) * (2 * size * size) / (2 * i + 1);
  return x * (1 + sum) * exp(-size * size) * 0x1.20dd750429b6dp+0;
}
double erfc(double x) {
  if (x > 28)
    return 0;
  return x >= 1.5 ? erfc_fraction(x) : 1 - erf(x);
}

// Single precision -----------------------------------------------------------

#define ROUNDED(name)                                                          \
  float name##f(float x) { return (float)name(x); }
ROUNDED(acos)
ROUNDED(acosh)
ROUNDED(asin)
ROUNDED(asinh)
ROUNDED(atan)
ROUNDED(atanh)
ROUNDED(cbrt)
ROUNDED(cos)
ROUNDED(cosh)
ROUNDED(erf)
ROUNDED(erfc)
ROUNDED(exp)
ROUNDED(exp2)
ROUNDED(expm1)
ROUNDED(log)
ROUNDED(log10)
ROUNDED(log1p)
ROUNDED(log2)
ROUNDED(sin)
ROUNDED(sinh)
ROUNDED(tan)
ROUNDED(tanh)
float powf(float x, float y) { return (float)pow(x, y); }
float atan2f(float y, float x) { return (float)atan2(y, x); }
float fmaf(float x, float y, float z) {
  // The product is exact; the sum is rounded to odd so that the second
  // rounding is the only one.
  double exact = (double)x * y;
  pair added = sum(exact, z);
  uint64_t bits = bits_of(added.high);
  if (added.low != 0 && added.low == added.low && !(bits & 1))
    bits += (added.low > 0) == (added.high > 0) ? 1 : -1;
  return (float)from_bits(bits);
}
