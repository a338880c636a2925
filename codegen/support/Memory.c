// Code generation may call these for any copy or fill; a freestanding object
// brings its own. Whole vectors first: LLVM splits them into what the target
// has.
#include <stddef.h>
#include <stdint.h>

typedef uint8_t chunk __attribute__((vector_size(32), aligned(1), may_alias));

void *memcpy(void *restrict target, const void *restrict source, size_t bytes) {
  uint8_t *to = target;
  const uint8_t *from = source;
  for (; bytes >= sizeof(chunk); bytes -= sizeof(chunk)) {
    *(chunk *)to = *(const chunk *)from;
    to += sizeof(chunk);
    from += sizeof(chunk);
  }
  while (bytes--)
    *to++ = *from++;
  return target;
}

void *memset(void *target, int value, size_t bytes) {
  uint8_t *to = target;
  chunk pattern = (chunk){0} + (uint8_t)value;
  for (; bytes >= sizeof(chunk); bytes -= sizeof(chunk)) {
    *(chunk *)to = pattern;
    to += sizeof(chunk);
  }
  while (bytes--)
    *to++ = (uint8_t)value;
  return target;
}

void *memmove(void *target, const void *source, size_t bytes) {
  uint8_t *to = target;
  const uint8_t *from = source;
  if ((uintptr_t)to - (uintptr_t)from >= bytes)
    return memcpy(target, source, bytes);
  for (; bytes >= sizeof(chunk); bytes -= sizeof(chunk))
    *(chunk *)(to + bytes - sizeof(chunk)) =
        *(const chunk *)(from + bytes - sizeof(chunk));
  while (bytes--)
    to[bytes] = from[bytes];
  return target;
}

int memcmp(const void *left, const void *right, size_t bytes) {
  const uint8_t *a = left, *b = right;
  for (; bytes; ++a, ++b, --bytes)
    if (*a != *b)
      return *a - *b;
  return 0;
}

int bcmp(const void *left, const void *right, size_t bytes) {
  return memcmp(left, right, bytes);
}
