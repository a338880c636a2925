// Floating point by the names of the run-time ABI of 32-bit ARM, for cores that
// compute single precision only, or none. Its arguments are in integer
// registers even where C passes floating point in others; hence bits here.
#include "codegen/support/Real.h"

#define REAL(x, bits, format)                                                  \
  bits __aeabi_##x##add(bits a, bits b) {                                      \
    return (bits)pack(sum(unpack(a, format), unpack(b, format)), format);      \
  }                                                                            \
  bits __aeabi_##x##sub(bits a, bits b) {                                      \
    return __aeabi_##x##add(a, b ^ (bits)1 << (sizeof b * 8 - 1));             \
  }                                                                            \
  bits __aeabi_##x##mul(bits a, bits b) {                                      \
    return (bits)pack(product(unpack(a, format), unpack(b, format)), format);  \
  }                                                                            \
  bits __aeabi_##x##div(bits a, bits b) {                                      \
    return (bits)pack(quotient(unpack(a, format), unpack(b, format)), format); \
  }                                                                            \
  int __aeabi_##x##cmpeq(bits a, bits b) {                                     \
    return compare(a, b, format) == EQUAL;                                     \
  }                                                                            \
  int __aeabi_##x##cmplt(bits a, bits b) {                                     \
    return compare(a, b, format) == LESS;                                      \
  }                                                                            \
  int __aeabi_##x##cmple(bits a, bits b) {                                     \
    return compare(a, b, format) <= EQUAL;                                     \
  }                                                                            \
  int __aeabi_##x##cmpgt(bits a, bits b) {                                     \
    return compare(b, a, format) == LESS;                                      \
  }                                                                            \
  int __aeabi_##x##cmpge(bits a, bits b) {                                     \
    return compare(b, a, format) <= EQUAL;                                     \
  }                                                                            \
  int __aeabi_##x##cmpun(bits a, bits b) {                                     \
    return compare(a, b, format) == UNORDERED;                                 \
  }                                                                            \
  int32_t __aeabi_##x##2iz(bits a) {                                           \
    return (int32_t)to_signed(unpack(a, format), 32);                          \
  }                                                                            \
  uint32_t __aeabi_##x##2uiz(bits a) {                                         \
    return (uint32_t)to_unsigned(unpack(a, format), 32);                       \
  }                                                                            \
  int64_t __aeabi_##x##2lz(bits a) {                                           \
    return to_signed(unpack(a, format), 64);                                   \
  }                                                                            \
  uint64_t __aeabi_##x##2ulz(bits a) {                                         \
    return to_unsigned(unpack(a, format), 64);                                 \
  }                                                                            \
  bits __aeabi_i2##x(int32_t a) { return (bits)pack(from_signed(a), format); } \
  bits __aeabi_ui2##x(uint32_t a) {                                            \
    return (bits)pack(from_unsigned(a), format);                               \
  }                                                                            \
  bits __aeabi_l2##x(int64_t a) { return (bits)pack(from_signed(a), format); } \
  bits __aeabi_ul2##x(uint64_t a) {                                            \
    return (bits)pack(from_unsigned(a), format);                               \
  }
REAL(f, uint32_t, binary32)
REAL(d, uint64_t, binary64)

uint64_t __aeabi_f2d(uint32_t a) { return pack(unpack(a, binary32), binary64); }
uint32_t __aeabi_d2f(uint64_t a) {
  return (uint32_t)pack(unpack(a, binary64), binary32);
}
uint32_t __aeabi_h2f(uint32_t a) {
  return (uint32_t)pack(unpack(a, binary16), binary32);
}
uint32_t __aeabi_f2h(uint32_t a) {
  return (uint32_t)pack(unpack(a, binary32), binary16);
}
uint32_t __aeabi_d2h(uint64_t a) {
  return (uint32_t)pack(unpack(a, binary64), binary16);
}

// C's own functions take floating point as C does.
double sqrt(double x) {
  union {
    double value;
    uint64_t bits;
  } u = {x};
  u.bits = pack(square_root(unpack(u.bits, binary64)), binary64);
  return u.value;
}

float sqrtf(float x) {
  union {
    float value;
    uint32_t bits;
  } u = {x};
  u.bits = (uint32_t)pack(square_root(unpack(u.bits, binary32)), binary32);
  return u.value;
}
