// Division of 64 bits by the names of the run-time ABI of 32-bit ARM. Quotient
// and remainder come back in four registers, as a vector does.
#include <stdint.h>

typedef uint64_t division __attribute__((vector_size(16)));

division __aeabi_uldivmod(uint64_t a, uint64_t b) {
  if ((a | b) >> 32 == 0 && b != 0) {
    uint32_t quotient = (uint32_t)a / (uint32_t)b;
    return (division){quotient, (uint32_t)a - quotient * (uint32_t)b};
  }
  uint64_t quotient = 0;
  if (b == 0 || a < b)
    return (division){0, a};
  for (int i = __builtin_clzll(b) - __builtin_clzll(a); i >= 0; --i)
    if (a >= b << i) {
      a -= b << i;
      quotient |= 1ull << i;
    }
  return (division){quotient, a};
}

// The remainder has the sign of the dividend.
division __aeabi_ldivmod(int64_t a, int64_t b) {
  uint64_t x = a < 0 ? -(uint64_t)a : (uint64_t)a;
  uint64_t y = b < 0 ? -(uint64_t)b : (uint64_t)b;
  division size = __aeabi_uldivmod(x, y);
  uint64_t quotient = (a < 0) != (b < 0) ? -size[0] : size[0];
  return (division){quotient, a < 0 ? -size[1] : size[1]};
}
