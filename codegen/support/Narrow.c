// Conversions to and from 16 bits by the names that LLVM calls them. Rounding
// to single precision first would round twice, hence "to odd" in between.
#include <stdint.h>

#if __SIZEOF_POINTER__ == 8

static float to_odd(double x) {
  float nearest = (float)x;
  union {
    float value;
    uint32_t bits;
  } u = {nearest};
  double error = x - (double)nearest;
  if (error != 0 && error == error && !(u.bits & 1))
    u.bits += (error > 0) == (nearest > 0) ? 1 : -1;
  return u.value;
}

static uint16_t half_bits(float x) {
  union {
    float value;
    uint32_t bits;
  } u = {x};
  uint32_t sign = u.bits >> 16 & 0x8000, size = u.bits & 0x7fffffff;
  if (size > 0x7f800000)
    return (uint16_t)(sign | 0x7e00);
  if (size >= 0x477ff000) // 65520 and up
    return (uint16_t)(sign | 0x7c00);
  if (size < 0x38800000) { // subnormal: an integer multiple of 2^-24
    u.bits = size;
    float shifted = u.value * 0x1p24f;
    uint32_t whole = (uint32_t)shifted;
    float rest = shifted - (float)whole;
    whole += rest > 0.5f || (rest == 0.5f && (whole & 1));
    return (uint16_t)(sign | whole);
  }
  size -= (127 - 15) << 23;
  size += 0xfff + (size >> 13 & 1);
  return (uint16_t)(sign | size >> 13);
}

static uint16_t brain_bits(float x) {
  union {
    float value;
    uint32_t bits;
  } u = {x};
  if (x != x)
    return (uint16_t)(u.bits >> 16 | 0x40);
  return (uint16_t)((u.bits + 0x7fff + (u.bits >> 16 & 1)) >> 16);
}

typedef union {
  uint16_t bits;
  _Float16 half;
  __bf16 brain;
} narrow;

_Float16 __truncsfhf2(float x) { return (narrow){half_bits(x)}.half; }
_Float16 __truncdfhf2(double x) { return (narrow){half_bits(to_odd(x))}.half; }
__bf16 __truncsfbf2(float x) { return (narrow){brain_bits(x)}.brain; }
__bf16 __truncdfbf2(double x) { return (narrow){brain_bits(to_odd(x))}.brain; }

float __extendhfsf2(_Float16 x) {
  narrow u = {.half = x};
  uint32_t sign = (uint32_t)(u.bits & 0x8000) << 16, size = u.bits & 0x7fff;
  union {
    uint32_t bits;
    float value;
  } wide;
  if (size >= 0x7c00) {
    wide.bits = sign | 0x7f800000 | (size & 0x3ff) << 13;
    return wide.value;
  }
  if (size < 0x400) {
    wide.value = (float)size * 0x1p-24f;
    wide.bits |= sign;
    return wide.value;
  }
  wide.bits = sign | ((size << 13) + ((127 - 15) << 23));
  return wide.value;
}

#endif
