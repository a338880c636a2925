// Memory that shows every access outside of its bounds: it ends at an
// unreadable page and begins behind one; the bytes in between that it does not
// use hold a pattern.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace onnxc::run {

class GuardedBuffer {
public:
  // `bytes` bytes; the address is as aligned as `align` and the end is as close
  // to the page as that allows. Empty where there is no memory.
  GuardedBuffer(uint64_t bytes, uint64_t align);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer &&other) noexcept { *this = std::move(other); }
  GuardedBuffer &operator=(GuardedBuffer &&other) noexcept;

  explicit operator bool() const { return base != nullptr; }
  char *data() const { return first; }
  uint64_t size() const { return bytes; }

  void makeReadOnly();
  // Whether the pattern around the bytes is as it was.
  bool isIntact() const;

private:
  char *base = nullptr; // of the mapping, guard pages included
  uint64_t mapped = 0;
  char *first = nullptr;
  uint64_t bytes = 0;
};

} // namespace onnxc::run
