// The run-time ABI of 32-bit ARM has names of its own for copies and fills, and
// another order of arguments. The digits are the alignment that is promised.
#include <stddef.h>

#if __SIZEOF_POINTER__ == 4

void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);

#define FORMS(align)                                                           \
  void __aeabi_memcpy##align(void *to, const void *from, size_t bytes) {       \
    memcpy(to, from, bytes);                                                   \
  }                                                                            \
  void __aeabi_memmove##align(void *to, const void *from, size_t bytes) {      \
    memmove(to, from, bytes);                                                  \
  }                                                                            \
  void __aeabi_memset##align(void *to, size_t bytes, int value) {              \
    memset(to, value, bytes);                                                  \
  }                                                                            \
  void __aeabi_memclr##align(void *to, size_t bytes) { memset(to, 0, bytes); }
FORMS()
FORMS(4)
FORMS(8)

#endif
