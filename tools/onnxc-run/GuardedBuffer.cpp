#include "GuardedBuffer.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace onnxc::run {

constexpr unsigned char pattern = 0xa5;

static uint64_t pageBytes() {
  static const uint64_t page = sysconf(_SC_PAGESIZE);
  return page;
}

static uint64_t roundUp(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}

GuardedBuffer::GuardedBuffer(uint64_t size, uint64_t align) {
  uint64_t page = pageBytes();
  if (size > (uint64_t(1) << 46))
    return;
  uint64_t usable = roundUp(std::max<uint64_t>(size, 1), page);
  void *memory = mmap(nullptr, usable + 2 * page, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return;
  base = static_cast<char *>(memory);
  mapped = usable + 2 * page;
  bytes = size;
  mprotect(base + page, usable, PROT_READ | PROT_WRITE);
  uint64_t slack = (usable - size) / align * align;
  first = base + page + slack;
  std::memset(base + page, pattern, slack);
  std::memset(first + size, pattern, usable - size - slack);
}

GuardedBuffer::~GuardedBuffer() {
  if (base)
    munmap(base, mapped);
}

GuardedBuffer &GuardedBuffer::operator=(GuardedBuffer &&other) noexcept {
  std::swap(base, other.base);
  std::swap(mapped, other.mapped);
  std::swap(first, other.first);
  std::swap(bytes, other.bytes);
  return *this;
}

void GuardedBuffer::makeReadOnly() {
  uint64_t page = pageBytes();
  mprotect(base + page, mapped - 2 * page, PROT_READ);
}

bool GuardedBuffer::isIntact() const {
  uint64_t page = pageBytes();
  auto untouched = [](const char *begin, const char *end) {
    return std::all_of(begin, end,
                       [](char byte) { return byte == char(pattern); });
  };
  return untouched(base + page, first) &&
         untouched(first + bytes, base + mapped - page);
}

} // namespace onnxc::run
