// Binary floating point in integers, for machines that do not compute a format:
// every operation is unpack, compute, pack. Rounds to nearest, ties to even;
// knows subnormals and infinities; a NaN comes out quiet and without payload.
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef struct format {
  int fraction, exponent; // bits
} format;

static const format binary16 = {10, 5}, binary32 = {23, 8}, binary64 = {52, 11};

typedef enum kind { ZERO, FINITE, INFINITE, NOT_A_NUMBER } kind;

// A finite one is mantissa * 2^(exponent - 63), and the mantissa's highest bit
// is set. What a format holds leaves its lowest 11 bits empty: they have room
// for what is rounded, the last one for "more than that" (sticky).
typedef struct real {
  kind kind;
  bool isNegative;
  int exponent;
  uint64_t mantissa;
} real;

static inline real special(kind kind, bool isNegative) {
  return (real){kind, isNegative, 0, 0};
}

static inline real normal(bool isNegative, int exponent, uint64_t mantissa) {
  if (mantissa == 0)
    return special(ZERO, isNegative);
  int shift = __builtin_clzll(mantissa);
  return (real){FINITE, isNegative, exponent - shift, mantissa << shift};
}

static inline uint64_t shifted_sticky(uint64_t value, int by) {
  if (by == 0)
    return value;
  if (by > 63)
    return value != 0;
  return value >> by | (value << (64 - by) != 0);
}

// Packed --------------------------------------------------------------------

static inline uint64_t infinity_of(format as) {
  return ((1ull << as.exponent) - 1) << as.fraction;
}

static inline int bias_of(format as) { return (1 << (as.exponent - 1)) - 1; }

static inline real unpack(uint64_t bits, format as) {
  bool isNegative = bits >> (as.fraction + as.exponent) & 1;
  int exponent = (int)(bits >> as.fraction) & ((1 << as.exponent) - 1);
  uint64_t hidden = 1ull << as.fraction, fraction = bits & (hidden - 1);
  if (exponent == (1 << as.exponent) - 1)
    return special(fraction ? NOT_A_NUMBER : INFINITE, isNegative);
  uint64_t mantissa = exponent ? fraction | hidden : fraction;
  return normal(isNegative, exponent + !exponent - bias_of(as),
                mantissa << (63 - as.fraction));
}

static inline uint64_t pack(real x, format as) {
  uint64_t sign = (uint64_t)x.isNegative << (as.fraction + as.exponent);
  if (x.kind == ZERO)
    return sign;
  if (x.kind == NOT_A_NUMBER)
    return sign | infinity_of(as) | 1ull << (as.fraction - 1);
  int exponent = x.exponent + bias_of(as), drop = 63 - as.fraction;
  if (x.kind == INFINITE || exponent >= 1 << as.exponent)
    return sign | infinity_of(as);
  if (exponent < 1) { // subnormal
    x.mantissa = shifted_sticky(x.mantissa, 1 - exponent);
    exponent = 1;
  }
  uint64_t kept = x.mantissa >> drop, rest = x.mantissa << (64 - drop);
  uint64_t half = 1ull << 63;
  kept += rest > half || (rest == half && (kept & 1));
  // The hidden bit, or a carry into its place, counts the exponent up.
  uint64_t bits = ((uint64_t)(exponent - 1) << as.fraction) + kept;
  return sign | (bits < infinity_of(as) ? bits : infinity_of(as));
}

// Arithmetic ----------------------------------------------------------------

static inline bool is_smaller(real x, real y) {
  return x.exponent != y.exponent ? x.exponent < y.exponent
                                  : x.mantissa < y.mantissa;
}

static inline real sum(real x, real y) {
  if (x.kind == FINITE && y.kind == FINITE) {
    if (is_smaller(x, y)) {
      real larger = y;
      y = x;
      x = larger;
    }
    uint64_t a = x.mantissa >> 1; // room for a carry
    uint64_t b = shifted_sticky(y.mantissa >> 1, x.exponent - y.exponent);
    bool isDifference = x.isNegative != y.isNegative;
    uint64_t mantissa = isDifference ? a - b : a + b;
    return normal(x.isNegative && mantissa, x.exponent + 1, mantissa);
  }
  if (x.kind == ZERO && y.kind == ZERO)
    return special(ZERO, x.isNegative && y.isNegative);
  bool isUndefined =
      x.kind == INFINITE && y.kind == INFINITE && x.isNegative != y.isNegative;
  if (isUndefined)
    return special(NOT_A_NUMBER, false);
  return x.kind > y.kind ? x : y;
}

// The high half of a product, sticky.
static inline uint64_t high_product(uint64_t a, uint64_t b) {
  uint64_t ah = a >> 32, al = (uint32_t)a, bh = b >> 32, bl = (uint32_t)b;
  uint64_t low = al * bl, middle = ah * bl + (low >> 32);
  uint64_t other = al * bh + (uint32_t)middle;
  uint64_t rest = other << 32 | (uint32_t)low;
  return (ah * bh + (middle >> 32) + (other >> 32)) | (rest != 0);
}

static inline real product(real x, real y) {
  bool isNegative = x.isNegative != y.isNegative;
  if (x.kind == FINITE && y.kind == FINITE)
    return normal(isNegative, x.exponent + y.exponent + 1,
                  high_product(x.mantissa, y.mantissa));
  if (x.kind == NOT_A_NUMBER || y.kind == NOT_A_NUMBER ||
      (x.kind == INFINITE && y.kind == ZERO) ||
      (x.kind == ZERO && y.kind == INFINITE))
    return special(NOT_A_NUMBER, isNegative);
  bool isInfinite = x.kind == INFINITE || y.kind == INFINITE;
  return special(isInfinite ? INFINITE : ZERO, isNegative);
}

static inline real quotient(real x, real y) {
  bool isNegative = x.isNegative != y.isNegative;
  if (x.kind == NOT_A_NUMBER || y.kind == NOT_A_NUMBER ||
      (x.kind == y.kind && x.kind != FINITE))
    return special(NOT_A_NUMBER, isNegative);
  if (x.kind == ZERO || y.kind == INFINITE)
    return special(ZERO, isNegative);
  if (x.kind == INFINITE || y.kind == ZERO)
    return special(INFINITE, isNegative);
  enum { digits = 57 }; // the first one may be 0
  uint64_t rest = x.mantissa >> 1, by = y.mantissa >> 1, digit = 0;
  for (int i = 0; i < digits; ++i) {
    bool fits = rest >= by;
    rest = (fits ? rest - by : rest) << 1;
    digit = digit << 1 | fits;
  }
  return normal(isNegative, x.exponent - y.exponent,
                digit << (64 - digits) | (rest != 0));
}

static inline real square_root(real x) {
  if (x.kind == ZERO || x.kind == NOT_A_NUMBER)
    return x;
  if (x.isNegative)
    return special(NOT_A_NUMBER, true);
  if (x.kind == INFINITE)
    return x;
  enum { digits = 56 };
  // Two digits of the square, which is in [1, 4), make one of the root.
  bool isOdd = x.exponent & 1;
  uint64_t square = isOdd ? x.mantissa : x.mantissa >> 1, rest = 0, root = 0;
  for (int i = 0; i < digits; ++i) {
    rest = rest << 2 | square >> 62;
    square <<= 2;
    uint64_t step = root << 2 | 1;
    bool fits = rest >= step;
    rest = fits ? rest - step : rest;
    root = root << 1 | fits;
  }
  return normal(false, (x.exponent - isOdd) / 2,
                root << (64 - digits) | (rest != 0));
}

// Comparison ----------------------------------------------------------------

typedef enum order { LESS, EQUAL, GREATER, UNORDERED } order;

// Without their signs, numbers are in the order of their bits.
static inline order compare(uint64_t a, uint64_t b, format as) {
  uint64_t sign = 1ull << (as.fraction + as.exponent);
  int64_t x = (int64_t)(a & (sign - 1)), y = (int64_t)(b & (sign - 1));
  int64_t infinity = (int64_t)infinity_of(as);
  if (x > infinity || y > infinity)
    return UNORDERED;
  x = a & sign ? -x : x;
  y = b & sign ? -y : y;
  return x < y ? LESS : x > y ? GREATER : EQUAL;
}

// Integers ------------------------------------------------------------------

static inline real from_unsigned(uint64_t value) {
  return normal(false, 63, value);
}

static inline real from_signed(int64_t value) {
  return normal(value < 0, 63, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static inline uint64_t whole_part(real x, uint64_t largest) {
  if (x.kind == ZERO || x.kind == NOT_A_NUMBER || x.exponent < 0)
    return 0;
  if (x.kind == INFINITE || x.exponent > 63)
    return largest;
  uint64_t whole = x.mantissa >> (63 - x.exponent);
  return whole < largest ? whole : largest;
}

// What does not fit saturates, and a NaN gives 0, as the machines of this ABI
// do it that have an instruction.
static inline uint64_t to_unsigned(real x, int bits) {
  return x.isNegative ? 0 : whole_part(x, UINT64_MAX >> (64 - bits));
}

static inline int64_t to_signed(real x, int bits) {
  uint64_t size = whole_part(x, (UINT64_MAX >> (65 - bits)) + x.isNegative);
  return (int64_t)(x.isNegative ? -size : size);
}
