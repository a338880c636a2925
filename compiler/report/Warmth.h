// How much of the arena a cache still holds when regions come back to it.
#pragma once
#include <cstdint>
#include <map>

namespace onnxc {

// Follows the arena through the regions in order. Bytes are warm if no more
// than `cacheBytes` were moved since they were last touched, all memory
// counted: at least as far apart as their reuse distance (Mattson et al. 1970).
class Warmth {
public:
  explicit Warmth(int64_t cacheBytes) : cacheBytes(cacheBytes) {}

  // Touches a place and returns how many of its bytes are warm. What one region
  // touches before `pass` is touched at once.
  int64_t touch(int64_t offset, int64_t bytes);
  // All that the region moved.
  void pass(int64_t bytes) { moved += bytes; }

private:
  struct Span {
    int64_t end, touched; // `moved` of the time
  };
  void splitAt(int64_t offset);

  int64_t cacheBytes, moved = 0;
  std::map<int64_t, Span> spans; // by their start, without overlap
};

} // namespace onnxc
