#include "compiler/report/Warmth.h"
#include <iterator>

namespace onnxc {

// A span that `offset` lies in becomes two.
void Warmth::splitAt(int64_t offset) {
  auto next = spans.upper_bound(offset);
  if (next == spans.begin())
    return;
  auto &[start, span] = *std::prev(next);
  if (start == offset || span.end <= offset)
    return;
  spans[offset] = span;
  span.end = offset;
}

int64_t Warmth::touch(int64_t offset, int64_t bytes) {
  if (bytes <= 0)
    return 0;
  int64_t end = offset + bytes, warm = 0;
  splitAt(offset);
  splitAt(end);
  auto first = spans.lower_bound(offset), last = spans.lower_bound(end);
  for (auto it = first; it != last; ++it)
    if (moved - it->second.touched <= cacheBytes)
      warm += it->second.end - it->first;
  spans.erase(first, last);
  spans[offset] = {end, moved};
  return warm;
}

} // namespace onnxc
